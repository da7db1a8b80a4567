package egress

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/bot/internal/permits"
	"blockworld/bot/wire"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func TestPlacement(t *testing.T) {
	source := permits.New(t)
	for _, p := range registry.Protocols() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) {
			w, r := placed(t, p)
			pm := source.Take()
			pl, err := w.OpenPlace(pm)
			if err != nil {
				t.Fatal(err)
			}
			do := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			do(pl.Look(geom.Rotation{Yaw: 90, Pitch: 45}))
			do(pl.Sneak(true))
			do(pl.Hold(3))
			do(pl.Hold(3))
			seq, err := pl.Use(Click{Pos: geom.BlockPos{X: 1, Y: 63}, Face: geom.Up, Cursor: [3]float32{0.5, 1, 0.5}})
			do(err)
			if seq != 1 {
				t.Errorf("sequence %d", seq)
			}
			sneak := "player_command"
			if wire.Has(p, wire.PlayerInputSneak) {
				sneak = "player_input"
			}
			want := []string{"move_player_rot", sneak, "set_carried_item", "use_item_on", "swing"}
			if diff := cmp.Diff(want, r.names()); diff != "" {
				t.Error(diff)
			}
			if _, err := pl.Use(Click{}); !errors.Is(err, ErrAlreadyUsed) {
				t.Errorf("second use: %v", err)
			}
			if got := w.Counts(); got[Place] != 5 || got.Effects() != 5 {
				t.Errorf("counts %v", got)
			}
			if _, err := w.OpenPlace(pm); err == nil {
				t.Error("one permit opened two placements")
			}
		})
	}
}

func TestHandlesDie(t *testing.T) {
	type opened struct {
		name string
		use  func() error
	}
	open := func(t *testing.T, w *Writer) []opened {
		sent := permits.New(t).Batch(4)
		m, err1 := w.OpenMove(sent[0])
		l, err2 := w.OpenLook(sent[1])
		p, err3 := w.OpenPlace(sent[2])
		e, err4 := w.OpenEquip(sent[3])
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		return []opened{
			{"walk", func() error { return m.Tick(wire.KeyForward, Motion{Position: geom.Vec3{1, 64, 1}}) }},
			{"fly", func() error { return m.Fly(true) }},
			{"release", m.Release},
			{"turn", func() error { return l.Turn(geom.Rotation{Yaw: 5}) }},
			{"look", func() error { return p.Look(geom.Rotation{Yaw: 6}) }},
			{"sneak", func() error { return p.Sneak(true) }},
			{"hold", func() error { return p.Hold(4) }},
			{"use", func() error { _, err := p.Use(Click{}); return err }},
			{"equip hold", func() error { return e.Hold(4) }},
			{"swap", func() error { return e.Swap(9, 0, 0) }},
			{"creative", func() error { return e.Creative(0, 1, 1) }},
			{"pick", func() error { return e.Pick(geom.BlockPos{}) }},
		}
	}
	for _, end := range []struct {
		name string
		do   func(*Writer)
	}{
		{"DC-07/reconnect and new configuration", func(w *Writer) { w.LeaveWorld() }},
		{"DC-07/respawn", func(w *Writer) { w.NewEpoch(7) }},
		{"DC-07/shutdown", func(w *Writer) { w.Close() }},
	} {
		t.Run(end.name, func(t *testing.T) {
			w, r := placed(t, registry.Latest)
			handles := open(t, w)
			end.do(w)
			for _, h := range handles {
				if err := h.use(); !errors.Is(err, ErrEnded) {
					t.Errorf("%s after the end: %v", h.name, err)
				}
			}
			if len(r.packets) != 0 || w.Counts().Effects() != 0 {
				t.Errorf("%d packets left, W=%d", len(r.packets), w.Counts().Effects())
			}
		})
	}
	t.Run("DC-07/nothing opens outside a world", func(t *testing.T) {
		w, _ := placed(t, registry.Latest)
		w.LeaveWorld()
		pm := permits.New(t).Take()
		if _, err := w.OpenPlace(pm); !errors.Is(err, ErrEnded) || !unopened(pm) {
			t.Errorf("OpenPlace = %v, or the permit is spent", err)
		}
		fresh := New(&recorder{t: t}, registry.Latest, true)
		if _, err := fresh.OpenPlace(pm); !errors.Is(err, ErrEnded) {
			t.Errorf("before login: %v", err)
		}
	})
	t.Run("DC-07/nothing opens after shutdown", func(t *testing.T) {
		w, _ := placed(t, registry.Latest)
		w.Close()
		pm := permits.New(t).Take()
		if _, err := w.OpenMove(pm); !errors.Is(err, ErrEnded) || !unopened(pm) {
			t.Errorf("OpenMove = %v, or the permit is spent", err)
		}
	})
}

func TestPermitRefuses(t *testing.T) {
	w, r := placed(t, registry.Latest)
	used := spent(t)
	_, err1 := w.OpenMove(used)
	_, err2 := w.OpenLook(used)
	_, err3 := w.OpenPlace(used)
	_, err4 := w.OpenEquip(used)
	err5 := w.OpenSay(used, "x", 0, 0)
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if err == nil {
			t.Errorf("effect %d opened with a used permit", i)
		}
	}
	if len(r.packets) != 0 {
		t.Errorf("%d packets", len(r.packets))
	}
}

func TestChatText(t *testing.T) {
	for text, ok := range map[string]bool{
		"hello": true, "ünïcode ☃ 🙂": true, strings.Repeat("x", 256): true,
		"": false, "  ": false, strings.Repeat("x", 257): false, strings.Repeat("🙂", 129): false,
		"a\nb": false, "a§cb": false, "a\x7fb": false, "a\u009b31m": false, "/x": false, "\xff": false,
	} {
		if err := CheckText(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestEquipBounds(t *testing.T) {
	w, r := placed(t, registry.Latest)
	e, _ := w.OpenEquip(permits.New(t).Take())
	for name, err := range map[string]error{
		"hold 9": e.Hold(9), "hold -1": e.Hold(-1), "swap 8": e.Swap(8, 0, 0), "swap 45": e.Swap(45, 0, 0),
		"swap to 40": e.Swap(9, 40, 0), "creative 9": e.Creative(9, 1, 1), "creative -1": e.Creative(0, 1, -1),
	} {
		if !errors.Is(err, ErrOutOfRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(r.packets) != 0 {
		t.Errorf("%d packets", len(r.packets))
	}
}

// TestOneMovementPerTick drives a writer at random and looks at the packets alone.
func TestOneMovementPerTick(t *testing.T) {
	source := permits.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(registry.Protocols()).Draw(rt, "protocol")
		w, r := placed(t, p)
		sent := source.Batch(2)
		walk, _ := w.OpenMove(sent[0])
		place, _ := w.OpenPlace(sent[1])
		motion := func() Motion {
			f := rapid.SampledFrom([]float64{0, 0.1, 1, 7, math.NaN(), math.Inf(1), 1e300}).Draw(rt, "x")
			return Motion{Position: geom.Vec3{f, 64, 0}, OnGround: rapid.Bool().Draw(rt, "ground"),
				Rotation: geom.Rotation{Yaw: float32(rapid.IntRange(0, 3).Draw(rt, "yaw"))}}
		}
		ends, moves := 0, 0
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 6).Draw(rt, "step") {
			case 0:
				w.Passive(motion())
			case 1:
				walk.Tick(wire.KeyForward, motion())
			case 2:
				place.Look(motion().Rotation)
			case 3:
				w.Confirm(5, motion())
			case 4:
				w.Skip(3)
			default:
				w.EndTick()
				ends++
				moves = 0
			}
			for _, pk := range r.packets {
				if m, ok := moved(pk); ok {
					moves++
					if !m.finite() {
						rt.Fatalf("sent %+v", pk)
					}
				}
			}
			r.packets = nil
			if moves > 1 {
				rt.Fatalf("%d movement packets within tick %d", moves, ends)
			}
		}
	})
}

// moved reads a movement packet.
func moved(p wire.Packet) (Motion, bool) {
	switch p := p.(type) {
	case *wire.MovePlayerPos:
		return Motion{Position: p.Position}, true
	case *wire.MovePlayerPosRot:
		return Motion{Position: p.Position, Rotation: p.Rotation}, true
	case *wire.MovePlayerRot:
		return Motion{Rotation: p.Rotation}, true
	case *wire.MovePlayerStatusOnly:
		return Motion{}, true
	}
	return Motion{}, false
}

func TestMotionPackets(t *testing.T) {
	w, r := placed(t, registry.Latest)
	here := Motion{Position: geom.Vec3{0.5, 64, 0.5}}
	step := func(m Motion) []string {
		t.Helper()
		if err := w.Passive(m); err != nil {
			t.Fatal(err)
		}
		w.EndTick()
		return r.names()
	}
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(append(want, "client_tick_end"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("nothing new", step(here))
	here.OnGround = true
	check("landed", step(here), "move_player_status_only")
	here.Rotation.Yaw = 10
	check("turned", step(here), "move_player_rot")
	here.Position[0]++
	check("moved", step(here), "move_player_pos")
	here.Position[0]++
	here.Rotation.Yaw = 20
	check("both", step(here), "move_player_pos_rot")
	for range reminderTicks - 1 {
		check("quiet", step(here))
	}
	check("reminder", step(here), "move_player_pos")
	w.Confirm(9, here)
}

func TestConfirmEchoes(t *testing.T) {
	w, r := placed(t, registry.Latest)
	at := Motion{Position: geom.Vec3{3, 70, 3}, OnGround: true}
	if err := w.Confirm(2, at); err != nil {
		t.Fatal(err)
	}
	if err := w.Passive(at); !errors.Is(err, ErrTickSpent) {
		t.Errorf("a second movement packet: %v", err)
	}
	if err := w.Confirm(3, at); err != nil {
		t.Fatal(err)
	}
	w.EndTick()
	at.Position[1] -= 0.1
	if err := w.Passive(at); err != nil {
		t.Fatal(err)
	}
	want := []string{"accept_teleportation", "move_player_pos_rot", "accept_teleportation", "client_tick_end", "move_player_pos_rot"}
	if diff := cmp.Diff(want, r.names()); diff != "" {
		t.Error(diff)
	}
}
