package bot_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/fixtures/server"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// faults reads the text form of faults.
func faults(t *testing.T, text string) *server.Faults {
	t.Helper()
	f, err := server.ParseFaults(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wants checks a verdict, its grade and what the journal holds of it.
func (st *stage) wants(e actor.Effect, v effects.Verdict, g effects.Grade, receipts int) {
	st.t.Helper()
	got, attempts := st.record(e)
	if e.Verdict != v || e.Grade != g {
		st.t.Errorf("%s: %s %s (%s), want %s %s", e.Capability, e.Verdict, e.Grade, e.Why, v, g)
	}
	if got != receipts || got+len(attempts) != 1 || e.Receipt != (receipts == 1) {
		st.t.Errorf("%s: %d receipts, %d attempts, says receipt %v; want %d receipts", e.Capability, got, len(attempts), e.Receipt, receipts)
	}
}

// where is the bot's cell by the server's own word.
func (st *stage) where() (pos geom.BlockPos, look geom.Rotation) {
	st.s.Do(func(w *server.World) {
		p := w.Player("Tester")
		pos, look = geom.BlockAt(p.Position()), p.Rotation()
	})
	return pos, look
}

func TestMoveTo(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		st := play(t, server.Config{Protocol: p}, nil)
		t.Run("SE-06_DC-10/a walk in the plot is proven by the server's own distance", func(t *testing.T) {
			st := st.in(t)
			e := st.effect(effects.MoveToRequest{Pos: effects.Position{X: 4, Y: -60, Z: 3}})
			st.wants(e, effects.Proven, effects.Acknowledged, 1)
			if at, _ := st.where(); at != cell(4, -60, 3) {
				t.Errorf("the server has the bot at %v", at)
			}
		})
		t.Run("SE-06/no node outside the walk box", func(t *testing.T) {
			st := st.in(t)
			// A wall across the plot leaves only ways around it that leave the walk box.
			for z := stageBuild.Min.Z - 6; z <= stageBuild.Max.Z+6; z++ {
				for y := int32(-60); y <= -57; y++ {
					st.s.Do(func(w *server.World) {
						s, _ := st.s.Registry().ParseState("stone")
						w.SetBlock(cell(-2, y, z), s)
					})
				}
			}
			st.put(cell(-2, -56, 0), "stone")
			before := st.sent()
			st.s.Do(func(w *server.World) { w.Player("Tester").SetGameMode(worldstate.Survival) })
			await(t, st.b, "survival", func(tx *bot.Tx) bool { return !tx.MayFly() })
			if _, err := st.do(effects.MoveToRequest{Pos: effects.Position{X: -5, Y: -60, Z: 0}}); !errors.Is(err, actor.ErrNoWay) {
				t.Errorf("got %v", err)
			}
			if st.sent() != before {
				t.Error("a walk without a way sent packets")
			}
		})
	}
}

func TestMoveToIsCorrected(t *testing.T) {
	t.Parallel()
	t.Run("SE-06_SE-26/a server that holds the bot back ends the walk where it stands", func(t *testing.T) {
		t.Parallel()
		st := play(t, server.Config{}, nil)
		st.hold()
		e := st.effect(effects.MoveToRequest{Pos: effects.Position{X: 6, Y: -60, Z: 6}})
		st.wants(e, effects.Refused, effects.GradeNone, 0)
		at, _ := st.where()
		if geom.BlockAt(e.Position) != at || at == cell(6, -60, 6) {
			t.Errorf("the bot says %v, the server has it at %v", e.Position, at)
		}
		if n := snapshot(t, st.b).Corrected - 1; n < 1 || n > 10 {
			t.Errorf("%d corrections; setbacks must be bounded", n)
		}
	})
	t.Run("DC-10/silence is only processed", func(t *testing.T) {
		t.Parallel()
		// Statistics stand still: nothing but silence speaks for the walk.
		st := play(t, server.Config{Faults: faults(t, "freeze@1")}, nil)
		st.s.Do(func(w *server.World) { w.FreezeStats(true) })
		e := st.effect(effects.MoveToRequest{Pos: effects.Position{X: 3, Y: -60, Z: 3}})
		st.wants(e, effects.Proven, effects.Processed, 0)
	})
	t.Run("DC-10/silence is unverified where the profile wants more", func(t *testing.T) {
		t.Parallel()
		st := play(t, server.Config{}, func(c *actor.Config) {
			c.Terms.Grades[effects.MoveTo] = actor.Grades{Least: effects.Observed, Reachable: effects.Acknowledged}
		})
		st.s.Do(func(w *server.World) { w.FreezeStats(true) })
		e := st.effect(effects.MoveToRequest{Pos: effects.Position{X: 3, Y: -60, Z: 3}})
		st.wants(e, effects.UnverifiedEffect, effects.Processed, 0)
	})
	t.Run("DC-10/a caller who leaves stops the walk", func(t *testing.T) {
		t.Parallel()
		st := play(t, server.Config{}, nil)
		st.cancelled(effects.MoveToRequest{Pos: effects.Position{X: 9, Y: -60, Z: 9}})
		if at, _ := st.where(); at == cell(9, -60, 9) {
			t.Error("the walk went on to its goal")
		}
	})
}

// hold makes the server put the bot back whenever it has moved, as an anti-cheat does.
func (st *stage) hold() {
	home := geom.Vec3{0.5, -60, 0.5}
	st.meanwhile(func(w *server.World) bool {
		if p := w.Player("Tester"); p != nil && p.Position().Sub(home).Len() > 0.4 {
			p.Teleport(home, p.Rotation())
		}
		return false
	})
}

func TestLookAt(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		st := play(t, server.Config{Protocol: p}, nil)
		t.Run("SE-07_DC-11/one packet within a degree, and no receipt without a witness", func(t *testing.T) {
			st := st.in(t)
			before, rots := st.sent(), len(rotations(st))
			point := geom.Vec3{3.5, -58.5, 7.5}
			e := st.effect(effects.LookAtRequest{Point: effects.Point(point)})
			st.wants(e, effects.Proven, effects.Processed, 0)
			if w := st.sent() - before; w != 1 || len(rotations(st))-rots != 1 {
				t.Errorf("W=%d, %d rotations reached the server", w, len(rotations(st))-rots)
			}
			_, look := st.where()
			eye := geom.Vec3{0.5, -60, 0.5}.Add(geom.Vec3{0, geom.EyeStanding, 0})
			cos := look.Vector().Dot(point.Sub(eye).Normalize())
			if off := math.Acos(min(1, cos)) * 180 / math.Pi; off > 1 {
				t.Errorf("the server has it looking %v, %.2f degrees off", look, off)
			}
		})
	}
	t.Run("DC-11/unverified where the profile wants a proof and nobody looks on", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) {
			c.Terms.Grades[effects.LookAt] = actor.Grades{Least: effects.Observed, Reachable: effects.Observed}
		})
		e := st.effect(effects.LookAtRequest{Point: effects.Point{5, -59, 5}})
		st.wants(e, effects.UnverifiedEffect, effects.Processed, 0)
	})
}

func rotations(st *stage) (out []geom.Rotation) {
	for _, p := range packets[*wire.MovePlayerRot](st) {
		out = append(out, p.Rotation)
	}
	return out
}

// TestWitness: with a second connection that looks on, gestures reach a receipt.
func TestWitness(t *testing.T) {
	t.Parallel()
	st := watched(t)
	t.Run("DC-10/a witness sees the walk's end", func(t *testing.T) {
		st := st.in(t)
		st.s.Do(func(w *server.World) { w.FreezeStats(true) })
		e := st.effect(effects.MoveToRequest{Pos: effects.Position{X: 3, Y: -60, Z: 1}})
		st.s.Do(func(w *server.World) { w.FreezeStats(false) })
		st.wants(e, effects.Proven, effects.Acknowledged, 1)
	})
	t.Run("DC-11_SE-07/a witness sees the look", func(t *testing.T) {
		st := st.in(t)
		e := st.effect(effects.LookAtRequest{Point: effects.Point{-3, -59, 4}})
		st.wants(e, effects.Proven, effects.Acknowledged, 1)
	})
	t.Run("DC-13_SE-09/a witness sees the item in the hand", func(t *testing.T) {
		st := st.in(t)
		st.give(4, "minecraft:brick_wall", 12)
		e := st.effect(effects.EquipRequest{Item: "minecraft:brick_wall"})
		st.wants(e, effects.Proven, effects.Acknowledged, 1)
	})
}

// watched is a stage with a witness.
func watched(t *testing.T) *stage {
	t.Helper()
	s := start(t, server.Config{Protocol: registry.Latest, GameMode: worldstate.Creative, Tick: serverTick, ViewDistance: 3, LogPackets: true})
	st := &stage{t: t, s: s, tick: fastTick, j: newJournal(t)}
	st.join(func(c *actor.Config) { c.Witness = st.witness() })
	return st
}

func TestSay(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		st := play(t, server.Config{Protocol: p}, nil)
		t.Run("SE-08_DC-12/the own line comes back", func(t *testing.T) {
			st := st.in(t)
			before := st.sent()
			e := st.effect(effects.SayRequest{Text: "hello from the plot"})
			st.wants(e, effects.Proven, effects.Acknowledged, 1)
			if w, n := st.sent()-before, len(packets[*wire.Chat](st)); w != 1 || n != 1 {
				t.Errorf("W=%d, %d lines reached the server", w, n)
			}
		})
	}
	t.Run("SE-08_SE-50/no commands, no whispers, no long lines", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		for _, text := range []string{"/op me", " /msg Eve hi", "/tell Eve hi", "/w Eve hi", "/teammsg hi", "/minecraft:me x", "", " ",
			"a\nb", "\u00a7cred", strings.Repeat("x", 257), strings.Repeat("\U0001F600", 129)} {
			if _, err := st.do(effects.SayRequest{Text: text}); !errors.Is(err, effects.ErrBadRequest) {
				t.Errorf("%.20q: %v", text, err)
			}
		}
		if st.sent() != 0 || len(packets[*wire.ChatCommand](st))+len(packets[*wire.Chat](st)) != 0 {
			t.Error("something was sent")
		}
		st.wants(st.effect(effects.SayRequest{Text: strings.Repeat("x", 256)}), effects.Proven, effects.Acknowledged, 1)
	})
	t.Run("DC-12/another's line with our text is not ours", func(t *testing.T) {
		t.Parallel()
		st := play(t, server.Config{Faults: faults(t, "ignore:chat")}, nil)
		st.parrot(func(w *server.World) { w.Pretend(worldstate.UUID{9}, "Eve", "good morning") })
		st.wants(st.effect(effects.SayRequest{Text: "good morning"}), effects.UnverifiedEffect, effects.Observed, 0)
	})
	t.Run("DC-12/our name over another text is not our line", func(t *testing.T) {
		t.Parallel()
		st := play(t, server.Config{Faults: faults(t, "ignore:chat")}, nil)
		st.parrot(func(w *server.World) { w.Pretend(w.Player("Tester").UUID(), "Tester", "good evening") })
		e := st.effect(effects.SayRequest{Text: "good morning"})
		st.wants(e, effects.UnverifiedEffect, effects.GradeNone, 0)
		if e.Code != effects.CodeEchoAltered {
			t.Error(e.Why)
		}
	})
	t.Run("DC-12/rewritten as a system line", func(t *testing.T) {
		t.Parallel()
		st := play(t, server.Config{ChatAs: server.ChatAsSystem}, nil)
		st.wants(st.effect(effects.SayRequest{Text: "good morning"}), effects.UnverifiedEffect, effects.GradeNone, 0)
	})
}

// parrot makes the server say something as soon as a chat packet has come.
func (st *stage) parrot(say func(*server.World)) {
	st.meanwhile(func(w *server.World) bool {
		heard := len(packets[*wire.Chat](st)) > 0
		if heard {
			say(w)
		}
		return heard
	})
}

func TestEquip(t *testing.T) {
	t.Parallel()
	t.Run("SE-09/creative, survival: the hotbar and nothing else", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(3, "minecraft:oak_planks", 9)
		e := st.effect(effects.EquipRequest{Item: "minecraft:oak_planks"})
		st.wants(e, effects.Proven, effects.Processed, 0)
		if st.held() != 3 {
			t.Errorf("slot %d is held", st.held())
		}
		st.wants(st.effect(effects.EquipRequest{Item: "minecraft:stone"}), effects.Proven, effects.Processed, 0)
		for _, p := range packets[*wire.SetCreativeModeSlot](st) {
			if p.Slot < 36 || p.Slot > 44 {
				t.Errorf("slot %d is not in the hotbar", p.Slot)
			}
		}
		st.survival()
		st.s.Do(func(w *server.World) { w.Player("Tester").Give(20, "minecraft:bricks", 5) })
		await(t, st.b, "bricks", func(tx *bot.Tx) bool { return tx.View().Inventory().Slots[20].Stack.Count == 5 })
		st.effect(effects.EquipRequest{Item: "minecraft:bricks"})
		for _, p := range packets[*wire.ContainerClick](st) {
			if p.Slot != -1 && (p.Window != 0 || p.Mode != 2 || p.Slot < 9 || p.Slot > 44) {
				t.Errorf("a click that is no swap with the hotbar: %+v", p)
			}
		}
		if armour := st.slots(5, 9); armour != 0 {
			t.Errorf("%d items went into the armour", armour)
		}
	})
	t.Run("DC-13/a snapshot alone is only processed, with the held slot it is a proof", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(2, "minecraft:grass_block", 5) // the bot stands on its kind, so the server can be asked for the slot
		st.wants(st.effect(effects.EquipRequest{Item: "minecraft:grass_block"}), effects.Proven, effects.Acknowledged, 1)
		st.give(5, "minecraft:torch", 5)
		st.wants(st.effect(effects.EquipRequest{Item: "minecraft:torch"}), effects.Proven, effects.Processed, 0)
	})
	t.Run("DC-13/a server that shows something else refuses", func(t *testing.T) {
		st := play(t, server.Config{Faults: faults(t, "ignore:set_creative_mode_slot")}, nil)
		st.wants(st.effect(effects.EquipRequest{Item: "minecraft:stone"}), effects.Refused, effects.GradeNone, 0)
	})
	t.Run("SE-48/no weapons, no fire, no buckets in the hand", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.denied(effects.EquipRequest{Item: "minecraft:flint_and_steel"}, sentinel.RuleFire)
		st.denied(effects.EquipRequest{Item: "minecraft:lava_bucket"}, sentinel.RuleLava)
		st.denied(effects.EquipRequest{Item: "minecraft:tnt"}, sentinel.RuleExplosives)
		if st.sent() != 0 {
			t.Errorf("W=%d", st.sent())
		}
	})
}

func TestPlaceBlock(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		st := play(t, server.Config{Protocol: p}, nil)
		t.Run("SE-10_DC-08/the full state gives exactly one receipt", func(t *testing.T) {
			st := st.in(t)
			for i, c := range []struct {
				z    int32
				want string
			}{
				{-2, "minecraft:stone"},
				{0, "minecraft:oak_stairs[facing=west,half=bottom,shape=straight,waterlogged=false]"},
				{-1, "minecraft:oak_log[axis=z]"}, // by a click on the stone's side
			} {
				want := c.want
				item, _, _ := strings.Cut(want, "[")
				st.give(i, item, 8)
				e := st.effect(place(2, -60, c.z, want))
				st.wants(e, effects.Proven, effects.Attributed, 1)
				if got := st.block(cell(2, -60, c.z)); got != want {
					t.Errorf("the server has %s, asked was %s", got, want)
				}
			}
			if done, all := st.executed(); done != 3 || all != 3 {
				t.Errorf("%d uses executed of %d", done, all)
			}
			res, _ := st.do(effects.WorldStatusRequest{})
			if s := res.(actor.WorldStatus); s.Cursor.Count != 3 || !s.CursorHolds || s.Left.Uses != 97 {
				t.Errorf("cursor %+v holds %v, %d uses left", s.Cursor, s.CursorHolds, s.Left.Uses)
			}
		})
	}
	t.Run("SE-10/what no click can make is refused before anything is sent", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:torch", 3)
		_, err := st.do(place(2, -58, 0, "minecraft:torch"))
		if !errors.Is(err, actor.ErrNoClick) || st.sent() != 0 {
			t.Errorf("%v, W=%d", err, st.sent())
		}
	})
}
