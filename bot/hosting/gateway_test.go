package hosting_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blockworld/bot/hosting"
	"blockworld/controlplane"
	ops "blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
)

var _ hosting.Daemon = controlplane.HostService{}

var ann = controlplane.Principal{ID: "ann", Actors: []string{"*"}, Scopes: controlplane.Scopes(controlplane.ScopeRead,
	controlplane.ScopeControl, controlplane.ScopeExecute, controlplane.ScopeConfirm, controlplane.ScopeCancel, controlplane.ScopeAdmin)}

// plane is a stage with a real gateway in the desk's place.
type plane struct {
	*stage
	g      *controlplane.Gateway
	engine store.Engine
	path   string
	config policy.Config
	keys   atomic.Int32
	lease  controlplane.Lease
}

func control(t *testing.T, c server.Config, change func(*policy.Config)) *plane {
	t.Helper()
	p := &plane{stage: set(t, c), path: filepath.Join(t.TempDir(), "control.db")}
	p.config = policy.Config{Profile: policy.Open, Plots: []policy.Plot{{ID: "garden", Owner: "ann"}}}
	if change != nil {
		change(&p.config)
	}
	p.open()
	p.cfg.CodeOf = func(err error) string { return string(controlplane.CodeOf(err)) }
	return p
}

// open starts the gateway on its store.
func (p *plane) open() {
	p.t.Helper()
	engine, err := policy.Compile(p.config)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.engine, err = store.Open(p.path, store.Options{}); err != nil {
		p.t.Fatal(err)
	}
	p.g, err = controlplane.New(controlplane.Options{Engine: p.engine, Policy: engine, Owners: map[host.Name]host.Name{"builder-1": "ann"},
		Now: time.Now, Rand: rand.Reader})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	g, e := p.g, p.engine
	go func() { defer close(ended); g.Run(ctx) }()
	p.t.Cleanup(func() { cancel(); <-ended; g.Close(); e.Close() })
	p.cfg.Daemon = p.g.Host()
}

// ready waits until the actor is published as ready and takes the lease.
func (p *plane) ready() controlplane.ActorView {
	p.t.Helper()
	var v controlplane.ActorView
	until(p.stage, func() bool {
		var err error
		v, err = p.g.Actor(p.t.Context(), ann, "builder-1")
		return err == nil && v.Ready
	})
	var err error
	if p.lease, err = p.g.Acquire(p.t.Context(), ann, "builder-1", 5*time.Minute); err != nil {
		p.t.Fatal(err)
	}
	return v
}

// submit asks for an action under the present conditions.
func (p *plane) submit(a host.Action) ops.View {
	p.t.Helper()
	seen, err := p.g.Observe(p.t.Context(), ann, "builder-1")
	if err != nil {
		p.t.Fatal(err)
	}
	v, err := p.g.Submit(p.t.Context(), ann, controlplane.SubmitRequest{Actor: "builder-1", Lease: p.lease.ID, Key: fmt.Sprint("key-", p.keys.Add(1)),
		Epoch: seen.Epoch, Sequence: seen.Sequence, Action: a, Task: "task-1"})
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// ended waits for the end of an operation.
func (p *plane) ended(id host.OpID) ops.View {
	p.t.Helper()
	var v ops.View
	limit := time.Now().Add(30 * time.Second)
	cursor := ""
	for !v.Terminal {
		r, err := p.g.Wait(p.t.Context(), ann, controlplane.WaitRequest{Op: id, Cursor: cursor, TimeoutMS: 1000})
		if err != nil {
			p.t.Fatal(err)
		}
		if r.Operation != nil {
			v = *r.Operation
		}
		cursor = r.Cursor
		if time.Now().After(limit) {
			run, _ := json.Marshal(v.Run)
			p.t.Fatalf("no end: %+v, %s", v, run)
		}
	}
	return v
}

func (p *plane) blueprint(data []byte, more map[string]any) host.Action {
	p.t.Helper()
	b, err := p.g.PutBlueprint(p.t.Context(), ann, "plan", data)
	if err != nil {
		p.t.Fatal(err)
	}
	args := map[string]any{"blueprint": b.Digest.String(), "at": []int{3, -60, 3}, "rate": 0}
	for k, v := range more {
		args[k] = v
	}
	return action("build_structure", args)
}

// TestGateway: the same host in front of the control plane itself.
func TestGateway(t *testing.T) {
	t.Parallel()
	t.Run("CP-45_CP-86/a placement through policy, delivery and receipt", func(t *testing.T) {
		t.Parallel()
		p := control(t, server.Config{}, nil)
		p.run()
		p.ready()
		p.s.Do(func(w *server.World) { w.Player("Tester").Give(36, "minecraft:stone", 64) })
		until(p.stage, func() bool {
			out, err := p.g.Read(t.Context(), ann, "builder-1", action("inventory_summary", map[string]any{}))
			var sum struct{ Counts map[string]int32 }
			return err == nil && json.Unmarshal(out, &sum) == nil && sum.Counts["minecraft:stone"] == 64
		})
		v := p.ended(p.submit(placing(2, -60, 0, "minecraft:stone")).ID)
		if v.State != ops.Succeeded || !v.ExecutionConfirmed {
			t.Errorf("%+v", v)
		}
	})
	t.Run("CP-103_CP-105/a building through children with a policy decision and a receipt each", func(t *testing.T) {
		t.Parallel()
		p := control(t, server.Config{}, nil)
		p.run()
		p.ready()
		v := p.ended(p.submit(p.blueprint(blueprints.Twelve(), map[string]any{"pipeline": 4})).ID)
		if v.State != ops.Succeeded || v.Children < 12 {
			t.Errorf("%+v %s", v, v.Output)
		}
		p.once()
	})
	t.Run("CP-97_CP-99/the emergency stop ends a building", func(t *testing.T) {
		t.Parallel()
		p := control(t, server.Config{}, nil)
		p.run()
		p.ready()
		op := p.submit(p.blueprint(blueprints.Twelve(), map[string]any{"rate": 10}))
		until(p.stage, func() bool { _, done := p.uses(); return done >= 2 })
		if _, err := p.g.Stop(t.Context(), ann, "builder-1", "fire"); err != nil {
			t.Fatal(err)
		}
		if v := p.ended(op.ID); v.State != ops.Cancelled {
			t.Errorf("%+v", v)
		}
		all, _ := p.uses()
		p.s.Step(50)
		if now, _ := p.uses(); now != all {
			t.Errorf("%d uses after the stop", now-all)
		}
	})
	t.Run("CP-93_CP-92/the daemon dies in the middle of a building, comes back on its store, and the building goes on", func(t *testing.T) {
		t.Parallel()
		p := control(t, server.Config{}, nil)
		w := &swap{}
		first := p.g.Host()
		w.set(&first)
		p.cfg.Daemon = w
		p.run()
		p.ready()
		op := p.submit(p.blueprint(blueprints.Twelve(), map[string]any{"rate": 20}))
		until(p.stage, func() bool { _, done := p.uses(); return done >= 4 })
		w.set(nil)
		p.g.Close()
		if err := p.engine.Close(); err != nil {
			t.Fatal(err)
		}
		p.open()
		next := p.g.Host()
		w.set(&next)
		if v := p.ended(op.ID); v.State != ops.Succeeded {
			t.Errorf("%+v %s", v, v.Output)
		}
		p.once()
	})
	t.Run("CP-67_CP-88/the host dies in the middle of a building and another one goes on", func(t *testing.T) {
		t.Parallel()
		p := control(t, server.Config{}, nil)
		l := p.killedPlane(journal.AfterMark, 9)
		p.run()
		p.ready()
		op := p.submit(p.blueprint(blueprints.Twelve(), nil))
		p.againPlane(l)
		if v := p.ended(op.ID); v.State != ops.Succeeded {
			t.Errorf("%+v %s", v, v.Output)
		}
		p.once()
	})
}

// swap is a daemon whose gateway may die and be another one afterwards.
type swap struct {
	mu sync.Mutex
	s  *controlplane.HostService // nil: away
}

func (w *swap) now() (controlplane.HostService, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.s == nil {
		return controlplane.HostService{}, errKilled
	}
	return *w.s, nil
}

func (w *swap) set(s *controlplane.HostService) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.s = s
}

func through[T any](w *swap, call func(controlplane.HostService) (T, error)) (none T, err error) {
	s, err := w.now()
	if err != nil {
		return none, err
	}
	return call(s)
}

func tell(w *swap, call func(controlplane.HostService) error) error {
	s, err := w.now()
	if err != nil {
		return err
	}
	return call(s)
}

func (w *swap) Register(ctx context.Context, m host.Manifest) (host.Session, error) {
	return through(w, func(s controlplane.HostService) (host.Session, error) { return s.Register(ctx, m) })
}
func (w *swap) Renew(ctx context.Context, x host.Session) (host.Session, error) {
	return through(w, func(s controlplane.HostService) (host.Session, error) { return s.Renew(ctx, x) })
}
func (w *swap) Unregister(ctx context.Context, x host.Session) error {
	return tell(w, func(s controlplane.HostService) error { return s.Unregister(ctx, x) })
}
func (w *swap) Publish(ctx context.Context, x host.Session, p host.Publication) error {
	return tell(w, func(s controlplane.HostService) error { return s.Publish(ctx, x, p) })
}
func (w *swap) Poll(ctx context.Context, x host.Session, limit int, wait time.Duration) (host.Batch, error) {
	return through(w, func(s controlplane.HostService) (host.Batch, error) { return s.Poll(ctx, x, limit, wait) })
}
func (w *swap) Answer(ctx context.Context, x host.Session, a host.Answer) error {
	return tell(w, func(s controlplane.HostService) error { return s.Answer(ctx, x, a) })
}
func (w *swap) Ack(ctx context.Context, x host.Session, a host.Ack) error {
	return tell(w, func(s controlplane.HostService) error { return s.Ack(ctx, x, a) })
}
func (w *swap) Run(ctx context.Context, x host.Session, r host.Run) error {
	return tell(w, func(s controlplane.HostService) error { return s.Run(ctx, x, r) })
}
func (w *swap) Outcome(ctx context.Context, x host.Session, o host.Outcome) error {
	return tell(w, func(s controlplane.HostService) error { return s.Outcome(ctx, x, o) })
}
func (w *swap) SubmitChild(ctx context.Context, x host.Session, c host.Child) (host.ChildView, error) {
	return through(w, func(s controlplane.HostService) (host.ChildView, error) { return s.SubmitChild(ctx, x, c) })
}
func (w *swap) Blueprint(ctx context.Context, x host.Session, d effects.Digest) ([]byte, error) {
	return through(w, func(s controlplane.HostService) ([]byte, error) { return s.Blueprint(ctx, x, d) })
}

// killedPlane is killed with the gateway in the desk's place.
func (p *plane) killedPlane(at journal.Point, n int32) *life {
	l := p.killed(at, n)
	p.cfg.Daemon = &mortalService{p.g.Host(), l}
	return l
}

// mortalService is a gateway that a killed host does not reach.
type mortalService struct {
	controlplane.HostService
	l *life
}

func (m *mortalService) Register(ctx context.Context, x host.Manifest) (host.Session, error) {
	if m.l.dead.Load() {
		return host.Session{}, errKilled
	}
	return m.HostService.Register(ctx, x)
}

func (m *mortalService) Ack(ctx context.Context, s host.Session, a host.Ack) error {
	if m.l.dead.Load() {
		return errKilled
	}
	return m.HostService.Ack(ctx, s, a)
}

func (m *mortalService) Outcome(ctx context.Context, s host.Session, o host.Outcome) error {
	if m.l.dead.Load() {
		return errKilled
	}
	return m.HostService.Outcome(ctx, s, o)
}

// againPlane starts another host on what the dead one left.
func (p *plane) againPlane(l *life) {
	p.t.Helper()
	select {
	case <-l.met:
	case <-time.After(60 * time.Second):
		p.t.Fatalf("the host never came to %s", l.at)
	}
	p.t.Cleanup(func() { close(l.free) })
	p.s.Do(func(w *server.World) {
		if pl := w.Player("Tester"); pl != nil {
			pl.Cut()
		}
	})
	a := &p.cfg.Actors[0]
	a.Dir, a.At, a.Options.Dial, a.Options.RuntimeDir = l.dir, nil, nil, p.t.TempDir()
	p.cfg.Daemon = p.g.Host()
	p.run()
}
