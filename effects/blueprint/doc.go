// Package blueprint turns schematic files into ordered steps.
//
// In flow files: Sponge .schem (versions 1 to 3), Litematica .litematic (4 to 7), vanilla structure .nbt. Read gives a
// Blueprint: a box of states in words, independent of any protocol, with what was left out counted. Transform mirrors
// and turns it. MakePlan resolves it for one protocol, works out the clicks with effects/placement and orders them so
// that every step's support and clicked face exist before it and somebody can stand where it is made from.
//
// Invariants: nothing foreign is allocated before it is bounded; an error wraps one of this package's sentinels and
// names the file, the place in it and what is wrong. A plan's steps, predicted in order, give exactly its final cells
// (under the masks); what cannot be placed or reached is listed with its reason, never dropped.
package blueprint
