package egress

import (
	"fmt"

	"blockworld/bot/wire"
)

// brandChannel is the one plug-in channel a bot writes to.
const brandChannel = "minecraft:brand"

// Live writes a packet that needs no admission. The list is closed: any other packet, or one of the list with contents
// that could do something, is ErrNotLiveness. Movement, teleport confirmations and tick ends have methods of their own.
func (w *Writer) Live(p wire.Packet) error {
	switch p := p.(type) {
	case *wire.Intention, *wire.HelloServerbound, *wire.Key, *wire.CustomQueryAnswer, *wire.LoginAcknowledged,
		*wire.CookieResponse, *wire.ClientInformation, *wire.SelectKnownPacks, *wire.AcceptCodeOfConduct,
		*wire.FinishConfiguration, *wire.ConfigurationAcknowledged, *wire.ResourcePack,
		*wire.KeepAlive, *wire.Pong, *wire.ChunkBatchReceived, *wire.PlayerLoaded:
		return w.write(Liveness, p)
	case *wire.CustomPayload:
		if p.Channel == brandChannel {
			return w.write(Liveness, p)
		}
	case *wire.ClientCommand:
		if p.Action == wire.RequestStats || p.Action == wire.PerformRespawn && w.respawn {
			return w.write(Liveness, p)
		}
	}
	return fmt.Errorf("%w: %T", ErrNotLiveness, p)
}

// RequestStats asks for the statistics: the fence.
func (w *Writer) RequestStats() error {
	return w.Live(&wire.ClientCommand{Action: wire.RequestStats})
}

// QueryInventory asks for the whole inventory by a click that does nothing: slot -1 of window 0 with a state id that
// the server does not have. State is the last state id known.
func (w *Writer) QueryInventory(state int32) error {
	return w.write(Liveness, &wire.ContainerClick{StateID: state ^ 1, Slot: -1})
}

// WindowOpened remembers a window that the server opened, so that CloseWindow may close it.
func (w *Writer) WindowOpened(window int32) { w.opened = window }

// CloseWindow closes the window that the server opened.
func (w *Writer) CloseWindow(window int32) error {
	if window == 0 || window != w.opened {
		return ErrNotServerOpen
	}
	w.opened = 0
	return w.write(Liveness, &wire.ContainerClose{Window: window})
}

// Respawn asks to come back to life.
func (w *Writer) Respawn() error {
	return w.Live(&wire.ClientCommand{Action: wire.PerformRespawn})
}

// ackAfter is how many signed chat lines may stay unacknowledged; vanilla acknowledges when there are more.
const ackAfter = 64

// ChatReceived counts a signed chat line of another player, and acknowledges when enough have come.
func (w *Writer) ChatReceived() error {
	w.pending++
	if w.pending <= ackAfter {
		return nil
	}
	n := w.pending
	w.pending = 0
	return w.write(Liveness, &wire.ChatAck{Count: n})
}
