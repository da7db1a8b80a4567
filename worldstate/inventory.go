package worldstate

// InventorySlots is the number of slots of window 0: 0 crafting result, 1..4 crafting grid, 5..8 armour (head first),
// 9..35 main, 36..44 hotbar, 45 off hand.
const InventorySlots = 46

// First slots of the parts of window 0.
const (
	SlotMain    = 9
	SlotHotbar  = 36
	SlotOffHand = 45
)

// Inventory is the player's own inventory as the server last told it. Before the first whole content (Known false) only
// those slots are known that the server has told one by one; some servers never tell the whole. Later, too, a single slot
// may be unknown.
type Inventory struct {
	Known    bool
	StateID  int32
	Held     int8 // hotbar slot 0..8 by the server's word, -1 unknown
	HeldSeen Sequence
	Slots    [InventorySlots]Slot
	Seen     [InventorySlots]Sequence // when each slot was last told
	Snapshot Sequence                 // when the whole content was last told
	Carried  Slot                     // on the cursor
}

// Hand returns the slot of the main hand; unknown if the held slot or the inventory is.
func (i Inventory) Hand() Slot {
	if !i.Known || i.Held < 0 || i.Held > 8 {
		return Slot{}
	}
	return i.Slots[SlotHotbar+int(i.Held)]
}

// OpenWindow is the window that the server opened last, if it is still open.
type OpenWindow struct {
	Open  bool
	ID    int32
	Title Untrusted
	size  int // slots of the window with the player's behind them; 0 not known yet
}

func (m *Mirror) applyInventory(ev Event) {
	inv := &m.inventory
	switch ev := ev.(type) {
	case ContainerContent:
		m.containerContent(ev)
	case ContainerSlot:
		m.containerSlot(ev)
	case InventorySlot:
		m.setSlot(windowSlot(ev.Slot), ev.Content)
	case CursorItem:
		inv.Carried = ev.Content
	case HeldSlot:
		inv.Held = -1
		if ev.Slot >= 0 && ev.Slot <= 8 {
			inv.Held = int8(ev.Slot)
		}
		inv.HeldSeen = m.seq + 1
	case WindowOpened:
		if ev.Window == 0 {
			break // the player's inventory, which is always there: nothing opens and nothing would close it
		}
		m.window = OpenWindow{Open: true, ID: ev.Window, Title: ev.Title}
	case WindowClosed:
		m.window = OpenWindow{}
	}
}

// playerPart is the number of the player's own slots at the end of every other window: main and hotbar.
const playerPart = 36

func (m *Mirror) containerContent(ev ContainerContent) {
	inv := &m.inventory
	if ev.Window != 0 {
		first := len(ev.Slots) - playerPart
		if first < 0 || !m.window.Open || ev.Window != m.window.ID {
			return
		}
		m.window.size = len(ev.Slots)
		for i, s := range ev.Slots[first:] {
			m.setSlot(SlotMain+i, s)
		}
		inv.Carried = ev.Carried
		return
	}
	inv.Known, inv.StateID, inv.Carried, inv.Snapshot = true, ev.StateID, ev.Carried, m.seq+1
	for i := range inv.Slots {
		var s Slot // a slot that is not listed is unknown
		if i < len(ev.Slots) {
			s = ev.Slots[i]
		}
		m.setSlot(i, s)
	}
}

func (m *Mirror) containerSlot(ev ContainerSlot) {
	inv := &m.inventory
	switch {
	case ev.Window == -1:
		inv.Carried = ev.Content
	case ev.Window == -2:
		m.setSlot(windowSlot(int32(ev.Slot)), ev.Content)
	case ev.Window == 0:
		inv.StateID = ev.StateID
		m.setSlot(int(ev.Slot), ev.Content)
	case m.window.Open && ev.Window == m.window.ID:
		if m.window.size == 0 { // which slot this is depends on a size that is not known: it may be any
			inv.Known, inv.Slots = false, [InventorySlots]Slot{}
			return
		}
		if i := int(ev.Slot) - (m.window.size - playerPart); i >= 0 && i < playerPart {
			m.setSlot(SlotMain+i, ev.Content)
		}
	}
}

// setSlot keeps a slot of window 0; other numbers are ignored.
func (m *Mirror) setSlot(i int, s Slot) {
	if i < 0 || i >= InventorySlots {
		return
	}
	if !s.Known {
		s.Stack = ItemStack{}
	}
	m.inventory.Slots[i], m.inventory.Seen[i] = s, m.seq+1
}

// windowSlot turns an inventory index (0..8 hotbar, 9..35 main, 36..39 armour from the feet, 40 off hand) into a slot of
// window 0; -1 for others.
func windowSlot(i int32) int {
	switch {
	case i >= 0 && i <= 8:
		return SlotHotbar + int(i)
	case i >= 9 && i <= 35:
		return int(i)
	case i >= 36 && i <= 39:
		return 8 - int(i-36)
	case i == 40:
		return SlotOffHand
	}
	return -1
}
