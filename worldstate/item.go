package worldstate

import "blockworld/worldstate/registry"

// Slot is what the mirror knows of one inventory slot. The zero value is unknown, never empty.
type Slot struct {
	Known bool
	Stack ItemStack // meaningful only when Known
}

// ItemStack is a stack of one item. Count 0 is the empty stack.
type ItemStack struct {
	Item  registry.ItemID
	Count int32
	Plain Plainness
}

// Empty tells whether the stack holds nothing.
func (s ItemStack) Empty() bool { return s.Count <= 0 }

// Plainness says whether a stack carries data (components, NBT) that could make it place something else than its
// item does. The zero value is unknown and is never trusted as plain.
type Plainness uint8

// The three answers.
const (
	PlainUnknown Plainness = iota
	PlainYes
	PlainNo
)
