package registry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What a block state in words can be wrong about. Both are wrapped with the name and what would be valid.
var (
	ErrUnknownBlock    = errors.New("unknown block")
	ErrUnknownProperty = errors.New("unknown block property or value")
)

// full adds the namespace that people leave out.
func full(name string) string {
	if strings.IndexByte(name, ':') >= 0 {
		return name
	}
	return namespace + name
}

// property finds a property of a block and its stride: how far apart in state ids two neighbouring values are.
func (b *Block) property(name string) (p *Property, stride int) {
	stride = 1
	for i := len(b.Props) - 1; i >= 0; i-- {
		if b.Props[i].Name == name {
			return &b.Props[i], stride
		}
		stride *= len(b.Props[i].Values)
	}
	return nil, 0
}

// HasProp tells whether the block has a property of this name.
func (b *Block) HasProp(name string) bool {
	p, _ := b.property(name)
	return p != nil
}

// Prop returns the value of one property of a state; false if its block has no such property.
func (r *Registry) Prop(s StateID, name string) (string, bool) {
	b := r.BlockOf(s)
	if b == nil {
		return "", false
	}
	p, stride := b.property(name)
	if p == nil {
		return "", false
	}
	return p.Values[int(s-b.Min)/stride%len(p.Values)], true
}

// With returns the state that differs from s in one property only; false if that property or value does not exist.
func (r *Registry) With(s StateID, name, value string) (StateID, bool) {
	b := r.BlockOf(s)
	if b == nil {
		return s, false
	}
	p, stride := b.property(name)
	if p == nil {
		return s, false
	}
	i := slices.Index(p.Values, value)
	if i < 0 {
		return s, false
	}
	old := int(s-b.Min) / stride % len(p.Values)
	return StateID(int(s) + (i-old)*stride), true
}

// Props returns all properties of a state in a fresh map, empty if there are none.
func (r *Registry) Props(s StateID) map[string]string {
	out := map[string]string{}
	b := r.BlockOf(s)
	if b == nil {
		return out
	}
	n := int(s - b.Min)
	for i := len(b.Props) - 1; i >= 0; i-- {
		p := &b.Props[i]
		out[p.Name] = p.Values[n%len(p.Values)]
		n /= len(p.Values)
	}
	return out
}

// State returns the state of b with these properties; those not named have the default's values. A property or value
// that the block does not have gives ErrUnknownProperty.
func (r *Registry) State(b *Block, props map[string]string) (StateID, error) {
	s := b.Default
	for name, value := range props {
		var err error
		if s, err = r.set(b, s, name, value); err != nil {
			return 0, err
		}
	}
	return s, nil
}

func (r *Registry) set(b *Block, s StateID, name, value string) (StateID, error) {
	next, ok := r.With(s, name, value)
	if ok {
		return next, nil
	}
	if p, _ := b.property(name); p != nil {
		return 0, fmt.Errorf("%w: %s[%s=%s] in %s: %s may be %s", ErrUnknownProperty, b.Name, name, value, r.protocol, name, strings.Join(p.Values, ", "))
	}
	return 0, fmt.Errorf("%w: %s has no property %q in %s", ErrUnknownProperty, b.Name, name, r.protocol)
}

// ParseState reads a state as people and schematics write it: "minecraft:oak_stairs[facing=north,half=top]". The prefix
// may be left out, so may properties, which then have the default's values. Errors: ErrUnknownBlock, ErrUnknownProperty.
func (r *Registry) ParseState(text string) (StateID, error) {
	name, list, braced := strings.Cut(strings.TrimSpace(text), "[")
	b, ok := r.Block(name)
	if !ok {
		return 0, fmt.Errorf("%w %s in %s", ErrUnknownBlock, strconv.Quote(clip(name)), r.protocol)
	}
	s := b.Default
	if !braced {
		return s, nil
	}
	list, closed := strings.CutSuffix(list, "]")
	if !closed {
		return 0, fmt.Errorf("%w: %s: the list of properties has no closing bracket", ErrUnknownProperty, strconv.Quote(clip(text)))
	}
	if list == "" {
		return s, nil
	}
	for pair := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return 0, fmt.Errorf("%w: %s: %q is not name=value", ErrUnknownProperty, b.Name, clip(pair))
		}
		var err error
		if s, err = r.set(b, s, clip(strings.TrimSpace(key)), clip(strings.TrimSpace(value))); err != nil {
			return 0, err
		}
	}
	return s, nil
}

// clip keeps a foreign text short enough for an error message.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// FormatState writes a state in full, properties sorted by name: "minecraft:oak_log[axis=y]". An id out of range gives
// "minecraft:unknown[n]". ParseState reads it back.
func (r *Registry) FormatState(s StateID) string {
	b := r.BlockOf(s)
	if b == nil {
		return namespace + "unknown[" + strconv.Itoa(int(s)) + "]"
	}
	if len(b.Props) == 0 {
		return b.Name
	}
	pairs := make([]string, len(b.Props))
	n := int(s - b.Min)
	for i := len(b.Props) - 1; i >= 0; i-- {
		p := &b.Props[i]
		pairs[i] = p.Name + "=" + p.Values[n%len(p.Values)]
		n /= len(p.Values)
	}
	slices.Sort(pairs)
	return b.Name + "[" + strings.Join(pairs, ",") + "]"
}
