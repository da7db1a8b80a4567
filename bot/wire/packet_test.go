package wire

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/worldstate/registry"
)

// place is one entry of the table in one version.
type place struct {
	p  registry.Protocol
	s  State
	d  Direction
	id int32
}

func (pl place) String() string {
	return fmt.Sprintf("%s %s %s %s", pl.p, pl.s, pl.d, NameOf(pl.p, pl.s, pl.d, pl.id))
}

// places lists every entry of every version.
func places() []place {
	var out []place
	for _, p := range registry.Protocols() {
		for s := Handshake; s < stateCount; s++ {
			for d := Clientbound; d < directionCount; d++ {
				for _, id := range IDs(p, s, d) {
					out = append(out, place{p, s, d, id})
				}
			}
		}
	}
	return out
}

func (pl place) random(seed uint64) Packet {
	pk, _ := Lookup(pl.p, pl.s, pl.d, pl.id)
	newRandom(seed, pl.p).packet(pk)
	return pk
}

var compare = cmp.Exporter(func(reflect.Type) bool { return true })

// TestRoundTrip sends random packets of every version there and back: equal bytes, equal structs.
func TestRoundTrip(t *testing.T) {
	for _, pl := range places() {
		for seed := range uint64(3) {
			roundTrip(t, pl, seed)
		}
	}
	all := places()
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, rapid.SampledFrom(all).Draw(t, "packet"), rapid.Uint64().Draw(t, "seed"))
	})
}

func roundTrip(t interface {
	Fatalf(string, ...any)
	Helper()
}, pl place, seed uint64) {
	t.Helper()
	first, err := EncodePacket(nil, pl.p, pl.s, pl.d, pl.random(seed))
	if err != nil {
		t.Fatalf("%s: %v", pl, err)
	}
	a, err := DecodePacket(pl.p, pl.s, pl.d, bytes.Clone(first))
	if err != nil {
		t.Fatalf("%s: %v\n%x", pl, err, first)
	}
	again, err := EncodePacket(nil, pl.p, pl.s, pl.d, a)
	if err != nil || !bytes.Equal(again, first) {
		t.Fatalf("%s: %v\n got %x\nwant %x", pl, err, again, first)
	}
	b, _, err := decode(new(IO), pl.p, pl.s, pl.d, again, false)
	if err != nil {
		t.Fatalf("%s: %v", pl, err)
	}
	for i := range again { // what was copied does not change with its source
		again[i] = 0xEE
	}
	if diff := cmp.Diff(a, b, compare); diff != "" {
		t.Fatalf("%s: %s", pl, diff)
	}
}

// TestTruncated cuts every packet at every byte: an error, or a packet that is whole with what is left of it.
func TestTruncated(t *testing.T) {
	for _, pl := range places() {
		data, err := EncodePacket(nil, pl.p, pl.s, pl.d, pl.random(4))
		if err != nil {
			t.Fatal(err)
		}
		for n := range data {
			pk, err := DecodePacket(pl.p, pl.s, pl.d, data[:n:n])
			var de *DecodeError
			if err != nil {
				if !errors.As(err, &de) && !errors.Is(err, ErrUnknownPacket) {
					t.Fatalf("%s cut at %d: %v", pl, n, err)
				}
				continue
			}
			if again, err := EncodePacket(nil, pl.p, pl.s, pl.d, pk); err != nil || !bytes.Equal(again, data[:n]) {
				t.Fatalf("%s cut at %d of %d passes: %+v", pl, n, len(data), pk)
			}
		}
		if _, err := DecodePacket(pl.p, pl.s, pl.d, append(data, 0)); err == nil && !takesRest(pl) {
			t.Errorf("%s: a byte too many passes", pl)
		}
	}
}

// takesRest tells whether a packet ends with all that is left.
func takesRest(pl place) bool {
	pk, _ := Lookup(pl.p, pl.s, pl.d, pl.id)
	switch pk.(type) {
	case *CustomPayload, *CustomQuery, *CustomQueryAnswer, *Commands, *CustomClickAction, *SetEntityData:
		return true
	}
	return false
}

// TestIDs checks a few ids of the table against lists made elsewhere, and that lookups do not mix states.
func TestIDs(t *testing.T) {
	for _, c := range []struct {
		p    registry.Protocol
		s    State
		d    Direction
		pk   Packet
		want int32
	}{
		{registry.V1_20_2, Play, Serverbound, &UseItemOn{}, 0x34},
		{registry.V1_21_7, Play, Serverbound, &UseItemOn{}, 0x3f},
		{registry.V26_1, Play, Serverbound, &UseItemOn{}, 0x42},
		{registry.V26_1, Play, Serverbound, &Attack{}, 0x01},
		{registry.V1_21_5, Play, Serverbound, &Swing{}, 0x3b},
		{registry.V1_21_9, Play, Clientbound, &AwardStats{}, 0x03},
		{registry.V1_20_2, Configuration, Clientbound, &ResourcePackPush{}, 0x06},
		{registry.V1_20_3, Configuration, Clientbound, &ResourcePackPush{}, 0x07},
		{registry.V26_1, Configuration, Serverbound, &KeepAlive{}, 0x04},
		{registry.V26_1, Play, Serverbound, &KeepAlive{}, 0x1c},
	} {
		if got, ok := ID(c.p, c.s, c.d, c.pk); !ok || got != c.want {
			t.Errorf("%s %s %s %T: id %#x, %v, want %#x", c.p, c.s, c.d, c.pk, got, ok, c.want)
		}
	}
	for _, pl := range places() {
		pk, ok := Lookup(pl.p, pl.s, pl.d, pl.id)
		if id, ok2 := ID(pl.p, pl.s, pl.d, pk); !ok || !ok2 || id != pl.id {
			t.Errorf("%s: id %d comes back as %d", pl, pl.id, id)
		}
	}
	if n := len(places()); n < 1600 {
		t.Errorf("only %d entries in all versions", n)
	}
}

// TestUnknown asks for what does not exist.
func TestUnknown(t *testing.T) {
	p := registry.V1_21_7
	if _, ok := ID(p, Login, Clientbound, &UseItemOn{}); ok {
		t.Error("use_item_on has an id in login")
	}
	if _, ok := ID(registry.V1_20_2, Play, Serverbound, &PlayerLoaded{}); ok {
		t.Error("player_loaded has an id in 1.20.2")
	}
	if _, err := EncodePacket(nil, registry.V1_20_2, Play, Serverbound, &PlayerLoaded{}); !errors.Is(err, ErrUnknownPacket) {
		t.Errorf("encode: %v", err)
	}
	if _, err := EncodePacket(nil, 763, Play, Serverbound, &KeepAlive{}); !errors.Is(err, ErrUnknownProtocol) {
		t.Errorf("encode: %v", err)
	}
	for _, id := range []int32{-1, 200, 1 << 30} {
		if _, err := DecodePacket(p, Play, Clientbound, appendVarInt(nil, id)); !errors.Is(err, ErrUnknownPacket) {
			t.Errorf("decode %d: %v", id, err)
		}
	}
	if _, err := DecodePacket(9999, Play, Clientbound, []byte{0}); !errors.Is(err, ErrUnknownProtocol) {
		t.Errorf("decode: %v", err)
	}
	if _, ok := Lookup(p, 9, 7, 0); ok {
		t.Error("a packet in state 9")
	}
	if NameOf(p, Play, Clientbound, 3) != "award_stats" || NameOf(p, Play, Clientbound, 250) != "unknown" {
		t.Error("names")
	}
}

// TestDecodeError checks what a person reads.
func TestDecodeError(t *testing.T) {
	_, err := DecodePacket(registry.V1_21_7, Play, Clientbound, []byte{0x08, 0, 0, 0})
	want := "decode block_update (play clientbound, id 0x08, 1.21.8 (772)) at byte 0: the packet ends too early"
	if err == nil || err.Error() != want || !errors.Is(err, ErrShort) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestFeatures checks the ends of features.
func TestFeatures(t *testing.T) {
	for _, c := range []struct {
		p    registry.Protocol
		f    Feature
		want bool
	}{
		{registry.V1_20_2, TextNBT, false}, {registry.V1_20_3, TextNBT, true},
		{registry.V1_20_5, StrictErrorHandling, true}, {registry.V1_21, StrictErrorHandling, true}, {registry.V1_21_2, StrictErrorHandling, false},
		{registry.V1_21_11, WorldClocks, false}, {registry.V26_1, WorldClocks, true}, {registry.V26_1, TickDayTime, false},
		{9999, TextNBT, false}, {registry.V26_1, 250, false},
	} {
		if got := Has(c.p, c.f); got != c.want {
			t.Errorf("Has(%s, %d) = %v", c.p, c.f, got)
		}
	}
}
