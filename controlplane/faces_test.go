package controlplane_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContractRows(t *testing.T) {
	t.Run("RU-05/reads and dry runs change no byte", func(t *testing.T) {
		s := &schedule{engine: &crashing{Engine: store.Memory()}}
		s.world = newWorld(t, asking, func(w *world) { w.engine = s.engine })
		w := s.world
		v := w.waiting()
		r := w.request(ann, "bot1")
		_, err := w.g.PutBlueprint(w.ctx, ann, "house", []byte("a house"))
		w.ok(err)
		before, commits := s.disk(), w.engine.Stats().Commits
		_, err = w.g.Actors(w.ctx, ann)
		w.ok(err)
		_, err = w.g.Observe(w.ctx, ann, "bot1")
		w.ok(err)
		_, err = w.g.Capabilities(w.ctx, ann, "bot1")
		w.ok(err)
		_, err = w.g.LeaseOf(w.ctx, ann, "bot1")
		w.ok(err)
		_, err = w.g.Blueprints(w.ctx, ann)
		w.ok(err)
		_, err = w.g.Operation(w.ctx, pat, v.ID)
		w.ok(err)
		_, err = w.g.Operations(w.ctx, pat, controlplane.Filter{Actor: "bot1"})
		w.ok(err)
		for _, q := range []controlplane.WaitRequest{{Op: v.ID}, {Actor: "bot1"}, {Task: "t"}} {
			_, err = w.g.Wait(w.ctx, ann, q)
			w.ok(err)
		}
		_, err = served(w, func() (json.RawMessage, error) { return w.g.Read(w.ctx, ann, "bot1", action("world_status", 0)) })
		w.ok(err)
		_, err = served(w, func() (controlplane.Explanation, error) { return w.g.Explain(w.ctx, ann, r) })
		w.ok(err)
		r.Lease = ""
		for _, p := range []controlplane.Principal{ann, bob} { // the lease is ann's
			e, err := served(w, func() (controlplane.Explanation, error) { return w.g.Explain(w.ctx, p, r) })
			if w.ok(err); e.Bound == nil || len(e.Lines) == 0 {
				t.Errorf("to %s: %+v", p.ID, e)
			}
		}
		watcher := controlplane.Principal{ID: "eve", Scopes: controlplane.Scopes(controlplane.ScopeRead), Actors: []string{"bot*"}}
		_, err = w.g.Explain(w.ctx, watcher, r)
		w.code(err, controlplane.CodeForbidden)
		w.publish("bot1", 3)
		w.ok(w.g.Sweep())
		w.g.Stats()
		if s.disk() != before || w.engine.Stats().Commits != commits {
			t.Fatal("the store changed")
		}
	})

	t.Run("RU-09/seven things are told of an effect", func(t *testing.T) {
		w := newWorld(t)
		all, err := w.g.Capabilities(w.ctx, ann, "bot1")
		w.ok(err)
		for _, c := range all {
			if c.Name == "" || c.Kind == "" || len(c.Schema) == 0 || c.Digest == (effects.Digest{}) || c.LeastGrade == "" || c.Rollback == "" || c.Cancellation == "" {
				t.Fatalf("capability %+v", c) // capability, typed request, receipt, rollback boundary
			}
		}
		r := w.request(ann, "bot1")
		e, err := served(w, func() (controlplane.Explanation, error) { return w.g.Explain(w.ctx, ann, r) })
		w.ok(err)
		if e.Bound == nil || len(e.Lines) == 0 || e.Decision.Result != policy.Allow { // dry run
			t.Fatalf("explanation %+v", e)
		}
		v, err := w.submit(ann, r)
		w.ok(err)
		again, err := w.g.Submit(w.ctx, ann, r) // idempotency
		w.ok(err)
		if again.ID != v.ID || v.Policy.Revision == "" || v.Principal != "ann" { // authority
			t.Fatalf("%+v", v)
		}
		d := w.next()
		w.ok(w.h.Perform(w.ctx, d))
		if v = w.look(ann, v.ID); v.Outcome == nil || v.Outcome.Receipt == nil || v.Outcome.Receipt.Grade == "" { // typed result, receipt
			t.Fatalf("%+v", v.Outcome)
		}
	})
}

func TestExplainTellsTheRule(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.config.Rules = []policy.Rule{{ID: "no-stone", Layer: policy.LayerServer, Result: policy.Deny}}
	})
	r := w.request(ann, "bot1")
	r.Key = ""
	e, err := served(w, func() (controlplane.Explanation, error) { return w.g.Explain(w.ctx, ann, r) })
	w.ok(err)
	if e.Decision.Result != policy.Deny || e.Decision.Rules[0] != "no-stone" {
		t.Fatalf("%+v", e.Decision)
	}
	w.h.Bind = func(q host.Gateway) host.Answer { return hosttest.Refusal(q, "busy", "wait") }
	e, err = served(w, func() (controlplane.Explanation, error) { return w.g.Explain(w.ctx, ann, r) })
	w.ok(err)
	if e.Bound != nil || e.Refusal.Code != "busy" || !strings.Contains(e.Note, "no rule was asked") || len(e.Lines) > 0 {
		t.Fatalf("%+v", e)
	}
}

func TestAHostThatLiesOrIsSlow(t *testing.T) {
	t.Run("an answer about another operation", func(t *testing.T) {
		w := newWorld(t)
		var q host.Gateway
		w.h.Bind = func(g host.Gateway) host.Answer { q = g; return host.Answer{} }
		r := w.request(ann, "bot1")
		done := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) })
		w.asked(1)
		w.deliver()
		b := w.h.Bound(q)
		b.Op[0] ^= 1
		w.code(w.g.Host().Answer(w.ctx, w.h.Session(), host.Answer{Gateway: q.ID, Bound: &b}), controlplane.CodeInvalid)
		w.code(w.g.Host().Answer(w.ctx, w.h.Session(), host.Answer{Gateway: q.ID, Output: json.RawMessage(`{}`)}), controlplane.CodeInvalid)
		w.ok(w.g.Host().Answer(w.ctx, w.h.Session(), w.h.Reply(q)))
		w.ok((<-done).err)
	})

	t.Run("no answer in time", func(t *testing.T) {
		w := newWorld(t)
		w.h.Bind = func(q host.Gateway) host.Answer { return host.Answer{} }
		r := w.request(ann, "bot1")
		done := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) })
		w.asked(1)
		w.deliver()
		w.sweep(5 * time.Second)
		if b := w.deliver(); len(b.Gateways) != 1 { // the first poll may have been lost
			t.Fatalf("%+v", b)
		}
		w.ok(w.h.Renew(w.ctx))
		w.sweep(20 * time.Second)
		w.code((<-done).err, controlplane.CodeTimeout)
		w.nothingButBinds(2)
	})

	t.Run("publications that go back", func(t *testing.T) {
		w := newWorld(t)
		p := host.Publication{Actor: "bot1", Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, Sequence: 1, GameTick: 5000}
		w.code(w.g.Host().Publish(w.ctx, w.h.Session(), p), controlplane.CodeStale)
		p.Sequence, p.GameTick = 50, 10
		w.code(w.g.Host().Publish(w.ctx, w.h.Session(), p), controlplane.CodeConflict)
		w.ok(w.h.Respawn(w.ctx, "bot1"))
		p.GameTick = 5000
		w.code(w.g.Host().Publish(w.ctx, w.h.Session(), p), controlplane.CodeStale)
	})

	t.Run("its session ends while it is asked", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		done := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) })
		w.asked(1)
		w.ok(w.g.Host().Unregister(w.ctx, w.h.Session()))
		w.code((<-done).err, controlplane.CodeUnavailable)
	})
}

func TestLists(t *testing.T) {
	w := newWorld(t)
	var ids []host.OpID
	for i := range 25 {
		actor := host.Name(fmt.Sprintf("bot%d", i%2+1))
		w.clock.Advance(time.Millisecond)
		ids = append(ids, w.queued(ann, actor).ID)
	}
	walk := func(p controlplane.Principal, f controlplane.Filter) (out []host.OpID) {
		for {
			page, err := w.g.Operations(w.ctx, p, f)
			w.ok(err)
			for _, v := range page.Operations {
				out = append(out, v.ID)
			}
			if f.After = page.Next; f.After == "" {
				return out
			}
		}
	}
	all := walk(ann, controlplane.Filter{Limit: 4})
	if len(all) != 25 || all[0] != ids[24] || all[24] != ids[0] {
		t.Fatalf("%d operations", len(all))
	}
	if one := walk(ann, controlplane.Filter{Actor: "bot2", Limit: 5}); len(one) != 12 {
		t.Fatalf("%d operations of bot2", len(one))
	}
	if none := walk(ann, controlplane.Filter{State: operation.Succeeded}); len(none) != 0 {
		t.Fatalf("%d succeeded", len(none))
	}
	eve := controlplane.Principal{ID: "eve", Scopes: everything, Actors: []string{"bot2"}}
	if seen := walk(eve, controlplane.Filter{Limit: 5}); len(seen) != 12 {
		t.Fatalf("eve sees %d", len(seen))
	}
	_, err := w.g.Operations(w.ctx, ann, controlplane.Filter{After: "forged"})
	w.code(err, controlplane.CodeInvalid)
	_, err = w.g.Operations(w.ctx, ann, controlplane.Filter{Limit: 201})
	w.code(err, controlplane.CodeInvalid)
	page, err := w.g.Operations(w.ctx, ann, controlplane.Filter{Limit: 5})
	w.ok(err)
	_, err = w.g.Operations(w.ctx, ann, controlplane.Filter{Actor: "bot1", After: page.Next}) // of another list
	w.code(err, controlplane.CodeInvalid)

	d, _ := w.macro("task")
	for i := range 7 {
		_, err := w.child(d.Op, fmt.Sprint(i))
		w.ok(err)
	}
	if kids := walk(ann, controlplane.Filter{Parent: d.Op, Limit: 3}); len(kids) != 7 {
		t.Fatalf("%d children", len(kids))
	}
	if task := walk(ann, controlplane.Filter{Task: "task", Limit: 3}); len(task) != 8 {
		t.Fatalf("%d of the task", len(task))
	}
}

// TestListOfChildrenPruned: a page goes on behind its place also when the child that named the place is gone.
func TestListOfChildrenPruned(t *testing.T) {
	w := newWorld(t, func(w *world) { w.opt.Retain = time.Hour })
	d, _ := w.macro("task")
	for i := range 7 {
		w.clock.Advance(time.Millisecond)
		_, err := w.child(d.Op, fmt.Sprint(i))
		w.ok(err)
	}
	page, err := w.g.Operations(w.ctx, ann, controlplane.Filter{Parent: d.Op, Limit: 3})
	w.ok(err)
	for _, v := range page.Operations {
		_, err := w.g.Cancel(w.ctx, ann, v.ID, "")
		w.ok(err)
	}
	w.clock.Advance(2 * time.Hour)
	w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Succeeded, "", false)))
	w.ok(w.g.Sweep())
	if _, err := w.g.Operation(w.ctx, ann, page.Operations[2].ID); controlplane.CodeOf(err) != controlplane.CodeNotFound {
		t.Fatalf("not pruned: %v", err)
	}
	if page, err = w.g.Operations(w.ctx, ann, controlplane.Filter{Parent: d.Op, After: page.Next}); err != nil || len(page.Operations) != 4 {
		t.Fatalf("%d children, %v", len(page.Operations), err)
	}
}

// TestAFaultIsLogged: what is told as a fault of ours, for which the log says more, is in the log; a refusal is not.
func TestAFaultIsLogged(t *testing.T) {
	var log bytes.Buffer
	broken := &brokenEngine{Engine: store.Memory()}
	w := newWorld(t, func(w *world) {
		w.engine, w.opt.Log = broken, hclog.New(&hclog.LoggerOptions{Output: &log})
	})
	_, err := w.g.Operation(w.ctx, ann, host.OpID{1})
	if w.code(err, controlplane.CodeNotFound); log.Len() > 0 {
		t.Errorf("a refusal is logged: %s", log.String())
	}
	broken.err = errors.New("a strange noise")
	_, err = w.g.Operation(w.ctx, ann, host.OpID{1})
	if w.code(err, controlplane.CodeInternal); !strings.Contains(log.String(), "a strange noise") {
		t.Errorf("log: %q", log.String())
	}
	log.Reset()
	_, err = w.g.Cancel(w.ctx, ann, host.OpID{1}, "")
	if w.code(err, controlplane.CodeInternal); !strings.Contains(log.String(), "a strange noise") {
		t.Errorf("log: %q", log.String())
	}
}

// brokenEngine fails at everything once it has an error.
type brokenEngine struct {
	store.Engine
	err error
}

func (b *brokenEngine) View(f func(store.Tx) error) error {
	if b.err != nil {
		return b.err
	}
	return b.Engine.View(f)
}

func (b *brokenEngine) Update(f func(store.Tx) error) error {
	if b.err != nil {
		return b.err
	}
	return b.Engine.Update(f)
}

func TestReads(t *testing.T) {
	w := newWorld(t)
	read := func(a host.Action) (json.RawMessage, error) {
		return served(w, func() (json.RawMessage, error) { return w.g.Read(w.ctx, ann, "bot1", a) })
	}
	out, err := read(action("world_status", 0))
	w.ok(err)
	if string(out) != `{}` {
		t.Fatalf("%s", out)
	}
	_, err = read(action("place_block", 0)) // no read
	w.code(err, controlplane.CodeUnknownCapability)
	for code, want := range map[string]controlplane.Code{"busy": controlplane.CodeUnavailable, "out_of_range": controlplane.CodeInvalid} {
		w.h.Bind = func(q host.Gateway) host.Answer { return hosttest.Refusal(q, code, "x") }
		_, err = read(action("world_status", 0))
		w.code(err, want)
	}
	_, err = w.g.Stop(w.ctx, ann, "bot1", "a stop stops no read")
	w.ok(err)
	w.h.Bind = nil
	_, err = read(action("world_status", 0))
	w.ok(err)
}

func TestStats(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.config.Rules = []policy.Rule{{ID: "no", Layer: policy.LayerServer, Match: policy.Match{Risks: []policy.Risk{policy.RiskHigh}}, Result: policy.Deny}}
	})
	w.ok(w.h.Perform(w.ctx, func() host.Delivery { w.queued(ann, "bot1"); return w.next() }()))
	w.queued(ann, "bot1")
	w.h.Risk = "high"
	_, err := w.submit(ann, w.request(ann, "bot1"))
	w.ok(err)
	r := w.request(ann, "bot1")
	r.Sequence = 99
	_, err = w.g.Submit(w.ctx, ann, r)
	w.code(err, controlplane.CodeStale)
	s := w.g.Stats()
	if s.Open[operation.Queued] != 1 || len(s.Open) != 1 || s.Entered[operation.Succeeded] != 1 || s.Entered[operation.Rejected] != 1 || s.Receipts["attributed"] != 1 ||
		s.Refusals["rule_denied"] != 1 || s.Refusals["rule no"] != 1 || s.Refusals["stale"] != 1 || s.Decisions.Count() != 3 || s.Hosts != 1 || s.Actors != 2 {
		t.Fatalf("%+v", s)
	}
}

func TestALeaseConflictSaysUntilWhenAndWhatHelps(t *testing.T) {
	w := newWorld(t)
	l, err := w.g.Acquire(w.ctx, bob, "bot1", time.Minute)
	w.ok(err)
	until := l.Expires.Time().UTC().Format(time.RFC3339)
	_, err = w.g.Acquire(w.ctx, ann, "bot1", time.Minute)
	r := w.request(ann, "bot2")
	r.Actor = "bot1"
	_, refused := w.g.Submit(w.ctx, ann, r)
	for _, err := range []error{err, refused} {
		var e *controlplane.Error
		if !errors.As(err, &e) || e.Code != controlplane.CodeLeaseConflict || e.Detail["holder"] != "bob" || e.Detail["expires"] != until ||
			!strings.Contains(e.Message, until) || !strings.Contains(e.Message, "ctl lease release bot1") {
			t.Errorf("%v, want until %s", err, until)
		}
	}
}

func TestDecisionsAreTimed(t *testing.T) {
	w := newWorld(t)
	w.h.Bind = func(q host.Gateway) host.Answer {
		w.clock.Advance(30 * time.Millisecond)
		return w.h.Reply(q)
	}
	w.queued(ann, "bot1")
	s := w.g.Stats()
	if s.Binds.Count() != 1 || s.Binds.Sum != 30*time.Millisecond || s.Decisions.Count() != 1 || s.Decisions.Sum != 0 {
		t.Fatalf("%+v and %+v", s.Binds, s.Decisions)
	}
	for i, n := range s.Binds.Counts {
		within := i < len(s.Binds.Bounds) && s.Binds.Bounds[i] == 50*time.Millisecond
		if within != (n == 1) {
			t.Fatalf("30 ms: %d are counted within bound %d of %v", n, i, s.Binds.Bounds)
		}
	}
	w.h.Bind = func(q host.Gateway) host.Answer { return hosttest.Refusal(q, "no_support", "in the air") }
	_, err := w.submit(ann, w.request(ann, "bot1"))
	w.ok(err)
	if s := w.g.Stats(); s.Binds.Count() != 1 || s.Decisions.Count() != 1 {
		t.Fatalf("policy was not asked, and %+v and %+v are counted", s.Binds, s.Decisions)
	}
}

func TestTrafficIsCountedOnOverSessions(t *testing.T) {
	w := newWorld(t)
	told := host.Traffic{}
	w.h.Daemon = telling{w.g.Host(), &told}
	publish := func(n host.Traffic) host.Traffic {
		told = n
		w.ok(w.h.Publish(w.ctx, "bot1"))
		return w.g.Stats().Traffic["bot1"]
	}
	publish(host.Traffic{PacketsIn: 10, PacketsOut: 5, BytesIn: 1000, BytesOut: 50, TicksLate: 1})
	same := host.Traffic{PacketsIn: 12, PacketsOut: 6, BytesIn: 1100, BytesOut: 60, TicksLate: 1}
	if got := publish(same); got != same {
		t.Fatalf("within a session: %+v", got)
	}
	want := host.Traffic{PacketsIn: 15, PacketsOut: 8, BytesIn: 1400, BytesOut: 90, TicksLate: 1}
	if got := publish(host.Traffic{PacketsIn: 3, PacketsOut: 2, BytesIn: 300, BytesOut: 30}); got != want {
		t.Fatalf("a new session begins at zero, its counts are added: %+v, want %+v", got, want)
	}
	w.ok(w.h.Register(w.ctx))
	if got := w.g.Stats(); got.Traffic["bot1"] != want || got.Ready != 0 {
		t.Fatalf("a total does not go away with its host: %+v", got)
	}
}

// telling publishes what an actor's session has counted.
type telling struct {
	controlplane.HostService
	told *host.Traffic
}

func (d telling) Publish(ctx context.Context, s host.Session, p host.Publication) error {
	p.Traffic = *d.told
	return d.HostService.Publish(ctx, s, p)
}

func TestSubscribe(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(w.ctx)
	changes, err := w.g.Subscribe(ctx, ann, controlplane.Filter{Actor: "bot1"})
	w.ok(err)
	w.queued(ann, "bot2")
	v := w.queued(ann, "bot1")
	for _, d := range w.deliver().Deliveries {
		w.ok(w.h.Perform(w.ctx, d))
	}
	for i, want := range []operation.State{operation.Queued, operation.Delivered, operation.Accepted, operation.Succeeded} {
		if c := <-changes; c.Op != v.ID || c.State != want || c.Version != uint64(i+1) || c.Lagged {
			t.Fatalf("%+v, want %v", c, want)
		}
	}
	for range 300 {
		w.queued(ann, "bot1")
	}
	lagged := false
	for range 256 {
		c := <-changes
		lagged = lagged || c.Lagged
	}
	w.queued(ann, "bot1")
	if c := <-changes; !c.Lagged || lagged {
		t.Fatalf("%+v", c)
	}
	cancel()
	for range changes {
	}
}

func TestBlueprints(t *testing.T) {
	w := newWorld(t)
	b, err := w.g.PutBlueprint(w.ctx, ann, "house", []byte("a house"))
	w.ok(err)
	data, err := w.g.Host().Blueprint(w.ctx, w.h.Session(), b.Digest)
	w.ok(err)
	all, err := w.g.Blueprints(w.ctx, ann)
	w.ok(err)
	if string(data) != "a house" || len(all) != 1 || all[0] != b {
		t.Fatalf("%q %+v", data, all)
	}
	_, err = w.g.Host().Blueprint(w.ctx, w.h.Session(), effects.Digest{1})
	w.code(err, controlplane.CodeNotFound)
	_, err = w.g.PutBlueprint(w.ctx, ann, "none", nil)
	w.code(err, controlplane.CodeTooLarge)
}

func TestLeasesSurvive(t *testing.T) {
	w := newWorld(t)
	id := w.lease(ann, "bot1")
	w.crash()
	l, err := w.g.LeaseOf(w.ctx, ann, "bot1")
	w.ok(err)
	theirs, err := w.g.LeaseOf(w.ctx, bob, "bot1")
	w.ok(err)
	if l.ID != id || theirs.ID != "" || theirs.Holder != "ann" {
		t.Fatalf("%+v, bob sees %+v", l, theirs)
	}
	w.sweep(61 * time.Second)
	if l, err = w.g.LeaseOf(w.ctx, ann, "bot1"); err != nil || l.Holder != "" {
		t.Fatalf("%+v %v", l, err)
	}
}

func TestCloseEndsWaits(t *testing.T) {
	w := newWorld(t)
	r := w.request(ann, "bot1")
	submit := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) })
	w.asked(1)
	w.deliverNothing()
	poll := aside(func() (host.Batch, error) { return w.g.Host().Poll(w.ctx, w.h.Session(), 1, 20*time.Second) })
	w.ok(w.g.Close())
	w.code((<-submit).err, controlplane.CodeUnavailable)
	if a := <-poll; a.err == nil && a.v.Empty() {
		t.Fatal("an empty batch, and no error")
	}
	_, err := w.g.Submit(w.ctx, ann, r)
	w.code(err, controlplane.CodeUnavailable)
}

// deliverNothing takes what lies ready without answering it.
func (w *world) deliverNothing() {
	w.t.Helper()
	_, err := w.g.Host().Poll(w.ctx, w.h.Session(), 64, 0)
	w.ok(err)
}

func TestCodes(t *testing.T) {
	seen := map[controlplane.Code]bool{}
	for _, c := range controlplane.Codes() {
		if seen[c] || !c.Known() || c.Status() < 400 || c.Status() > 599 {
			t.Errorf("code %q: status %d", c, c.Status())
		}
		seen[c] = true
	}
	if c := controlplane.Code("other"); c.Known() || c.Status() != 500 {
		t.Error("a word outside the set is known")
	}
	err := fmt.Errorf("outer: %w", controlplane.Errorf(controlplane.CodeStale, "x"))
	if controlplane.CodeOf(err) != controlplane.CodeStale || !errors.Is(err, &controlplane.Error{Code: controlplane.CodeStale}) || controlplane.CodeOf(nil) != "" {
		t.Error("codes are not found again")
	}
}
