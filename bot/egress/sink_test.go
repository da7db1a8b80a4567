package egress

import (
	"testing"

	"blockworld/bot/internal/permits"
	"blockworld/bot/wire"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// recorder keeps what was written, encoded for the version under test so that nothing unencodable slips through.
type recorder struct {
	t        *testing.T
	protocol registry.Protocol
	packets  []wire.Packet
	flushes  int
}

func (r *recorder) WritePacket(p wire.Packet) error {
	r.packets = append(r.packets, p)
	return nil
}

func (r *recorder) Flush() error { r.flushes++; return nil }

// names are the packets written so far, and forgets them.
func (r *recorder) names() []string {
	var out []string
	for _, p := range r.packets {
		name := wire.PacketName(wire.Play, wire.Serverbound, p)
		if _, err := wire.EncodePacket(nil, r.protocol, wire.Play, wire.Serverbound, p); err != nil {
			r.t.Errorf("%s in %s: %v", name, r.protocol, err)
		}
		out = append(out, name)
	}
	r.packets = nil
	return out
}

func newWriter(t *testing.T, p registry.Protocol) (*Writer, *recorder) {
	r := &recorder{t: t, protocol: p}
	w := New(r, p, true)
	w.NewEpoch(7)
	return w, r
}

// placed is a writer whose server has put the player at a place and whose tick has ended.
func placed(t *testing.T, p registry.Protocol) (*Writer, *recorder) {
	w, r := newWriter(t, p)
	if err := w.Confirm(1, Motion{Position: geom.Vec3{0.5, 64, 0.5}}); err != nil {
		t.Fatal(err)
	}
	if err := w.EndTick(); err != nil {
		t.Fatal(err)
	}
	r.names()
	return w, r
}

// spent is a permit that has been opened already.
func spent(t *testing.T) Permit {
	p := permits.New(t).Take()
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	return p
}

// unopened says whether a permit can still be opened, and opens it.
func unopened(p Permit) bool { return p.Open() == nil }
