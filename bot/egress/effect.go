package egress

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// handle is what an opened effect holds: it writes only in the epoch it was opened in and until it is done.
type handle struct {
	w     *Writer
	kind  Kind
	epoch uint64
	done  bool
}

// open turns the journal's permit into a handle. The permit can be opened once; after an error here nothing was sent.
func (w *Writer) open(k Kind, p Permit) (handle, error) {
	if w.closed || !w.world {
		return handle{}, ErrEnded
	}
	if err := p.Open(); err != nil {
		return handle{}, fmt.Errorf("%s: %w", k, err)
	}
	return handle{w: w, kind: k, epoch: w.epoch}, nil
}

func (h *handle) live() error {
	if h.done || h.w == nil || h.w.closed || h.epoch != h.w.epoch {
		return ErrEnded
	}
	return nil
}

func (h *handle) write(p wire.Packet) error {
	if err := h.live(); err != nil {
		return err
	}
	return h.w.write(h.kind, p)
}

// Live says whether the handle can still write.
func (h *handle) Live() bool { return h.live() == nil }

// Done ends the effect; the handle writes nothing from here on.
func (h *handle) Done() { h.done = true }

// Walking is an opened move_to: any number of ticks of movement under one admission.
type Walking struct{ handle }

// OpenMove opens a move_to.
func (w *Writer) OpenMove(p Permit) (*Walking, error) {
	h, err := w.open(Move, p)
	if err != nil {
		return nil, err
	}
	return &Walking{h}, nil
}

// Tick sends one tick of the walk: keys and posture where they changed, then the movement packet.
func (k *Walking) Tick(keys wire.Keys, m Motion) error {
	if err := k.live(); err != nil {
		return err
	}
	if !m.finite() {
		return ErrNotFinite
	}
	if k.w.moved {
		return ErrTickSpent
	}
	if err := k.w.posture(k.kind, keys); err != nil {
		return err
	}
	return k.w.tick(k.kind, m)
}

// Fly tells the server that we started or stopped creative flight.
func (k *Walking) Fly(on bool) error {
	var flags uint8
	if on {
		flags = wire.AbilityFlying
	}
	return k.write(&wire.PlayerAbilitiesServerbound{Flags: flags})
}

// Release lets go of all keys.
func (k *Walking) Release() error {
	if err := k.live(); err != nil {
		return err
	}
	return k.w.posture(k.kind, 0)
}

// posture sends sneak, sprint and input keys where they differ from what the server was told.
func (w *Writer) posture(k Kind, keys wire.Keys) error {
	if !wire.Has(w.protocol, wire.PlayerInputSneak) {
		if err := w.sneak(k, keys&wire.KeySneak != 0); err != nil {
			return err
		}
	}
	if sprint := keys&wire.KeySprint != 0; sprint != w.sprint {
		w.sprint = sprint
		action := wire.StopSprinting
		if sprint {
			action = wire.StartSprinting
		}
		if err := w.write(k, &wire.PlayerCommand{EntityID: w.entity, Action: action}); err != nil {
			return err
		}
	}
	w.sneaking = keys&wire.KeySneak != 0
	return w.keys(k, keys)
}

// sneak tells the server about the sneak key if it changed: by player_command in the older versions, by the input keys
// in the newer ones.
func (w *Writer) sneak(k Kind, on bool) error {
	if on == w.sneaking {
		return nil
	}
	w.sneaking = on
	if wire.Has(w.protocol, wire.PlayerInputSneak) {
		keys := w.input &^ wire.KeySneak
		if on {
			keys |= wire.KeySneak
		}
		return w.keys(k, keys)
	}
	action := wire.StopSneaking
	if on {
		action = wire.StartSneaking
	}
	return w.write(k, &wire.PlayerCommand{EntityID: w.entity, Action: action})
}

// keys tells the keys held if they changed and the version has a packet for them.
func (w *Writer) keys(k Kind, keys wire.Keys) error {
	if keys == w.input || !wire.Has(w.protocol, wire.PlayerInputExists) {
		return nil
	}
	w.input = keys
	return w.write(k, &wire.PlayerInput{Keys: keys})
}

// Turning is an opened look_at.
type Turning struct{ handle }

// OpenLook opens a look_at.
func (w *Writer) OpenLook(p Permit) (*Turning, error) {
	h, err := w.open(Look, p)
	if err != nil {
		return nil, err
	}
	return &Turning{h}, nil
}

// Turn sends the rotation; it is the tick's movement packet.
func (t *Turning) Turn(r geom.Rotation) error {
	if err := t.live(); err != nil {
		return err
	}
	return t.w.turn(t.kind, r)
}

// Placing is an opened place_block: the look, the sneak and the held slot that the placement needs, then its one use
// with one swing. Look may come a tick or more before Use.
type Placing struct {
	handle
	used bool
}

// OpenPlace opens a place_block.
func (w *Writer) OpenPlace(p Permit) (*Placing, error) {
	h, err := w.open(Place, p)
	if err != nil {
		return nil, err
	}
	return &Placing{handle: h}, nil
}

// Look sends the rotation; it is the tick's movement packet. It is nothing if the server was told that rotation.
func (p *Placing) Look(r geom.Rotation) error {
	if err := p.live(); err != nil {
		return err
	}
	return p.w.turn(p.kind, r)
}

// Sneak presses or releases the sneak key if it is not so already.
func (p *Placing) Sneak(on bool) error {
	if err := p.live(); err != nil {
		return err
	}
	return p.w.sneak(p.kind, on)
}

// Hold selects a hotbar slot, 0..8, if it is not selected already.
func (p *Placing) Hold(slot int32) error {
	if err := p.live(); err != nil {
		return err
	}
	return p.w.hold(p.kind, slot)
}

// Click is where a use lands: the clicked cell, its face, and the cursor within the cell, 0..1 on each axis.
type Click struct {
	Pos    geom.BlockPos
	Face   geom.Face
	Cursor [3]float32
	Inside bool
}

// Use sends the use of the held item on a block, then one swing of the arm. It can be called once for each permit. The
// sequence number it returns is the one the server's ack will reach.
func (p *Placing) Use(c Click) (sequence int32, err error) {
	if err := p.live(); err != nil {
		return 0, err
	}
	if p.used {
		return 0, ErrAlreadyUsed
	}
	for _, v := range c.Cursor {
		if !(v >= 0 && v <= 1) {
			return 0, fmt.Errorf("%w: cursor %v, want 0 to 1", ErrOutOfRange, c.Cursor)
		}
	}
	p.used = true
	p.w.sequence++
	use := &wire.UseItemOn{Pos: c.Pos, Face: c.Face, Cursor: c.Cursor, Inside: c.Inside, Sequence: p.w.sequence}
	if err := p.write(use); err != nil {
		return p.w.sequence, err
	}
	return p.w.sequence, p.write(&wire.Swing{})
}

// Used says whether the one use has been sent.
func (p *Placing) Used() bool { return p.used }

// hold sends the selected slot if the server does not have it already.
func (w *Writer) hold(k Kind, slot int32) error {
	if slot < 0 || slot > 8 {
		return fmt.Errorf("%w: hotbar slot %d, want 0 to 8", ErrOutOfRange, slot)
	}
	if slot == w.held {
		return nil
	}
	w.held = slot
	return w.write(k, &wire.SetCarriedItem{Slot: int16(slot)})
}

// Held is the slot that the server has selected for us as far as we know, -1 unknown.
func (w *Writer) Held() int32 { return w.held }

// ServerHeld takes the server's word on the selected slot.
func (w *Writer) ServerHeld(slot int32) { w.held = slot }

// Sneaking says whether the server was told that the sneak key is down.
func (w *Writer) Sneaking() bool { return w.sneaking }

// OpenSay opens a say and sends its one line, unsigned. Time is in milliseconds since 1970; salt comes back in the echo of
// servers that keep it. Commands and characters that servers kick for are refused before the permit is opened.
func (w *Writer) OpenSay(p Permit, text string, millis, salt int64) error {
	if err := CheckText(text); err != nil {
		return err
	}
	h, err := w.open(Say, p)
	if err != nil {
		return err
	}
	defer h.Done()
	n := w.pending
	w.pending = 0
	return h.write(&wire.Chat{Message: text, Timestamp: millis, Salt: salt, LastSeen: wire.LastSeen{Offset: n}})
}

// CheckText says whether a chat line may be sent: not empty, no command, at most effects.MaxText long, no character that
// servers refuse.
func CheckText(text string) error {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return fmt.Errorf("%w: it is empty", ErrText)
	}
	if trimmed[0] == '/' {
		return fmt.Errorf("%w: commands are excluded", ErrText)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: it is no valid UTF-8", ErrText)
	}
	if n := len(utf16.Encode([]rune(text))); n > effects.MaxText {
		return fmt.Errorf("%w: it has %d characters, at most %d are allowed", ErrText, n, effects.MaxText)
	}
	for _, r := range text {
		if !effects.Sayable(r) {
			return fmt.Errorf("%w: character %U is not allowed", ErrText, r)
		}
	}
	return nil
}

// Equipping is an opened equip: the hotbar and nothing else.
type Equipping struct{ handle }

// OpenEquip opens an equip.
func (w *Writer) OpenEquip(p Permit) (*Equipping, error) {
	h, err := w.open(Equip, p)
	if err != nil {
		return nil, err
	}
	return &Equipping{h}, nil
}

// Hold selects a hotbar slot, 0..8.
func (e *Equipping) Hold(slot int32) error {
	if err := e.live(); err != nil {
		return err
	}
	return e.w.hold(e.kind, slot)
}

// Swap exchanges a slot of the inventory window, 9..44, with a hotbar slot, 0..8. State is the window's last state id. It
// claims no changed slots, so the server tells the outcome.
func (e *Equipping) Swap(slot int16, hotbar int8, state int32) error {
	if slot < 9 || slot > 44 || hotbar < 0 || hotbar > 8 {
		return fmt.Errorf("%w: swap of slot %d with hotbar %d, want 9 to 44 with 0 to 8", ErrOutOfRange, slot, hotbar)
	}
	return e.write(&wire.ContainerClick{StateID: state, Slot: slot, Button: hotbar, Mode: clickSwap})
}

// clickSwap is the mode of container_click that exchanges a slot with the hotbar.
const clickSwap = 2

// Creative puts a plain stack into a hotbar slot, 0..8, as creative mode allows; an empty one clears it.
func (e *Equipping) Creative(hotbar int8, item registry.ItemID, count int32) error {
	if hotbar < 0 || hotbar > 8 || count < 0 || count > 99 {
		return fmt.Errorf("%w: %d of item %d in hotbar slot %d", ErrOutOfRange, count, item, hotbar)
	}
	return e.write(&wire.SetCreativeModeSlot{Slot: int16(hotbar) + worldstate.SlotHotbar, Item: wire.ItemStack{Item: item, Count: count}})
}

// Pick asks the server to select what the block is, where the version has that request: the answer set_held_slot proves
// the selected slot. ErrUnsupported before 1.21.4.
func (e *Equipping) Pick(pos geom.BlockPos) error {
	if !wire.Has(e.w.protocol, wire.PickItemFrom) {
		return ErrUnsupported
	}
	return e.write(&wire.PickItemFromBlock{Pos: pos})
}
