// Package registry holds what never changes within one protocol version: blocks and their states, properties, hardness
// and collision shapes; items and stack sizes; entity types and sizes; ids of statistics.
//
// In flows a protocol number, out flows an immutable *Registry, shared by everybody and safe for concurrent use. The
// facts come from the npm package minecraft-data (MIT), de-duplicated over all versions into zz_tables.bin by the
// program in gen (make generate). Whatever is derived from them says so: support faces from collision shapes and the
// few blocks that the game excepts, the replaceable tag, fluids, names of older versions.
//
// Names are full ("minecraft:stone"); a StateID or ItemID means nothing without its protocol.
package registry
