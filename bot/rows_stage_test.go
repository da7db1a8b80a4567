package bot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/bot/wire"
	"blockworld/effects"
	games "blockworld/fixtures/play"
	"blockworld/fixtures/server"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// stage is a bot with an actor on an embedded server, standing in the middle of a plot on the grass.
type stage struct {
	t    *testing.T
	s    *server.Server
	b    *bot.Bot
	a    *actor.Actor
	j    *journal.Journal
	rec  journal.Mission
	tick time.Duration
}

// The plot's boxes: grass is at y -61, the bot starts at 0,-60,0.
var stageBuild = geom.BlockBox{Min: geom.BlockPos{X: -3, Y: -60, Z: -3}, Max: geom.BlockPos{X: 4, Y: -56, Z: 4}}

// fastTick keeps the tests short. The server's ticks are shorter than the bot's, so that a busy machine does not make an
// acknowledgement, which waits for the server's tick, look late.
const (
	fastTick   = 20 * time.Millisecond
	serverTick = 8 * time.Millisecond
)

// bothOrders is one protocol of each of the two orders in which servers run packets: between ticks, and at a tick's start.
var bothOrders = []registry.Protocol{registry.V1_21_7, registry.Latest}

// fullTerms are those of a server that proves everything vanilla can.
func fullTerms() actor.Terms {
	return actor.Terms{
		Fence: true, Policy: sentinel.PinOf("test"), Used: effects.UsedCounts,
		Grades: map[effects.Capability]actor.Grades{
			effects.MoveTo:     {Least: effects.Processed, Reachable: effects.Acknowledged},
			effects.LookAt:     {Least: effects.Processed, Reachable: effects.Processed},
			effects.Say:        {Least: effects.Acknowledged, Reachable: effects.Acknowledged},
			effects.Equip:      {Least: effects.Processed, Reachable: effects.Acknowledged},
			effects.PlaceBlock: {Least: effects.Attributed, Reachable: effects.Attributed},
		},
	}
}

// play starts a server and a bot with an actor. Change may alter what the actor rests on.
func play(t *testing.T, c server.Config, change func(*actor.Config)) *stage {
	t.Helper()
	if c.Protocol == 0 {
		c.Protocol = registry.Latest
	}
	if c.GameMode == worldstate.GameModeUnknown {
		c.GameMode = worldstate.Creative
	}
	c.Tick, c.ViewDistance, c.LogPackets, c.NoSpamKick = serverTick, 3, true, true
	c.KeepAlive = 1 << 30 // ticks are short, the machine may be busy
	st := &stage{t: t, s: start(t, c), tick: fastTick, j: newJournal(t)}
	st.join(change)
	return st
}

// join makes a session with an actor of the stage's journal.
func (st *stage) join(change func(*actor.Config)) {
	t := st.t
	t.Helper()
	o := options(t, st.s)
	o.Tick, o.Protocol = st.tick, st.s.Protocol()
	var identity string
	o.Entered = func(id bot.Identity) error { identity = id.String(); return nil }
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	b, err := bot.Join(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	st.rec = journal.Mission{
		ID: effects.MissionID{7}, Server: identity, Scope: "tester@stage", Dimension: "minecraft:overworld",
		Plan: effects.Digest{1}, Plot: sentinel.PlotOf(stageBuild),
		Budgets: effects.Budgets{Uses: 100, Quantity: 100, Distance: 1000, Characters: 1000},
	}
	cfg := actor.Config{Journal: st.j, Record: st.rec, Terms: fullTerms()}
	if change != nil {
		change(&cfg)
	}
	st.rec = cfg.Record
	if err := st.j.PutMission(st.rec); err != nil {
		t.Fatal(err)
	}
	if st.a, err = actor.New(b, cfg); err != nil {
		t.Fatal(err)
	}
	st.b = b
	ended := make(chan struct{})
	go func() { b.Run(context.Background()); close(ended) }()
	t.Cleanup(func() { b.Close(); <-ended })
	await(t, b, "ready on the ground", func(tx *bot.Tx) bool { return tx.Ready() && tx.Player().OnGround })
}

// in is the stage for a subtest.
func (st *stage) in(t *testing.T) *stage {
	sub := *st
	sub.t = t
	return &sub
}

// do carries out a request; errors are the caller's.
func (st *stage) do(r effects.Request) (actor.Result, error) {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), 20*time.Second)
	defer cancel()
	return st.a.Do(ctx, r)
}

// effect carries out an effect that the guard admits.
func (st *stage) effect(r effects.Request) actor.Effect {
	st.t.Helper()
	res, err := st.do(r)
	if err != nil {
		st.t.Fatalf("%s: %v", r.Capability(), err)
	}
	return res.(actor.Effect)
}

// denied wants the guard to refuse by this rule.
func (st *stage) denied(r effects.Request, rule sentinel.RuleID) {
	st.t.Helper()
	_, err := st.do(r)
	var d *actor.Denied
	if !errors.As(err, &d) {
		st.t.Errorf("%s was not denied: %v", r.Capability(), err)
		return
	}
	if d.Decision.Rule != rule {
		st.t.Errorf("%s: want the rule %s, got: %v", r.Capability(), rule, err)
	}
}

// sent is W: the packets that needed an admission.
func (st *stage) sent() uint64 {
	st.t.Helper()
	return snapshot(st.t, st.b).Sent.Effects()
}

// record is what the journal holds of an action: its receipts (0 or 1) and its attempts.
func (st *stage) record(e actor.Effect) (receipts int, attempts []effects.Attempt) {
	st.t.Helper()
	_, ok, err := st.j.Receipt(e.Action)
	if err != nil {
		st.t.Fatal(err)
	}
	if ok {
		receipts = 1
	}
	attempts, err = st.j.Attempts(e.Action)
	if err != nil {
		st.t.Fatal(err)
	}
	return receipts, attempts
}

// give puts a stack into the bot's hotbar and waits until the bot knows.
func (st *stage) give(slot int, item string, n int32) {
	st.t.Helper()
	st.s.Do(func(w *server.World) { w.Player("Tester").Give(36+slot, item, n) })
	await(st.t, st.b, item+" in the hotbar", func(tx *bot.Tx) bool {
		s := tx.View().Inventory().Slots[36+slot]
		it := tx.Registry().ItemByID(s.Stack.Item)
		return s.Known && s.Stack.Count == n && it != nil && it.Name == item
	})
}

// put sets a block as somebody else would and waits until the bot has seen it.
func (st *stage) put(pos geom.BlockPos, state string) {
	st.t.Helper()
	want, err := st.s.Registry().ParseState(state)
	if err != nil {
		st.t.Fatal(err)
	}
	st.s.Do(func(w *server.World) { w.SetBlock(pos, want) })
	await(st.t, st.b, state+" seen", func(tx *bot.Tx) bool { got, ok := tx.View().Block(pos); return ok && got == want })
}

// block is what stands in a cell on the server.
func (st *stage) block(pos geom.BlockPos) (state string) {
	st.s.Do(func(w *server.World) { state = st.s.Registry().FormatState(w.Block(pos)) })
	return state
}

// executed counts the uses that the server carried out, and all that reached it.
func (st *stage) executed() (done, all int) {
	for _, u := range st.s.Log() {
		if all++; u.Executed {
			done++
		}
	}
	return done, all
}

// packets counts the server's packets of some kinds.
func packets[P wire.Packet](st *stage) (out []P) {
	for _, e := range st.s.Packets() {
		if p, ok := e.Packet.(P); ok && e.Player == "Tester" {
			out = append(out, p)
		}
	}
	return out
}

// effectPackets counts what the server received of the packets that only an effect sends.
func effectPackets(st *stage) (n int) {
	for _, e := range st.s.Packets() {
		switch p := e.Packet.(type) {
		case *wire.UseItemOn, *wire.Swing, *wire.Chat, *wire.SetCarriedItem, *wire.SetCreativeModeSlot, *wire.PickItemFromBlock,
			*wire.PlayerCommand, *wire.MovePlayerRot:
			n++
		case *wire.ContainerClick:
			if p.Slot != -1 {
				n++
			}
		}
	}
	return n
}

func place(x, y, z int32, state string) effects.PlaceBlockRequest {
	return effects.PlaceBlockRequest{Pos: effects.Position{X: x, Y: y, Z: z}, State: state}
}

func cell(x, y, z int32) geom.BlockPos { return geom.BlockPos{X: x, Y: y, Z: z} }

func newJournal(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// witness joins a second bot that watches the first. Offline ids follow from the name, so they are known before it joins.
func (st *stage) witness() *actor.Watcher {
	t := st.t
	t.Helper()
	o := options(t, st.s)
	o.Username, o.Tick, o.Protocol = "Witness", st.tick, st.s.Protocol()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	b, err := bot.Join(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	var who worldstate.UUID
	st.s.Do(func(w *server.World) { who = w.Player("Tester").UUID() })
	watch := actor.Watch(b, who)
	ended := make(chan struct{})
	go func() { b.Run(context.Background()); close(ended) }()
	t.Cleanup(func() { b.Close(); <-ended })
	await(t, b, "the bot is seen", func(tx *bot.Tx) bool { _, ok := tx.View().EntityByUUID(who); return ok })
	return watch
}

// cancelled begins a request and leaves before it is done.
func (st *stage) cancelled(r effects.Request) {
	st.t.Helper()
	ctx, cancel := context.WithCancel(st.t.Context())
	defer cancel()
	over := make(chan error, 1)
	go func() { _, err := st.a.Do(ctx, r); over <- err }()
	await(st.t, st.b, "it is under way", func(tx *bot.Tx) bool { return tx.Snapshot().Walking })
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		st.t.Errorf("got %v", err)
	}
}

func (st *stage) survival() {
	st.t.Helper()
	st.s.Do(func(w *server.World) { w.Player("Tester").SetGameMode(worldstate.Survival) })
	await(st.t, st.b, "survival", func(tx *bot.Tx) bool { return tx.View().Self().GameMode == worldstate.Survival })
}

// held is the selected slot by the server's word.
func (st *stage) held() (slot int) {
	st.s.Do(func(w *server.World) { slot = w.Player("Tester").Held() })
	return slot
}

// slots counts the items in a range of the server's slots.
func (st *stage) slots(from, to int) (n int32) {
	st.s.Do(func(w *server.World) {
		for i := from; i < to; i++ {
			n += w.Player("Tester").Slot(i).Count
		}
	})
	return n
}

// meanwhile looks at the server once a tick, until f says that it is done or the test ends.
func (st *stage) meanwhile(f func(*server.World) bool) {
	games.Meanwhile(st.t, st.s, serverTick, f)
}
