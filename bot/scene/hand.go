package scene

import (
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// Plain says whether a slot holds the item, known and without data of its own.
func Plain(s worldstate.Slot, item registry.ItemID) bool {
	return s.Known && !s.Stack.Empty() && s.Stack.Item == item && s.Stack.Plain == worldstate.PlainYes
}

// Hotbar returns the first hotbar slot that holds the item plain, false if none does.
func Hotbar(inv *worldstate.Inventory, item registry.ItemID) (int8, bool) {
	for i := range int8(9) {
		if Plain(inv.Slots[worldstate.SlotHotbar+int(i)], item) {
			return i, true
		}
	}
	return 0, false
}

// Main returns the first slot of the main inventory (9..35 of window 0) that holds the item plain, false if none does.
func Main(inv *worldstate.Inventory, item registry.ItemID) (int16, bool) {
	for i := worldstate.SlotMain; i < worldstate.SlotHotbar; i++ {
		if Plain(inv.Slots[i], item) {
			return int16(i), true
		}
	}
	return 0, false
}

// Empty returns the first hotbar slot known to be empty, else the given one.
func Empty(inv *worldstate.Inventory, otherwise int8) int8 {
	for i := range int8(9) {
		if s := inv.Slots[worldstate.SlotHotbar+int(i)]; s.Known && s.Stack.Empty() {
			return i
		}
	}
	return otherwise
}
