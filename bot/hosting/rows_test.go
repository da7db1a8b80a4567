package hosting_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"blockworld/bot/actor"
	"blockworld/bot/hosting"
	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/geom"
)

// TestSingleActions: what is asked, bound, delivered and done.
func TestSingleActions(t *testing.T) {
	t.Parallel()
	st := set(t, server.Config{}).start()
	st.hold()
	t.Run("traffic of the session is published", func(t *testing.T) {
		p := st.ready()
		if tr := p.Traffic; tr.PacketsIn == 0 || tr.PacketsOut == 0 || tr.BytesIn <= tr.PacketsIn || tr.BytesOut <= tr.PacketsOut {
			t.Errorf("%+v", tr)
		}
	})
	t.Run("CP-11/a bind sends nothing and previews block, item, count and plot", func(t *testing.T) {
		n := st.effectPackets()
		op := st.bound(placing(2, -60, 0, "minecraft:stone"))
		if got := st.effectPackets() - n; got != 0 {
			t.Errorf("W=%d during bind", got)
		}
		v := op.bound.Effects[0]
		if v.Kind != "world.place" || v.Block != "minecraft:stone" || v.Item != "minecraft:stone" || v.Quantity != 1 || v.Scope != "garden" || v.Ownership != "own" {
			t.Errorf("%+v", v)
		}
	})
	t.Run("CP-11/a bind names a publication that has arrived, not one under way", func(t *testing.T) {
		held, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		st.d.say(func() {
			st.d.under = func() {
				once.Do(func() { close(held) })
				<-release
			}
		})
		looking := host.Action{Capability: "look_at", Arguments: json.RawMessage(`{"point": [9, -60, 4]}`)}
		op := st.bound(looking)
		st.d.deliver(op)
		<-held // the new look is told just now
		op, answer := st.bind(looking)
		st.d.say(func() { st.d.under = nil })
		all := st.d.publications["builder-1"]
		newest := all[len(all)-1].Sequence
		close(release)
		if answer.Code != "" {
			t.Fatalf("%+v", answer)
		}
		if op.bound.Sequence != newest {
			t.Errorf("bound at publication %d, and %d is the newest that has arrived", op.bound.Sequence, newest)
		}
	})
	t.Run("CP-56_CP-86/what is carried out is the binding, and its one outcome comes from the journal", func(t *testing.T) {
		op, o := st.done(placing(2, -60, 0, "minecraft:stone"))
		if o.Status != host.Succeeded || o.Receipt == nil || o.Receipt.Grade != "attributed" || o.Receipt.Number == 0 || !o.Sent {
			t.Fatalf("%+v", o)
		}
		act, err := st.h.Journal("builder-1").Action(op.id)
		if err != nil || act.Binding != op.bound.Digest {
			t.Errorf("marked with %v, bound was %v, %v", act.Binding, op.bound.Digest, err)
		}
		if got := st.block(2, -60, 0); got != "minecraft:stone" {
			t.Errorf("the cell holds %s", got)
		}
		if acks := st.d.acksOf(op.id); len(acks) != 1 || acks[0].Digest != op.bound.Digest {
			t.Errorf("%+v", acks)
		}
	})
	t.Run("CP-88/five deliveries of one operation give one use", func(t *testing.T) {
		_, before := st.uses()
		op := st.bound(placing(3, -60, 1, "minecraft:stone"))
		for range 5 {
			st.d.deliver(op)
		}
		if o := st.outcome(op); o.Status != host.Succeeded {
			t.Fatalf("%+v", o)
		}
		for range 5 {
			st.d.deliver(op)
		}
		st.d.await("every delivery acknowledged", func() bool { return len(st.d.acks[op.id]) >= 6 })
		all, done := st.uses()
		if done-before != 1 || all != done {
			t.Errorf("%d uses reached the server, %d more were carried out", all, done-before)
		}
		for _, a := range st.d.acksOf(op.id) {
			if !a.Accepted || a.Digest != op.bound.Digest {
				t.Errorf("%+v", a)
			}
		}
	})
	t.Run("CP-87/a delivery that nobody bound here is unbound", func(t *testing.T) {
		op := st.bound(placing(4, -60, 1, "minecraft:stone"))
		stranger := *op
		stranger.id[0] ^= 0xff
		stranger.bound.Op = stranger.id
		st.d.deliver(&stranger)
		st.d.await("an answer", func() bool { return len(st.d.acks[stranger.id]) > 0 })
		altered := *op
		altered.bound.Digest[0] ^= 1
		st.d.deliver(&altered)
		st.d.await("an answer", func() bool { return len(st.d.acks[op.id]) > 0 })
		for _, id := range []host.OpID{stranger.id, op.id} {
			if a := st.d.acksOf(id)[0]; a.Accepted || a.Code != host.CodeUnbound {
				t.Errorf("%+v", a)
			}
		}
		if got := st.block(4, -60, 1); got != "minecraft:air" {
			t.Errorf("the cell holds %s", got)
		}
	})
	t.Run("CP-11/what cannot be done is refused with its code", func(t *testing.T) {
		for _, c := range []struct {
			a    host.Action
			code string
		}{
			{placing(40, -60, 0, "minecraft:stone"), "outside_build_box"},
			{placing(2, -58, 7, "minecraft:stone"), "no_click"},
			{placing(2, -60, 5, "minecraft:no_such_block"), "invalid"},
			{action("say", map[string]any{"text": "/op me"}), "invalid"},
			{action("place_block", map[string]any{"pos": []int{1, 2}, "state": "minecraft:stone"}), "invalid"},
			{action("dig", map[string]any{}), "unknown_capability"},
			{action("equip", map[string]any{"item": "minecraft:no_such_item"}), "no_such_item"},
		} {
			if _, answer := st.bind(c.a); answer.Bound != nil || answer.Code != c.code {
				t.Errorf("%s %s: %q %s, want %q", c.a.Capability, c.a.Arguments, answer.Code, answer.Message, c.code)
			} else if strings.Contains(answer.Message, c.code+": ") {
				t.Errorf("the code is told beside the message, not again in it: %s: %s", answer.Code, answer.Message)
			}
		}
	})
	t.Run("SE-01_SE-02/reads are answered without an operation and without a byte on disk", func(t *testing.T) {
		until(st, func() bool { // what was told before is out of the outbox
			left, err := st.h.Journal("builder-1").Outbox()
			return err == nil && len(left) == 0
		})
		commits, n := st.h.Journal("builder-1").Commits(), st.effectPackets()
		for _, a := range []host.Action{
			action("world_status", map[string]any{}), action("inventory_summary", map[string]any{}),
			action("scan_region", map[string]any{"min": []int{0, -61, 0}, "max": []int{3, -60, 3}}),
			action("nearby_entities", map[string]any{"radius": 8}), action("chat_since", map[string]any{"cursor": 0}),
		} {
			if out := st.d.read("builder-1", a); len(out.Output) == 0 {
				t.Errorf("%s: %s %s", a.Capability, out.Code, out.Message)
			}
		}
		if out := st.d.read("builder-1", action("say", map[string]any{"text": "hello"})); out.Code != "invalid" {
			t.Errorf("an effect as a read: %+v", out)
		}
		if got := st.h.Journal("builder-1").Commits(); got != commits || st.effectPackets() != n {
			t.Errorf("%d commits, W=%d", got-commits, st.effectPackets()-n)
		}
	})
	t.Run("CP-95/each capability is published with its mode, its schema and the grades of the profile", func(t *testing.T) {
		m := st.d.manifest
		if m.Authority != host.ClientAdvisory || m.Revision != hosting.Revision || len(m.Actors[0].Capabilities) != 11 {
			t.Errorf("%+v", m)
		}
		modes := map[string]string{}
		for _, c := range m.Actors[0].Capabilities {
			modes[c.Name] = c.Cancellation
			if c.Name == "place_block" && (c.Grade != "attributed" || c.LeastGrade != "attributed" || c.Risk != "moderate") {
				t.Errorf("%+v", c)
			}
		}
		if modes["move_to"] != "cooperative" || modes["place_block"] != "unsupported_once_sent" {
			t.Errorf("%v", modes)
		}
	})
}

// TestCancel: a cancellation asks, and the host says what really became of it.
func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("CP-95_CP-96/a walk ends where it is, and that is told", func(t *testing.T) {
		st := set(t, server.Config{}).start()
		op := st.bound(action("move_to", map[string]any{"pos": []int{11, -60, 11}}))
		st.d.deliver(op)
		walking(st)
		st.d.cancel(host.Cancellation{Op: op.id, Actor: "builder-1", Why: "never mind"})
		o := st.outcome(op)
		var out struct{ Position *[3]float64 }
		if err := json.Unmarshal(o.Output, &out); err != nil || o.Status != host.Cancelled || out.Position == nil {
			t.Fatalf("%+v %s %v", o, o.Output, err)
		}
		var real geom.Vec3
		st.s.Do(func(w *server.World) { real = w.Player("Tester").Position() })
		if at := geom.Vec3(*out.Position); at.Sub(real).Len() > 2 || at[0] > 10 {
			t.Errorf("told %v, stands at %v", at, real)
		}
	})
	t.Run("CP-94_CP-96/a block that was sent stays, and success wins", func(t *testing.T) {
		st := set(t, server.Config{}).start()
		st.hold()
		op := st.bound(placing(2, -60, 0, "minecraft:stone"))
		st.d.deliver(op)
		st.d.await("taken", func() bool { return len(st.d.acks[op.id]) > 0 })
		until(st, func() bool { all, _ := st.uses(); return all > 0 })
		st.d.cancel(host.Cancellation{Op: op.id, Actor: "builder-1", Why: "too late"})
		if o := st.outcome(op); o.Status != host.Succeeded || o.Receipt == nil {
			t.Errorf("%+v", o)
		}
		if got := st.block(2, -60, 0); got != "minecraft:stone" {
			t.Errorf("the cell holds %s", got)
		}
	})
	t.Run("CP-96/what waits for its turn is cancelled unsent", func(t *testing.T) {
		st := set(t, server.Config{}).start()
		walk := st.bound(action("move_to", map[string]any{"pos": []int{11, -60, 11}}))
		say := st.bound(action("say", map[string]any{"text": "hello"}))
		st.d.deliver(walk)
		walking(st)
		st.d.deliver(say)
		st.d.await("taken", func() bool { return len(st.d.acks[say.id]) > 0 })
		st.d.cancel(host.Cancellation{Op: say.id, Actor: "builder-1", Why: "hush"})
		if o := st.outcome(say); o.Status != host.Cancelled || o.Sent {
			t.Errorf("%+v", o)
		}
		if o := st.outcome(walk); o.Status != host.Succeeded {
			t.Errorf("%+v", o)
		}
	})
}

// TestStop: the emergency stop.
func TestStop(t *testing.T) {
	t.Parallel()
	t.Run("CP-99_CP-100/stop ends the walk, cancels what waits, binds nothing, and undoes nothing", func(t *testing.T) {
		st := set(t, server.Config{}).start()
		st.hold()
		if _, o := st.done(placing(2, -60, 0, "minecraft:stone")); o.Status != host.Succeeded {
			t.Fatalf("%+v", o)
		}
		walk := st.bound(action("move_to", map[string]any{"pos": []int{11, -60, 11}}))
		waits := st.bound(action("say", map[string]any{"text": "hello"}))
		st.d.deliver(walk)
		walking(st)
		st.d.deliver(waits)
		st.d.await("taken", func() bool { return len(st.d.acks[waits.id]) > 0 })
		st.d.cancel(host.Cancellation{Actor: "builder-1", Why: "fire", Stop: true})
		if o := st.outcome(walk); o.Status != host.Cancelled {
			t.Errorf("%+v", o)
		}
		if o := st.outcome(waits); o.Sent || o.Status == host.Succeeded {
			t.Errorf("%+v", o)
		}
		if _, answer := st.bind(action("say", map[string]any{"text": "hello"})); answer.Code != "stopped" {
			t.Errorf("%+v", answer)
		}
		if got := st.block(2, -60, 0); got != "minecraft:stone" {
			t.Errorf("the cell holds %s", got)
		}
		st.d.cancel(host.Cancellation{Actor: "builder-1", Clear: true})
		until(st, func() bool {
			_, answer := st.bind(action("say", map[string]any{"text": "hello"}))
			return answer.Bound != nil
		})
	})
}

// TestDaemonAway: the daemon goes and comes.
func TestDaemonAway(t *testing.T) {
	t.Parallel()
	t.Run("CP-86_CP-92/the host registers anew, publishes again, and its outcome waits for the daemon", func(t *testing.T) {
		st := set(t, server.Config{}).start()
		st.hold()
		op := st.bound(placing(2, -60, 0, "minecraft:stone"))
		st.d.say(func() { st.d.refuseOut = &coded{"internal"} })
		st.d.deliver(op)
		until(st, func() bool { return st.block(2, -60, 0) == "minecraft:stone" })
		st.d.say(func() { st.d.generation++; st.d.down = true })
		st.d.say(func() { st.d.publications = map[host.Name][]host.Publication{} })
		st.d.say(func() { st.d.down, st.d.refuseOut = false, nil })
		st.ready()
		if o := st.outcome(op); o.Status != host.Succeeded || o.Receipt == nil {
			t.Errorf("%+v", o)
		}
		if all, _ := st.uses(); all != 1 {
			t.Errorf("%d uses", all)
		}
	})
	t.Run("CP-88/an acknowledgement that was lost is given again, and then it is done once", func(t *testing.T) {
		st := set(t, server.Config{}).start()
		st.hold()
		op := st.bound(placing(2, -60, 0, "minecraft:stone"))
		st.d.say(func() { st.d.refuseAck = &coded{"internal"} })
		st.d.deliver(op)
		_, other := st.bind(action("say", map[string]any{"text": "hello"})) // the delivery before it has been met
		if other.Bound == nil {
			t.Fatal(other.Code)
		}
		if all, _ := st.uses(); all != 0 {
			t.Errorf("%d uses without an acknowledgement", all)
		}
		st.d.say(func() { st.d.refuseAck = nil })
		st.d.deliver(op)
		if o := st.outcome(op); o.Status != host.Succeeded {
			t.Errorf("%+v", o)
		}
		if all, _ := st.uses(); all != 1 {
			t.Errorf("%d uses", all)
		}
	})
}

// TestServerAway: the session breaks and comes back with another epoch.
func TestServerAway(t *testing.T) {
	t.Parallel()
	t.Run("CP-07_CP-87/after a reconnect the epoch is another and old bindings are unbound", func(t *testing.T) {
		st := set(t, server.Config{}).start()
		first := st.ready().Epoch
		op := st.bound(action("say", map[string]any{"text": "hello"}))
		if op.bound.Epoch != first {
			t.Errorf("bound at %v, published was %v", op.bound.Epoch, first)
		}
		st.s.Do(func(w *server.World) { w.Player("Tester").Cut() })
		st.d.await("another epoch", func() bool {
			all := st.d.publications["builder-1"]
			last := all[len(all)-1]
			return last.Ready && last.Epoch.Host > first.Host
		})
		st.d.deliver(op)
		st.d.await("an answer", func() bool { return len(st.d.acks[op.id]) > 0 })
		if a := st.d.acksOf(op.id)[0]; a.Code != host.CodeUnbound {
			t.Errorf("%+v", a)
		}
	})
	t.Run("CP-67_CP-68/a cut behind the use is judged after the rejoin", func(t *testing.T) {
		f, err := server.ParseFaults("cutafter:use_item_on@2")
		if err != nil {
			t.Fatal(err)
		}
		st := set(t, server.Config{Faults: f}).start()
		st.hold()
		if _, o := st.done(placing(2, -60, 0, "minecraft:stone")); o.Status != host.Succeeded { // the counter is known to count
			t.Fatalf("%+v", o)
		}
		op := st.bound(placing(4, -60, 0, "minecraft:stone"))
		st.d.deliver(op)
		o := st.outcome(op)
		if o.Status != host.Succeeded || o.Receipt == nil {
			t.Errorf("%+v", o)
		}
		if all, _ := st.uses(); all != 2 {
			t.Errorf("%d uses", all)
		}
	})
}

// TestKilled: the host dies at each point of its side, and another one on the same journal goes on.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		at   journal.Point
		want func(t *testing.T, st *stage, op *operation)
	}{
		{"CP-87/after delivery, before the acknowledgement: unbound, nothing sent", hosting.AfterDelivery, unboundUnsent},
		{"CP-87_CP-67/after the acknowledgement, before the mark: unbound, nothing sent", hosting.AfterAck, unboundUnsent},
		{"CP-67_CP-89/after the mark, before the packet: unknown, then not executed", journal.AfterMark, func(t *testing.T, st *stage, op *operation) {
			if o := st.outcome(op); o.Status != host.Failed || o.Code != "not_executed" {
				t.Errorf("%+v", o)
			}
			atMost(t, st, 1)
		}},
		{"CP-89_CP-68/after the packet, before any evidence: unknown, then proven", actor.AfterPacket, proven},
		{"CP-89_CP-68/after the evidence, before the receipt: proven after the rejoin", actor.AfterEvidence, proven},
		{"CP-86_CP-93/after the receipt, before the outcome: told once more, the same", journal.AfterReceipt, proven},
		{"CP-86_CP-93/after the outcome, before it is crossed off: told again, the same", hosting.AfterOutcome, proven},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := set(t, server.Config{})
			n := int32(1)
			if c.at != hosting.AfterDelivery && c.at != hosting.AfterAck {
				n = 2 // the first placement shows that the server counts
			} else {
				n = 2
			}
			l := st.killed(c.at, n)
			st.start()
			st.hold()
			if _, o := st.done(placing(2, -60, 0, "minecraft:stone")); o.Status != host.Succeeded {
				t.Fatalf("%+v", o)
			}
			op := st.bound(placing(4, -60, 0, "minecraft:stone"))
			st.d.deliver(op)
			if c.at == actor.AfterPacket { // it is on the wire: the server gets it
				until(st, func() bool { all, _ := st.uses(); return all == 2 })
			}
			st.again(l)
			op.accepted = len(st.d.acksOf(op.id)) > 0
			st.d.deliver(op)
			c.want(t, st, op)
			same(t, st, op)
		})
	}
}

func unboundUnsent(t *testing.T, st *stage, op *operation) {
	t.Helper()
	st.d.await("unbound", func() bool {
		all := st.d.acks[op.id]
		return len(all) > 0 && all[len(all)-1].Code == host.CodeUnbound
	})
	atMost(t, st, 1)
	if got := st.block(4, -60, 0); got != "minecraft:air" {
		t.Errorf("the cell holds %s", got)
	}
}

func proven(t *testing.T, st *stage, op *operation) {
	t.Helper()
	if o := st.outcome(op); o.Status != host.Succeeded || o.Receipt == nil {
		t.Errorf("%+v", o)
	}
	atMost(t, st, 2)
	act, err := st.h.Journal("builder-1").Action(op.id)
	if err != nil || act.Binding != op.bound.Digest {
		t.Errorf("%+v %v", act, err)
	}
}

// atMost wants no more uses than that to have reached the server.
func atMost(t *testing.T, st *stage, n int) {
	t.Helper()
	if all, _ := st.uses(); all > n {
		t.Errorf("%d uses reached the server, at most %d were to", all, n)
	}
}

// same wants every outcome that is an end to be the same.
func same(t *testing.T, st *stage, op *operation) {
	t.Helper()
	st.d.mu.Lock()
	defer st.d.mu.Unlock()
	var first *host.Outcome
	for i := range st.d.outcomes[op.id] {
		o := st.d.outcomes[op.id][i]
		if o.Status == host.Unknown {
			continue
		}
		o.Output = nil // says where the bot stood, which a new process does not know
		if first == nil {
			first = &o
		} else if first.ContentDigest() != o.ContentDigest() {
			t.Errorf("first %+v, then %+v", *first, o)
		}
	}
}

// walking waits until the bot has left its place.
func walking(st *stage) {
	st.t.Helper()
	until(st, func() (moved bool) {
		st.s.Do(func(w *server.World) { p := w.Player("Tester").Position(); moved = p[0] > 1.5 || p[2] > 1.5 })
		return moved
	})
}

// until looks once a tick of the server.
func until(st *stage, ok func() bool) {
	st.t.Helper()
	tick, limit := time.NewTicker(serverTick), time.NewTimer(30*time.Second)
	defer tick.Stop()
	defer limit.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			st.t.Fatal("waited in vain")
		}
	}
}
