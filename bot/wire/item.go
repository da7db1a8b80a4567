package wire

import (
	"fmt"

	"blockworld/worldstate/registry"
)

// ItemStack is a stack of one item as it stands on the wire. The zero value is the empty stack.
type ItemStack struct {
	Count int32
	Item  registry.ItemID
	Form  StackForm

	// NBT is the stack's data up to 1.20.4.
	NBT NBT
	// Components is the stack's data from 1.20.5 on, raw: counts of added and removed components, then these. Empty
	// for a plain stack. With StackHead it is everything up to the end of the packet.
	Components []byte
}

// StackForm says how much of a stack is known.
type StackForm uint8

// The forms.
const (
	StackWhole StackForm = iota // everything
	StackHead                   // item and count; its data has a component that this program does not know
	StackLost                   // nothing: it stands behind such a stack in the same packet
)

// Plain tells whether the stack is wholly known and carries no data.
func (s *ItemStack) Plain() bool {
	return s.Form == StackWhole && len(s.NBT) == 0 && len(s.Components) == 0
}

// ItemStack is a stack in the form of the version being spoken, as the server sends it.
func (io *IO) ItemStack(s *ItemStack) {
	switch {
	case !io.Has(ItemComponents):
		io.nbtStack(s)
	case io.reading:
		io.readStack(s, (*IO).skipComponent)
	default:
		io.writeStack(s)
	}
}

// UntrustedStack is a stack as a client in creative mode sends it: its components have lengths from 1.21.5 on, so its raw
// Components are not those of ItemStack.
func (io *IO) UntrustedStack(s *ItemStack) {
	if io.reading && io.Has(UntrustedSlots) {
		io.readStack(s, (*IO).skipSized)
		return
	}
	io.ItemStack(s)
}

func (io *IO) nbtStack(s *ItemStack) {
	if io.reading && io.err != nil {
		return
	}
	present := s.Count > 0
	if !io.Flag(&present) {
		return
	}
	io.VarInt((*int32)(&s.Item))
	count := int8(s.Count)
	if !io.reading && int32(count) != s.Count {
		io.Fail(fmt.Errorf("%w: stack of %d, at most 127 in this version", ErrTooLong, s.Count))
	}
	io.Int8(&count)
	s.Count = int32(count)
	io.NBT(&s.NBT)
}

func (io *IO) readStack(s *ItemStack, skip func(*IO)) {
	var count int32
	io.VarInt(&count)
	if io.err != nil || count <= 0 { // the game, too, takes a negative count for the empty stack
		return
	}
	io.VarInt((*int32)(&s.Item))
	s.Count = count
	start := io.off
	plain := io.skipComponents(skip)
	switch {
	case io.truncated():
		s.Form = StackHead
		s.Components = io.own(io.buf[start:])
	case io.ok() && !plain:
		s.Components = io.own(io.buf[start:io.off:io.off])
	}
}

// skipComponents passes over the added and removed components of a stack and tells whether there were none.
func (io *IO) skipComponents(skip func(*IO)) (plain bool) {
	var added, removed int32
	io.VarInt(&added)
	io.VarInt(&removed)
	if io.err != nil || added == 0 && removed == 0 {
		return true
	}
	if added < 0 || removed < 0 || int64(added)+int64(removed) > int64(io.remaining()) {
		io.Fail(ErrShort)
		return false
	}
	if io.depth++; io.depth > maxDepth {
		io.Fail(fmt.Errorf("%w: item stacks nested deeper than %d", ErrTooLong, maxDepth))
	}
	for ; added > 0 && io.ok(); added-- {
		skip(io)
	}
	for ; removed > 0 && io.ok(); removed-- {
		var t int32
		io.VarInt(&t)
	}
	io.depth--
	return false
}

// skipSized passes over a component with a length.
func (io *IO) skipSized() {
	var t int32
	io.VarInt(&t)
	io.take(io.length(MaxInflated))
}

func (io *IO) writeStack(s *ItemStack) {
	if s.Count <= 0 {
		zero := int32(0)
		io.VarInt(&zero)
		return
	}
	io.VarInt(&s.Count)
	io.VarInt((*int32)(&s.Item))
	if len(s.Components) == 0 {
		zero := int32(0)
		io.VarInt(&zero)
		io.VarInt(&zero)
		return
	}
	io.noteBytes(leafRaw, s.Components)
	io.put(s.Components...)
	if s.Form == StackHead {
		io.Fail(errTruncated)
	}
}

// stacks is a list of stacks; behind one that is not wholly known they are lost.
func (io *IO) stacks(v *[]ItemStack) {
	if !io.reading {
		List(io, v, 1, (*IO).ItemStack)
		return
	}
	n := io.count(1)
	if n == 0 {
		return
	}
	out := make([]ItemStack, 0, min(n, firstAlloc))
	for i := 0; i < n && (io.ok() || io.truncated()); i++ {
		out = append(out, ItemStack{})
		io.stackOrLost(&out[i])
	}
	*v = out
}

// stackOrLost is a stack that may stand behind one that is not wholly known.
func (io *IO) stackOrLost(s *ItemStack) {
	if io.reading && io.truncated() {
		s.Form = StackLost
		return
	}
	io.ItemStack(s)
}
