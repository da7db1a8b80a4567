package registry

import "strings"

// rename is one block name that changed: files before data version since say old, later ones say new.
type rename struct {
	since    int32
	old, new string
}

// renames are the changes of names since 1.13 that comparing minecraft-data's versions tells: the old name ends where the
// new one begins, with the same states. A block whose properties changed with its name is not here: it is refused
// by name rather than guessed.
var renames = []rename{
	{1952, "sign", "oak_sign"}, // 1.14
	{1952, "wall_sign", "oak_wall_sign"},
	{2724, "grass_path", "dirt_path"}, // 1.17
	{3698, "grass", "short_grass"},    // 1.20.3
	{4554, "chain", "iron_chain"},     // 1.21.9
}

// RenameFrom returns the name that a block of a file with this data version has in r's version: files that are older
// than a change of name get the new one, newer files than r's version the old one. False means that no change of name
// applies, and the name comes back as it was (with its namespace).
func (r *Registry) RenameFrom(dataVersion int32, name string) (string, bool) {
	mine := r.protocol.Versions()[0].DataVersion
	short, ok := strings.CutPrefix(full(name), namespace)
	if !ok {
		return name, false
	}
	changed := false
	for _, c := range renames {
		if dataVersion < c.since && c.since <= mine && short == c.old {
			short, changed = c.new, true
		}
	}
	for i := len(renames) - 1; i >= 0; i-- {
		if c := renames[i]; mine < c.since && c.since <= dataVersion && short == c.new {
			short, changed = c.old, true
		}
	}
	return namespace + short, changed
}
