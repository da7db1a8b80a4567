// Package scene reads a view for the guard: what stands where a use would go, who is in the way, which slot holds what.
//
// In: a view of the mirror, the tables of its version, a use. Out: the answers in the guard's own words. Everything here is
// pure, and what the server did not say comes out as the answer that denies.
package scene
