package controlplane_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// tb is what testing and rapid have in common.
type tb interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// world is a gateway with a scripted host, a clock and principals, on one store. A crash leaves the store and nothing else.
type world struct {
	t      tb
	ctx    context.Context
	clock  *hosttest.Clock
	engine store.Engine
	config policy.Config
	opt    controlplane.Options
	g      *controlplane.Gateway
	h      *hosttest.Host
	seed   uint64
	n      int
}

var everything = controlplane.Scopes(controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeExecute,
	controlplane.ScopeConfirm, controlplane.ScopeCancel)

// The principals: ann owns bot1 and bot2, bob is another controller, pat approves only, root is the admin.
var (
	ann  = controlplane.Principal{ID: "ann", Scopes: everything, Actors: []string{"bot*"}}
	bob  = controlplane.Principal{ID: "bob", Scopes: everything, Actors: []string{"bot*"}}
	pat  = controlplane.Principal{ID: "pat", Scopes: controlplane.Scopes(controlplane.ScopeRead, controlplane.ScopeConfirm), Actors: []string{"*"}}
	root = controlplane.Principal{ID: "root", Scopes: controlplane.Scopes(controlplane.ScopeRead, controlplane.ScopeAdmin), Actors: []string{"*"}}
)

func confirmAll(risks ...policy.Risk) policy.Rule {
	return policy.Rule{ID: "ask", Layer: policy.LayerServer, Match: policy.Match{Risks: risks}, Result: policy.Confirm}
}

func newWorld(t tb, change ...func(*world)) *world {
	w := &world{t: t, ctx: context.Background(), clock: hosttest.NewClock(), engine: store.Memory(),
		config: policy.Config{Profile: policy.Open, Plots: []policy.Plot{{ID: "plot", Owner: "ann"}}}}
	for _, f := range change {
		f(w)
	}
	w.start()
	w.h = hosttest.New(w.g.Host(), "home", "bot1", "bot2")
	w.ok(w.h.Join(w.ctx))
	return w
}

// start opens a gateway on the store, as a new process would.
func (w *world) start() {
	w.t.Helper()
	w.seed++
	w.opt.Engine, w.opt.Policy, w.opt.Now = w.engine, w.compile(), w.clock.Now
	w.opt.Rand = rand.NewChaCha8([32]byte{byte(w.seed)})
	if w.opt.Owners == nil {
		w.opt.Owners = map[host.Name]host.Name{"bot1": "ann", "bot2": "ann"}
	}
	g, err := controlplane.New(w.opt)
	w.ok(err)
	w.g = g
}

// crash ends the gateway without a goodbye and opens another one. The host lives on.
func (w *world) crash() {
	w.t.Helper()
	w.start()
	if w.h != nil {
		w.h.Daemon = w.g.Host()
	}
}

func (w *world) compile() *policy.Engine {
	w.t.Helper()
	e, err := policy.Compile(w.config)
	w.ok(err)
	return e
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// code fails the test unless err has the code.
func (w *world) code(err error, want controlplane.Code) {
	w.t.Helper()
	if got := controlplane.CodeOf(err); got != want {
		w.t.Fatalf("code %q (%v), want %q", got, err, want)
	}
}

func (w *world) is(v operation.View, want operation.State) operation.View {
	w.t.Helper()
	if v.State != want {
		w.t.Fatalf("operation is %v (%+v), want %v", v.State, v.Rejection, want)
	}
	return v
}

func (w *world) lease(p controlplane.Principal, actor host.Name) string {
	w.t.Helper()
	l, err := w.g.Acquire(w.ctx, p, actor, 60*time.Second)
	w.ok(err)
	return l.ID
}

func action(capability string, n int) host.Action {
	return host.Action{Capability: capability, Arguments: json.RawMessage(fmt.Sprintf(`{"pos":[%d,64,0]}`, n))}
}

// request is a placement by a principal under the present conditions, with a key of its own.
func (w *world) request(p controlplane.Principal, actor host.Name) controlplane.SubmitRequest {
	w.t.Helper()
	w.n++
	epoch, seq := w.h.Seen(actor)
	return controlplane.SubmitRequest{Actor: actor, Lease: w.lease(p, actor), Key: fmt.Sprintf("key-%d", w.n), Epoch: epoch,
		Sequence: seq, Action: action("place_block", w.n)}
}

// answered is one call's end.
type answered[T any] struct {
	v   T
	err error
}

// aside runs a call in a goroutine of its own.
func aside[T any](f func() (T, error)) chan answered[T] {
	done := make(chan answered[T], 1)
	go func() {
		v, err := f()
		done <- answered[T]{v, err}
	}()
	return done
}

// asked waits until the gateway has n requests to hosts under way.
func (w *world) asked(n int) {
	w.t.Helper()
	w.until("requests under way", func() bool { return w.g.Stats().Gateways >= n })
}

func (w *world) until(what string, f func() bool) {
	w.t.Helper()
	for start := time.Now(); !f(); runtime.Gosched() {
		if time.Since(start) > 20*time.Second {
			w.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// served runs a call that asks the host, and answers for the host until the call ends. What is queued stays queued.
func served[T any](w *world, f func() (T, error)) (T, error) {
	done := aside(f)
	for {
		select {
		case a := <-done:
			return a.v, a.err
		default:
		}
		if w.g.Stats().Gateways > 0 {
			if _, err := w.h.PollOnce(w.ctx, 1, 0); err != nil {
				w.t.Error(err)
			}
		}
		runtime.Gosched()
	}
}

func (w *world) submit(p controlplane.Principal, r controlplane.SubmitRequest) (operation.View, error) {
	return served(w, func() (operation.View, error) { return w.g.Submit(w.ctx, p, r) })
}

// queued submits a placement that policy allows.
func (w *world) queued(p controlplane.Principal, actor host.Name) operation.View {
	w.t.Helper()
	v, err := w.submit(p, w.request(p, actor))
	w.ok(err)
	return w.is(v, operation.Queued)
}

func (w *world) look(p controlplane.Principal, id host.OpID) operation.View {
	w.t.Helper()
	v, err := w.g.Operation(w.ctx, p, id)
	w.ok(err)
	return v
}

// deliver polls everything that lies ready.
func (w *world) deliver() host.Batch {
	w.t.Helper()
	b, err := w.h.PollOnce(w.ctx, host.MaxBatch, 0)
	w.ok(err)
	return b
}

func (w *world) next() host.Delivery {
	w.t.Helper()
	d, err := w.h.Next(w.ctx)
	w.ok(err)
	return d
}

// accepted submits a placement and has the host take it.
func (w *world) accepted(p controlplane.Principal, actor host.Name) host.Delivery {
	w.t.Helper()
	w.queued(p, actor)
	d := w.next()
	w.ok(w.h.Accept(w.ctx, d))
	return d
}

// macro submits a build_structure and has the host take it.
func (w *world) macro(task host.Name) (host.Delivery, controlplane.SubmitRequest) {
	w.t.Helper()
	r := w.request(ann, "bot1")
	r.Action, r.Task = action("build_structure", w.n), task
	v, err := w.submit(ann, r)
	w.ok(err)
	w.is(v, operation.Queued)
	for _, d := range w.deliver().Deliveries {
		if d.Op == v.ID {
			w.ok(w.h.Accept(w.ctx, d))
			return d, r
		}
	}
	w.t.Fatal("the macro was not delivered")
	return host.Delivery{}, r
}

func (w *world) child(parent host.OpID, key string) (host.ChildView, error) {
	return served(w, func() (host.ChildView, error) {
		return w.g.Host().SubmitChild(w.ctx, w.h.Session(), host.Child{Parent: parent, Key: key, Action: action("place_block", 1)})
	})
}

// usage reads a budget.
func (w *world) usage(budget string) (u store.Usage) {
	w.t.Helper()
	w.ok(w.engine.View(func(tx store.Tx) error {
		u.UsedCount, u.UsedQuantity, u.ReservedCount, u.ReservedQuantity = store.UsageIn(tx).Used(budget, 0)
		return nil
	}))
	return u
}

func (w *world) sweep(d time.Duration) {
	w.t.Helper()
	w.clock.Advance(d)
	w.ok(w.g.Sweep())
}

func (w *world) publish(actor host.Name, times int) {
	w.t.Helper()
	for range times {
		w.ok(w.h.Publish(w.ctx, actor))
	}
}
