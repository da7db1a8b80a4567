// Package picture draws blocks as an isometric image: cells in, image out, nothing else.
//
// Shapes are the registry's collision boxes (with a few drawn ones for what has none: torches, flowers, rails), colours
// come from a table of materials and dyes, light from a sun that casts shadows. Glass and water are blended over the
// rest from back to front. The same cells give the same picture.
package picture
