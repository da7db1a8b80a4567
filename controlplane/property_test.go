package controlplane_test

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"testing"

	"pgregory.net/rapid"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// schedule drives a gateway, a host and callers at random beside the model.
type schedule struct {
	*world
	r       *rapid.T
	engine  *crashing
	m       model
	numbers map[string]int // lease id -> number
	ids     []host.OpID
	result  map[host.OpID]operation.Result
	got     map[host.OpID]host.Delivery // what the host has ever been given
	sent    map[host.OpID]bool
	ended   map[host.OpID]host.Outcome
	seqs    map[host.OpID]uint64
	risk    string
	lastID  host.OpID
	last    map[host.OpID]operation.View
}

const modelBudget = 6

var actors = []host.Name{"bot1", "bot2"}

func newSchedule(r *rapid.T) *schedule {
	s := &schedule{r: r, engine: &crashing{Engine: store.Memory()}, numbers: map[string]int{}, result: map[host.OpID]operation.Result{},
		got: map[host.OpID]host.Delivery{}, sent: map[host.OpID]bool{}, ended: map[host.OpID]host.Outcome{}, seqs: map[host.OpID]uint64{},
		risk: "low", last: map[host.OpID]operation.View{}}
	s.world = newWorld(r, func(w *world) {
		w.engine = s.engine
		w.config.Rules = []policy.Rule{confirmAll(policy.RiskModerate), {ID: "no", Layer: policy.LayerServer, Match: policy.Match{Risks: []policy.Risk{policy.RiskHigh}}, Result: policy.Deny}}
		w.config.Budgets = []policy.Budget{{ID: "few", Layer: policy.LayerServer, MaxCount: modelBudget}}
		w.opt.ConfirmTicks = 1 << 40
	})
	s.h.Bind = func(q host.Gateway) host.Answer {
		b := s.h.Bound(q)
		b.Effects[0].Risk = s.risk
		s.lastID = q.Op
		return host.Answer{Gateway: q.ID, Bound: &b}
	}
	s.m = newModel(modelBudget, s.clock.Now())
	s.m.online = true
	for _, a := range actors {
		s.m.publish(a, 1)
	}
	return s
}

// act makes one call. Without a crash the gateway must then be what the model says; after one, every operation is as
// before or as after the call.
func (s *schedule) act(apply func(*model), call func() error) {
	before, after := s.m.clone(), s.m.clone()
	s.engine.armed = rapid.SampledFrom([]string{"", "", "", "", "", "", "before", "after"}).Draw(s.r, "crash")
	err := call()
	s.engine.armed = ""
	apply(&after)
	if !s.engine.dead {
		if err != nil {
			s.t.Fatal(err)
		}
		s.m = after
		s.agree()
		return
	}
	s.revive(before, after)
}

// revive starts the gateway again after a crash, and finds out which side of the commit it fell on.
func (s *schedule) revive(before, after model) {
	s.engine.dead = false
	s.crash()
	before.gap()
	after.gap()
	views := s.all()
	s.m = after
	for id := range after.ops {
		if v, there := views[id]; !there {
			delete(s.m.ops, id)
			for k, op := range s.m.keys {
				if op == id {
					delete(s.m.keys, k)
				}
			}
			if _, was := before.ops[id]; was {
				s.t.Fatalf("operation %s is lost", id)
			}
		} else if old, was := before.ops[id]; was && s.differs(v, after.ops[id]) != "" {
			s.m.ops[id] = old
		}
	}
	s.adopt(before)
	s.m.away()
	s.agree()
	s.join(0)
}

// adopt takes over which of two states leases and stops have.
func (s *schedule) adopt(before model) {
	for _, a := range actors {
		l, err := s.g.LeaseOf(s.ctx, ann, a)
		s.ok(err)
		if old, was := before.leases[a]; l.Holder == "" && was && !old.until.After(s.m.now) {
			s.m.leases[a] = old // over by the clock, and perhaps not looked at yet
		} else if l.Holder == "" {
			delete(s.m.leases, a)
		} else if old := before.leases[a]; old.holder == l.Holder && old.until.Equal(l.Expires.Time()) {
			s.m.leases[a] = old
		}
		v, err := s.g.Actor(s.ctx, ann, a)
		s.ok(err)
		if s.m.stops[a] = v.Stop != nil; s.m.stops[a] == before.stops[a] {
			s.m.clear[a] = before.clear[a]
		}
	}
}

// join registers and publishes; the host's process is a new one when more > 0.
func (s *schedule) join(more uint64) {
	s.m.gap()
	s.m.away()
	s.m.online = true
	s.ok(s.h.Register(s.ctx))
	for _, a := range actors {
		if more > 0 {
			s.ok(s.h.Respawn(s.ctx, a))
		} else {
			s.ok(s.h.Publish(s.ctx, a))
		}
		s.m.publish(a, s.m.epoch[a]+more)
	}
	s.agree()
}

func (s *schedule) all() map[host.OpID]operation.View {
	out := map[host.OpID]operation.View{}
	f := controlplane.Filter{Limit: 200}
	for {
		page, err := s.g.Operations(s.ctx, ann, f)
		s.ok(err)
		for _, v := range page.Operations {
			out[v.ID] = v
		}
		if f.After = page.Next; f.After == "" {
			return out
		}
	}
}

func (s *schedule) differs(v operation.View, o modelOp) string {
	switch {
	case v.State != o.state:
		return fmt.Sprintf("is %v, should be %v", v.State, o.state)
	case (v.CancelRequested != "") != o.asked:
		return fmt.Sprintf("%v: asked to end %q, should be %v", v.State, v.CancelRequested, o.asked)
	case (v.Closure != "") != o.closed:
		return fmt.Sprintf("closure %q, should be %v", v.Closure, o.closed)
	}
	return ""
}

// agree compares the gateway with the model and checks the invariants.
func (s *schedule) agree() {
	s.t.Helper()
	views := s.all()
	if len(views) != len(s.m.ops) {
		s.t.Fatalf("%d operations, should be %d", len(views), len(s.m.ops))
	}
	var used, held int64
	for id, o := range s.m.ops {
		v := views[id]
		if d := s.differs(v, o); d != "" {
			s.t.Fatalf("operation %s %s", id, d)
		}
		_, given := s.got[id]
		switch {
		case v.ExecutionConfirmed && !(s.sent[id] && o.acked && s.ended[id].Receipt != nil): // (a)
			s.t.Fatalf("(a) %s is confirmed without a packet, an admission or a receipt", id)
		case v.ExecutionConfirmed != (v.State == operation.Succeeded && v.Outcome.Receipt != nil): // (c)
			s.t.Fatalf("(c) %s: confirmed %v", id, v.ExecutionConfirmed)
		case v.State == operation.Stale && v.DeliveryAttempts == 0 && given: // (d)
			s.t.Fatalf("(d) %s was collected", id)
		case given && v.DeliveryAttempts == 0:
			s.t.Fatalf("%s was collected and no attempt is written", id)
		case s.last[id].Terminal && (s.last[id].State != v.State || s.last[id].Version != v.Version):
			s.t.Fatalf("%s moved after its end", id)
		case v.Version < s.last[id].Version:
			s.t.Fatalf("%s went back", id)
		}
		s.last[id] = v
		if o.spent {
			used++
		}
		if o.held {
			held++
		}
	}
	if u := s.usage("few"); u.UsedCount != used || u.ReservedCount != held || used+held > modelBudget { // (e)
		s.t.Fatalf("(e) usage %+v, should be used %d, reserved %d", u, used, held)
	}
}

// disk stands for every byte of the store.
func (s *schedule) disk() string {
	d := sha256.New()
	s.ok(s.engine.View(func(tx store.Tx) error {
		for b := store.Meta; b.String() != "invalid"; b++ {
			hashBucket(d, tx, b)
		}
		return nil
	}))
	return string(d.Sum(nil))
}

func hashBucket(d hash.Hash, tx store.Tx, b store.Bucket) {
	tx.Scan(b, nil, nil, func(k, v []byte) bool {
		fmt.Fprintf(d, "%v %x %x\n", b, k, v)
		return true
	})
}

func (s *schedule) actor() host.Name { return rapid.SampledFrom(actors).Draw(s.r, "actor") }

// pick draws an operation; false: there is none yet.
func (s *schedule) pick(want func(host.OpID, modelOp) bool) (host.OpID, bool) {
	var some []host.OpID
	for _, id := range s.ids {
		if o, there := s.m.ops[id]; there && want(id, o) {
			some = append(some, id)
		}
	}
	if len(some) == 0 {
		return host.OpID{}, false
	}
	return rapid.SampledFrom(some).Draw(s.r, "op"), true
}

func TestRandomSchedules(t *testing.T) {
	rounds := 1 // of rapid's usual number of schedules
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		rounds = 50
	}
	for range rounds {
		checkSchedules(t)
	}
}

func checkSchedules(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newSchedule(r)
		calls := map[string]func(*rapid.T){}
		for name, f := range map[string]func(){"submit": s.submits, "submit more": s.submits, "submit again": s.submits, "confirm": s.confirms,
			"cancel": s.cancels, "poll": s.polls, "poll more": s.polls, "ack": s.acks, "ack more": s.acks, "report": s.reports, "outcome": s.outcomes,
			"repeat": s.repeats, "acquire": s.acquires, "acquire more": s.acquires, "release": s.releases, "stop or clear": s.stops,
			"respawn": s.respawns, "publish": s.publishes, "time": s.passes, "silence": s.silence, "host crash": s.hostCrashes,
			"link break": s.linkBreaks, "close": s.closes, "read": s.reads} {
			calls[name] = func(r *rapid.T) { s.r, s.t = r, r; f() }
		}
		r.Repeat(calls)
	})
}
