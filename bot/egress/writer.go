package egress

import (
	"errors"
	"fmt"

	"blockworld/bot/wire"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Errors of a Writer.
var (
	ErrNotLiveness   = errors.New("packet is not on the liveness list and belongs to no admitted action")
	ErrTickSpent     = errors.New("this tick's movement packet has already been sent")
	ErrEnded         = errors.New("the effect has ended: its world epoch is over or it was closed")
	ErrAlreadyUsed   = errors.New("this action's one use has already been sent")
	ErrNotFinite     = errors.New("position or angle is not finite")
	ErrUnsupported   = errors.New("this protocol version has no such packet")
	ErrText          = errors.New("chat text cannot be sent")
	ErrOutOfRange    = errors.New("value is out of range")
	ErrNotServerOpen = errors.New("only a window that the server opened may be closed")
)

// Sink is the write half of a connection: *wire.Conn.
type Sink interface {
	WritePacket(wire.Packet) error
	Flush() error
}

// Kind says to which effect a packet belongs.
type Kind uint8

// The kinds of effects. Liveness is everything that needs no admission.
const (
	Liveness Kind = iota
	Move
	Look
	Place
	Say
	Equip
	kinds
)

// String names the kind in one word.
func (k Kind) String() string {
	names := [...]string{"liveness", "move", "look", "place", "say", "equip"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", k)
}

// Counts is how many packets of each kind were written since the connection began.
type Counts [kinds]uint64

// Effects is the number of packets that needed an admission: W in the tests.
func (c Counts) Effects() uint64 { return c[Move] + c[Look] + c[Place] + c[Say] + c[Equip] }

// Motion is where the player is after a tick, as its movement packet says it.
type Motion struct {
	Position            geom.Vec3
	Rotation            geom.Rotation
	OnGround            bool
	HorizontalCollision bool
}

func (m Motion) finite() bool {
	return finite(m.Position[0]) && finite(m.Position[1]) && finite(m.Position[2]) &&
		finite(float64(m.Rotation.Yaw)) && finite(float64(m.Rotation.Pitch))
}

func (m Motion) flags() (f wire.MoveFlags) {
	if m.OnGround {
		f |= wire.MoveOnGround
	}
	if m.HorizontalCollision {
		f |= wire.MoveAgainstWall
	}
	return f
}

// finite is true for numbers a server takes as a coordinate or an angle; NaN fails the comparison.
func finite(f float64) bool { return f >= -1e9 && f <= 1e9 }

// Writer writes one connection. Make it with New; NewEpoch tells it that the player's world began anew.
type Writer struct {
	sink     Sink
	protocol registry.Protocol
	respawn  bool // respawning is allowed

	epoch  uint64 // handles of older epochs are dead
	world  bool   // we are in one: effects can be opened
	closed bool
	broken error // why nothing can be written any more
	counts Counts

	sequence int32 // of the last use
	entity   int32 // own entity id, for player_command
	opened   int32 // window that the server opened and that may be closed; 0 for none
	pending  int32 // signed chat lines received and not acknowledged

	moved    bool   // a movement packet went out since the last tick end
	told     bool   // last holds what the server was told
	last     Motion // as last sent
	quiet    int    // ticks since a position was sent
	sneaking bool
	sprint   bool
	input    wire.Keys
	held     int32 // as the server knows it; -1 unknown
}

// New makes a writer. Respawn says whether the respawn request is on the liveness list.
func New(sink Sink, protocol registry.Protocol, respawn bool) *Writer {
	return &Writer{sink: sink, protocol: protocol, respawn: respawn, held: -1}
}

// Counts says what has been written.
func (w *Writer) Counts() Counts { return w.counts }

// Protocol is the version written.
func (w *Writer) Protocol() registry.Protocol { return w.protocol }

// Flush hands everything written to the connection. What has failed once fails from then on: whoever flushes last, the
// session's loop, hears of it too.
func (w *Writer) Flush() error {
	if w.broken == nil {
		w.broken = w.sink.Flush()
	}
	return w.broken
}

// LeaveWorld ends every effect; none can be opened until NewEpoch.
func (w *Writer) LeaveWorld() {
	w.NewEpoch(0)
	w.world = false
}

// NewEpoch ends every effect and forgets what the server knew of our posture: a world begins, in which our own entity
// has this id.
func (w *Writer) NewEpoch(entity int32) {
	w.epoch++
	w.world = true
	w.entity = entity
	w.told, w.moved, w.quiet = false, false, 0
	w.sneaking, w.sprint, w.input = false, false, 0
	w.opened = 0
}

// Close ends every effect for good; only the session's own packets could still be written, and nobody writes them.
func (w *Writer) Close() {
	w.epoch++
	w.closed = true
}

// write is the one place where a packet leaves.
func (w *Writer) write(k Kind, p wire.Packet) error {
	if w.closed {
		return ErrEnded
	}
	if err := w.sink.WritePacket(p); err != nil {
		return err
	}
	w.counts[k]++
	return nil
}
