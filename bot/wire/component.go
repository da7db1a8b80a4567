package wire

import "blockworld/worldstate/registry"

// Component is one component of a stack, raw.
type Component struct {
	Type  int32 // as numbered by the version
	Value []byte
}

// skipComponent passes over one component of a stack: its type and its value. One of an unknown type hides the rest.
func (io *IO) skipComponent() {
	var t int32
	io.VarInt(&t)
	if !io.ok() {
		return
	}
	s := schemaOf(io.p)
	if s == nil || t < 0 || int(t) >= len(s.components) {
		io.Fail(errTruncated)
		return
	}
	io.skipNode(s, s.components[t])
}

// Split takes a stack's components apart: those added to its item's own and the types of those removed. The values are
// parts of Components. ok is false when the stack is not wholly known. Not for stacks of SetCreativeModeSlot with feature
// UntrustedSlots.
func (s *ItemStack) Split(p registry.Protocol) (added []Component, removed []int32, ok bool) {
	if s.Form != StackWhole || len(s.Components) == 0 {
		return nil, nil, s.Form == StackWhole
	}
	io := IO{buf: s.Components, p: p, reading: true, keep: true}
	var a, r int32
	io.VarInt(&a)
	io.VarInt(&r)
	for ; a > 0 && io.ok(); a-- {
		start := io.off
		io.skipComponent()
		if io.ok() {
			t, n := varint(io.buf[start:])
			added = append(added, Component{Type: t, Value: io.buf[start+n : io.off]})
		}
	}
	for ; r > 0 && io.ok(); r-- {
		var t int32
		io.VarInt(&t)
		removed = append(removed, t)
	}
	return added, removed, io.ok()
}
