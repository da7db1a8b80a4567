package blueprint

import (
	"fmt"

	"blockworld/effects/placement"
	"blockworld/worldstate/registry"
)

// resolved is a palette entry in one protocol.
type resolved struct {
	state registry.StateID
	err   error    // ErrUnknown with the name
	notes []string // properties that neighbours decide and that the version writes otherwise
	skip  bool     // air or void
}

// Resolve finds a state of the file's data version in a protocol: a changed name is mapped where the registry tells.
// Properties that neighbours or time decide anyhow may be written otherwise; anything else unknown is ErrUnknown with
// the name.
func Resolve(reg *registry.Registry, dataVersion int32, s State) (registry.StateID, error) {
	r := resolve(reg, dataVersion, s)
	return r.state, r.err
}

func resolve(reg *registry.Registry, dataVersion int32, s State) resolved {
	if s.Air() || s.Void() {
		return resolved{skip: true}
	}
	b, ok := reg.Block(s.Name)
	if !ok {
		name, changed := reg.RenameFrom(dataVersion, s.Name)
		if b, ok = reg.Block(name); !changed || !ok {
			return resolved{err: fmt.Errorf("%w: %s does not exist in %s", ErrUnknown, s.Name, reg.Protocol())}
		}
	}
	out := resolved{state: b.Default}
	for _, p := range s.Props {
		next, ok := reg.With(out.state, p.Name, p.Value)
		if ok {
			out.state = next
			continue
		}
		switch placement.ClassOf(b.Name, p.Name) {
		case placement.Follows, placement.Undecided:
			out.notes = append(out.notes, p.Name+"="+p.Value)
		default:
			out.err = fmt.Errorf("%w: %s has no %s=%s in %s", ErrUnknown, b.Name, p.Name, p.Value, reg.Protocol())
			return out
		}
	}
	return out
}
