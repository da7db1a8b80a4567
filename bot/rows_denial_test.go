package bot_test

import (
	"fmt"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/fixtures/server"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// fiveRequests is one request of each effect that a stage carries out as soon as it holds a stone.
func fiveRequests() []effects.Request {
	return []effects.Request{
		effects.MoveToRequest{Pos: effects.Position{X: 2, Y: -60, Z: 3}},
		effects.LookAtRequest{Point: effects.Point{4, -58, 9}},
		effects.SayRequest{Text: "hello"},
		effects.EquipRequest{Item: "minecraft:stone"},
		place(2, -60, 0, "minecraft:stone"),
	}
}

// TestDenialMatrixOnTheWire: each of the five effects is refused for each of the four reasons, and no packet of an effect
// reaches the server.
func TestDenialMatrixOnTheWire(t *testing.T) {
	t.Parallel()
	far := geom.BlockBox{Min: cell(20, -60, 20), Max: cell(24, -56, 24)}
	for _, reason := range []struct {
		name    string
		faults  string
		change  func(*actor.Config)
		prepare func(*stage)
		rules   [5]sentinel.RuleID
	}{
		{"plot", "", func(c *actor.Config) { c.Record.Plot = sentinel.PlotOf(far) }, nil,
			[5]sentinel.RuleID{sentinel.RulePathOutside, sentinel.RuleSelfOutside, sentinel.RuleSelfOutside, sentinel.RuleSelfOutside, sentinel.RuleOutsideBuildBox}},
		{"cursor", "", nil, edited, all(sentinel.RuleCursorStale)},
		{"inventory", "drop:container_set_content", nil, nil, all(sentinel.RuleInventoryUnsynced)},
		{"budget", "", func(c *actor.Config) { c.Record.Budgets.Uses = 0 }, nil, all(sentinel.RuleBudgetCount)},
	} {
		st := play(t, server.Config{Faults: faults(t, reason.faults)}, reason.change)
		if reason.faults == "" {
			st.give(0, "minecraft:stone", 64)
		}
		if reason.prepare != nil {
			reason.prepare(st)
		}
		for i, r := range fiveRequests() {
			t.Run(fmt.Sprintf("DC-06/%s %s", r.Capability(), reason.name), func(t *testing.T) {
				st := st.in(t)
				w, n := st.sent(), effectPackets(st)
				at, look := st.where()
				st.denied(r, reason.rules[i])
				if got := st.sent() - w; got != 0 {
					t.Errorf("W=%d", got)
				}
				st.s.Step(3)
				if got := effectPackets(st) - n; got != 0 {
					t.Errorf("%d packets of an effect reached the server", got)
				}
				if now, turned := st.where(); now != at || turned != look {
					t.Errorf("the bot went from %v %v to %v %v", at, look, now, turned)
				}
				if _, uses := st.executed(); uses > 1 { // one of them prepared the stage
					t.Errorf("%d uses reached the server", uses)
				}
			})
		}
	}
	t.Run("DC-06/the same five are admitted when nothing is wrong", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		for _, r := range fiveRequests() {
			if e := st.effect(r); e.Verdict != effects.Proven {
				t.Errorf("%s: %s", e.Capability, e.Why)
			}
		}
	})
	t.Run("DC-06/each effect's own budget", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) {
			c.Record.Budgets = effects.Budgets{Uses: 50, Distance: 2, Characters: 4}
		})
		st.give(0, "minecraft:stone", 64)
		r := fiveRequests()
		st.denied(r[0], sentinel.RuleBudgetDistance)
		st.denied(r[2], sentinel.RuleBudgetCharacters)
		st.denied(r[4], sentinel.RuleBudgetQuantity)
		if st.sent() != 0 {
			t.Errorf("W=%d", st.sent())
		}
	})
}

func all(r sentinel.RuleID) [5]sentinel.RuleID { return [5]sentinel.RuleID{r, r, r, r, r} }

// edited places a stone, which somebody then takes away.
func edited(st *stage) {
	st.t.Helper()
	st.wants(st.effect(place(1, -60, 2, "minecraft:stone")), effects.Proven, effects.Attributed, 1)
	st.put(cell(1, -60, 2), "air")
}

func TestCursorIsTheOwnersWord(t *testing.T) {
	t.Parallel()
	t.Run("SE-19/an edit of the plot stales it until the owner takes the world as it is", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		edited(st)
		st.denied(place(2, -60, 0, "minecraft:stone"), sentinel.RuleCursorStale)
		if err := st.a.TakeWorldAsItIs(t.Context()); err != nil {
			t.Fatal(err)
		}
		st.wants(st.effect(place(2, -60, 0, "minecraft:stone")), effects.Proven, effects.Attributed, 1)
	})
}

func TestOffered(t *testing.T) {
	t.Parallel()
	t.Run("SE-12/a profile of six offers no other four", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) {
			c.Terms.Grades = map[effects.Capability]actor.Grades{effects.PlaceBlock: {Least: effects.Attributed, Reachable: effects.Attributed}}
		})
		st.give(0, "minecraft:stone", 64)
		for _, r := range fiveRequests()[:4] {
			st.denied(r, sentinel.RuleNotOffered)
		}
		if st.sent() != 0 {
			t.Errorf("W=%d", st.sent())
		}
		st.wants(st.effect(fiveRequests()[4]), effects.Proven, effects.Attributed, 1)
	})
	t.Run("SE-13/offered but not allowed", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) { c.Policy = sentinel.Reads | sentinel.CapabilitySet(effects.LookAt) })
		st.give(0, "minecraft:stone", 64)
		for i, r := range fiveRequests() {
			if i != 1 {
				st.denied(r, sentinel.RuleNotInPolicy)
			}
		}
		st.effect(fiveRequests()[1])
	})
	t.Run("SE-13/nothing offered is reads only", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) { c.Terms.Grades = nil })
		for _, r := range fiveRequests() {
			st.denied(r, sentinel.RuleNotOffered)
		}
		if _, err := st.do(effects.WorldStatusRequest{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("SE-14/a grade that the session cannot reach is refused", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) {
			c.Terms.Grades[effects.PlaceBlock] = actor.Grades{Least: effects.Attributed, Reachable: effects.Observed}
		})
		st.give(0, "minecraft:stone", 64)
		st.denied(fiveRequests()[4], sentinel.RuleGradeOutOfReach)
	})
}

// TestBindings: what the mark of an action says is what was asked, where, by whom, and under which limits.
func TestBindings(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Hour)
	st := play(t, server.Config{}, func(c *actor.Config) { c.Deadline = deadline })
	st.give(0, "minecraft:stone", 64)
	first := st.effect(place(1, -60, 2, "minecraft:stone"))
	second := st.effect(place(2, -60, 0, "minecraft:stone"))
	m, ok, err := st.j.Newest(st.rec.Scope)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	b := m.Binding
	id := snapshot(t, st.b)
	t.Run("SE-16_SE-17_SE-18/ids, bot, server, revisions", func(t *testing.T) {
		if b.Action != second.Action || b.Action == first.Action || b.Mission != st.rec.ID {
			t.Errorf("action %s of mission %s", b.Action, b.Mission)
		}
		if b.Bot != id.Account || b.Mode != effects.Attached || b.Server != id.Identity.String() {
			t.Errorf("bot %x, mode %s, server %q", b.Bot, b.Mode, b.Server)
		}
		if b.PlanRevision != st.rec.Plan || b.AdapterRevision != actor.AdapterRevision {
			t.Errorf("plan %s, adapter %q", b.PlanRevision, b.AdapterRevision)
		}
	})
	t.Run("SE-19_SE-20/lease, precondition, cursor, deadline, budgets, postcondition", func(t *testing.T) {
		if b.Lease == "" || b.Precondition == (effects.Digest{}) || b.Cursor == nil || b.Cursor.Count != 1 || b.Cursor.Hash == 0 {
			t.Errorf("lease %q, precondition %s, cursor %+v", b.Lease, b.Precondition, b.Cursor)
		}
		if b.Deadline.UnixMilli != deadline.UnixMilli() || b.Budgets.Uses != 99 || b.Budgets.Quantity != 99 {
			t.Errorf("deadline %+v, budgets %+v", b.Deadline, b.Budgets)
		}
		want, _ := st.s.Registry().ParseState("stone")
		cells, ok := b.Postcondition.(effects.CellsBecome)
		if !ok || len(cells.Cells) != 1 || cells.Cells[0].Pos != cell(2, -60, 0) || cells.Cells[0].To != want || cells.Cells[0].From != 0 {
			t.Errorf("postcondition %+v", b.Postcondition)
		}
	})
	t.Run("SE-16/the receipt names the same action, mission and binding", func(t *testing.T) {
		r, ok, err := st.j.Receipt(second.Action)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if o := r.Outcome; o.Action != b.Action || o.Mission != b.Mission || o.Binding != b.Digest() || o.Bot != b.Bot || o.Server != b.Server {
			t.Errorf("%+v", o)
		}
	})
	t.Run("SE-20/after the deadline nothing is admitted", func(t *testing.T) {
		late := play(t, server.Config{}, func(c *actor.Config) { c.Deadline = time.Now().Add(-time.Second) })
		late.give(0, "minecraft:stone", 64)
		for _, r := range fiveRequests() {
			late.denied(r, sentinel.RuleDeadline)
		}
	})
	t.Run("SE-17_SE-18/another server than the mission's is refused", func(t *testing.T) {
		elsewhere := play(t, server.Config{}, func(c *actor.Config) { c.Record.Server = "elsewhere:25565 (seed hash 1)" })
		elsewhere.give(0, "minecraft:stone", 64)
		for _, r := range fiveRequests() {
			elsewhere.denied(r, sentinel.RuleServerIdentity)
		}
	})
}

// TestOnlyNarrowed: whatever is asked, what happens is what was asked or nothing.
func TestOnlyNarrowed(t *testing.T) {
	t.Parallel()
	t.Run("SE-25/random placements", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		states := []string{"minecraft:stone", "minecraft:oak_log[axis=y]", "minecraft:oak_planks", "minecraft:torch"}
		for i, s := range []string{"stone", "oak_log", "oak_planks", "torch"} {
			st.give(i, "minecraft:"+s, 64)
		}
		placed, refused := 0, 0
		for i := range int32(40) {
			pos := cell(i*5%9-4, -60+i%5/4, i*7%11-5)
			want := states[i%4]
			_, before := st.executed()
			res, err := st.do(effects.PlaceBlockRequest{Pos: effects.Position(pos), State: want})
			uses := st.s.Log()[before:]
			if err != nil {
				refused++
				if len(uses) != 0 {
					t.Errorf("%s at %v: %v, and yet %d uses", want, pos, err, len(uses))
				}
				continue
			}
			placed++
			if e := res.(actor.Effect); e.Verdict != effects.Proven || len(uses) != 1 || len(uses[0].Cells) != 1 || uses[0].Cells[0].Pos != pos || uses[0].Cells[0].To != want {
				t.Errorf("asked %s at %v: %s, uses %+v", want, pos, e.Why, uses)
			}
			if !stageBuild.Contains(pos) {
				t.Errorf("placed at %v, outside the build box", pos)
			}
		}
		if placed < 3 || refused < 3 {
			t.Errorf("%d placed, %d refused: the sample says nothing", placed, refused)
		}
	})
}

// TestPreconditions: a use that could go wrong by what stands there is never sent.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	st := play(t, server.Config{}, nil)
	st.give(0, "minecraft:stone", 64)
	st.give(1, "minecraft:tnt", 64)
	st.give(2, "minecraft:water_bucket", 1)
	for _, c := range []struct {
		name    string
		prepare func()
		ask     effects.Request
		rule    sentinel.RuleID
	}{
		{"SE-47/a plant would be lost", func() { st.put(cell(1, -60, 3), "short_grass") }, place(1, -60, 3, "minecraft:stone"), sentinel.RuleReplaces},
		{"SE-48/explosives", nil, place(2, -60, 0, "minecraft:tnt[unstable=false]"), sentinel.RuleExplosives},
		{"SE-26/an entity stands there", func() {
			st.other("Blocker")
			st.s.Do(func(w *server.World) { w.Player("Blocker").Teleport(geom.Vec3{2.5, -60, 2.5}, geom.Rotation{}) })
			await(t, st.b, "the blocker is there", func(tx *bot.Tx) bool {
				e := tx.View().Entities()
				return len(e) == 1 && geom.BlockAt(e[0].Position) == cell(2, -60, 2)
			})
		}, place(2, -60, 2, "minecraft:stone"), sentinel.RuleEntityInTheWay},
		{"SE-26/out of reach", nil, place(4, -60, 4, "minecraft:stone"), sentinel.RuleReach},
		{"SE-26/not in the hand", nil, place(-2, -60, 0, "minecraft:bricks"), sentinel.RuleItemMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := st.in(t)
			if c.prepare != nil {
				c.prepare()
			}
			w := st.sent()
			st.denied(c.ask, c.rule)
			if st.sent() != w {
				t.Error("it was sent")
			}
		})
	}
	t.Run("SE-47/what the owner named may be built over", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) { c.MayReplace = []string{"minecraft:short_grass"} })
		st.give(0, "minecraft:stone", 64)
		st.put(cell(1, -60, 3), "short_grass")
		st.wants(st.effect(place(1, -60, 3, "minecraft:stone")), effects.Proven, effects.Attributed, 1)
	})
	t.Run("SE-47/an item with data of its own is never placed", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.s.Do(func(w *server.World) {
			stone, _ := st.s.Registry().Item("minecraft:stone")
			w.Player("Tester").GiveStack(36, wire.ItemStack{Item: stone.ID, Count: 5, Components: []byte{1, 0, 1, 64}}) // one component: max_stack_size 64
		})
		await(t, st.b, "it is there", func(tx *bot.Tx) bool { return tx.View().Inventory().Slots[36].Stack.Count == 5 })
		st.denied(place(2, -60, 0, "minecraft:stone"), sentinel.RuleItemNotPlain)
	})
	t.Run("SE-12/a spectator's hands are tied", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		st.s.Do(func(w *server.World) { w.Player("Tester").SetGameMode(worldstate.Spectator) })
		await(t, st.b, "spectator", func(tx *bot.Tx) bool { return tx.View().Self().GameMode == worldstate.Spectator })
		st.denied(fiveRequests()[4], sentinel.RuleUnable)
	})
}

// TestContainers: no window is ever opened or clicked in.
func TestContainers(t *testing.T) {
	t.Parallel()
	t.Run("SE-51/a block goes onto a chest without opening it", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		st.put(cell(2, -60, 0), "chest[facing=west]")
		st.wants(st.effect(place(2, -59, 0, "minecraft:stone")), effects.Proven, effects.Attributed, 1)
		for _, u := range st.s.Log() {
			if u.Why != server.WhyPlaced {
				t.Errorf("a use that %s", u.Why)
			}
		}
		if n := len(packets[*wire.ContainerClose](st)); n != 0 {
			t.Errorf("%d windows had to be closed", n)
		}
	})
	t.Run("SE-51/a window that the server opens is closed and left alone", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.s.Do(func(w *server.World) {
			w.Player("Tester").Send(&wire.OpenScreen{Window: 5, Type: 2, Title: wire.Literal("loot")})
		})
		await(t, st.b, "it is closed", func(*bot.Tx) bool { return len(packets[*wire.ContainerClose](st)) == 1 })
		for _, c := range packets[*wire.ContainerClick](st) {
			if c.Window != 0 {
				t.Errorf("a click in window %d", c.Window)
			}
		}
		if st.sent() != 0 {
			t.Errorf("W=%d", st.sent())
		}
	})
}

func TestExposure(t *testing.T) {
	t.Run("SE-52/other machines are kept out unless asked for", func(t *testing.T) {
		for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
			if s, err := server.Start(server.Config{Protocol: 775, Listen: address}); err == nil {
				s.Close()
				t.Errorf("%s was opened to everybody", address)
			}
		}
	})
}

// TestStop: the emergency stop.
func TestStop(t *testing.T) {
	t.Parallel()
	t.Run("SE-20/nothing is sent after it", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		st.a.Stop()
		for _, r := range fiveRequests() {
			st.denied(r, sentinel.RuleEmergencyStop)
		}
		if open, err := st.j.Unresolved(st.rec.ID); err != nil || len(open) != 0 {
			t.Errorf("%d marks, %v", len(open), err)
		}
		if a, ok, _ := st.j.Newest(st.rec.Scope); ok {
			t.Errorf("a denied action was marked: %+v", a)
		}
	})
}
