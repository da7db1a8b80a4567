// Package profile reads and writes server profiles: what one server can prove, and so what may be asked of it.
//
// What flows in: a YAML file that probe wrote and a person may have edited, below DATA/profiles. What flows out: the set
// of offered capabilities, the least and the reachable grade of each effect, the pace, and a digest that stands for the
// policy generation.
//
// Invariants:
//   - an effect that the file does not offer is not offered; the empty profile offers reads only;
//   - an unknown key, a doubled key or a value outside its set is an error that names line and column;
//   - a file is replaced whole or not at all, and only its owner can read it.
package profile
