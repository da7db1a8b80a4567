package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// controlGroups are the figures of the control plane.
var controlGroups = []benchGroup{{"submit", benchSubmits}, {"round", benchRound}, {"stop", benchStop}, {"restart", benchRestart}, {"policy", benchPolicy}}

// What the submits are measured with.
const (
	controlActors = 64
	controlFilled = 100_000                // operations of the big store
	controlSlice  = 400 * time.Millisecond // of submits, then of bare commits, in turn
	controlRounds = 5
)

// controlBench is a gateway on a file of its own, with a host that binds at once and takes everything.
type controlBench struct {
	dir     string
	engine  store.Engine
	gateway *controlplane.Gateway
	host    *hosttest.Host
	who     controlplane.Principal
	leases  []controlplane.Lease
	key     atomic.Int64
	stop    func()
}

// openControl starts a gateway on a store that holds so many finished operations.
func openControl(ctx context.Context, stored int) (*controlBench, error) {
	dir, err := os.MkdirTemp("", "blockworld-bench-")
	if err != nil {
		return nil, err
	}
	c := &controlBench{dir: dir, who: controlplane.Principal{ID: "bench", Actors: []string{"*"},
		Scopes: controlplane.Scopes(controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeExecute, controlplane.ScopeAdmin)}}
	if err := fillControl(c.path(), stored); err == nil {
		err = c.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *controlBench) path() string { return filepath.Join(c.dir, "control.db") }

func (c *controlBench) open(ctx context.Context) error {
	var err error
	if c.engine, err = store.Open(c.path(), store.Options{}); err != nil {
		return err
	}
	rules, err := policy.Compile(policy.Config{Profile: policy.Open, Plots: []policy.Plot{{ID: "plot", Owner: "bench"}},
		Budgets: []policy.Budget{{ID: "all", Layer: policy.LayerServer, MaxCount: 1 << 40}}})
	if err != nil {
		return err
	}
	c.gateway, err = controlplane.New(controlplane.Options{Engine: c.engine, Policy: rules, Now: time.Now, Rand: rand.Reader, SessionTTL: time.Hour})
	if err != nil {
		return err
	}
	var actors []host.Name
	for i := range controlActors {
		actors = append(actors, host.Name(fmt.Sprintf("bot-%d", i)))
	}
	c.host = hosttest.New(c.gateway.Host(), "bench", actors...)
	c.host.Bind, c.host.Quiet = c.bind, true
	if err := c.host.Join(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { c.gateway.Run(ctx) })
	work.Go(func() { c.host.Serve(ctx) })
	c.stop = func() { cancel(); c.gateway.Close(); work.Wait() }
	for _, a := range actors {
		l, err := c.gateway.Acquire(ctx, c.who, a, 5*time.Minute)
		if err != nil {
			return err
		}
		c.leases = append(c.leases, l)
	}
	return nil
}

// bind is what a real host says to a placement, in size and in kind.
func (c *controlBench) bind(q host.Gateway) host.Answer {
	a := c.host.Reply(q)
	binding := append(make([]byte, 300), q.Op[:]...)
	a.Bound.Binding, a.Bound.Digest = binding, sha256.Sum256(binding)
	return a
}

// Close ends everything and removes the file.
func (c *controlBench) Close() error {
	if c.stop != nil {
		c.stop()
	}
	var err error
	if c.engine != nil {
		err = c.engine.Close()
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

// submit sends one placement for an actor.
func (c *controlBench) submit(ctx context.Context, actor int) (operation.View, error) {
	n := c.key.Add(1)
	name := c.leases[actor].Actor
	epoch, seq := c.host.Seen(name)
	return c.gateway.Submit(ctx, c.who, controlplane.SubmitRequest{Actor: name, Lease: c.leases[actor].ID, Key: "k" + strconv.FormatInt(n, 10),
		Epoch: epoch, Sequence: seq, Task: "bench", Action: host.Action{Capability: "place_block",
			Arguments: json.RawMessage(fmt.Sprintf(`{"pos":[%d,64,-3],"state":"minecraft:oak_stairs[facing=north,half=bottom,shape=straight,waterlogged=false]"}`, n%1000))}})
}

// rate submits with so many callers for a slice of time and returns submits a second, and how long each took.
func (c *controlBench) rate(ctx context.Context, callers int) (perSecond float64, each []time.Duration, err error) {
	var mu sync.Mutex
	var work sync.WaitGroup
	began := time.Now()
	for i := range callers {
		work.Go(func() {
			var own []time.Duration
			var failed error
			for time.Since(began) < controlSlice && failed == nil {
				at := time.Now()
				_, failed = c.submit(ctx, i%controlActors)
				own = append(own, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			each, err = append(each, own...), errors.Join(err, failed)
		})
	}
	work.Wait()
	return float64(len(each)) / time.Since(began).Seconds(), each, err
}

// operationBytes is about what a stored operation of this bench takes with its indexes.
const operationBytes = 1500

// bareCommits is how many records of an operation's size a second bare transactions take, each to disk: one in each, or as
// many as there are callers.
func bareCommits(db *bbolt.DB, each int, next *uint64) (float64, error) {
	value := make([]byte, operationBytes)
	began, n := time.Now(), 0
	for time.Since(began) < controlSlice {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("raw"))
			for i := 0; i < each && err == nil; i++ {
				*next++
				err = bucket.Put(binary.BigEndian.AppendUint64(nil, *next), value)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		n += each
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// submitCase is one way of submitting that has a goal.
type submitCase struct {
	stored, callers int
	goal            float64
}

var submitCases = []submitCase{{0, 1, 2500}, {0, 64, 20_000}, {controlFilled, 1, 2500}, {controlFilled, 64, 20_000}}

func benchSubmits(ctx context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, stored := range []int{0, controlFilled} {
		c, err := openControl(ctx, stored)
		if err != nil {
			return nil, err
		}
		for _, k := range submitCases {
			if k.stored != stored {
				continue
			}
			f, err := c.measure(ctx, k, b.rounds)
			if err != nil {
				return nil, errors.Join(err, c.Close())
			}
			out = append(out, f)
		}
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// measure alternates submits with bare commits.
func (c *controlBench) measure(ctx context.Context, k submitCase, rounds int) (figure, error) {
	db, err := bbolt.Open(filepath.Join(c.dir, fmt.Sprintf("raw-%d.db", k.callers)), 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		return figure{}, err
	}
	defer db.Close()
	var own, raw spread
	var all []time.Duration
	var next uint64
	before := c.engine.Stats()
	for range min(controlRounds, rounds) {
		limit, err := bareCommits(db, k.callers, &next)
		if err != nil {
			return figure{}, err
		}
		rate, each, err := c.rate(ctx, k.callers)
		if err != nil {
			return figure{}, err
		}
		own, raw, all = append(own, rate), append(raw, limit), append(all, each...)
	}
	s := c.engine.Stats()
	slices.Sort(all)
	n := float64(len(all))
	f := own.figure(fmt.Sprintf("durable submits, %d callers, %d stored", k.callers, k.stored), "/s").beside(own, raw, "bare bbolt, as many records to a commit")
	f.Note = fmt.Sprintf("half within %v, 95 %% within %v; %.2f commits and %.2f fsyncs a submit, its delivery to the host with it",
		all[len(all)/2].Round(10*time.Microsecond), all[len(all)*95/100].Round(10*time.Microsecond),
		float64(s.Commits-before.Commits)/n, float64(s.Syncs-before.Syncs)/n)
	return f.goal(f.Median >= k.goal, fmt.Sprintf(">= %.0f/s", k.goal)), nil
}

// benchRound is a submit from the call to the outcome in the caller's hands, one after another: submit, delivery,
// acknowledgement, outcome, each durable.
func benchRound(ctx context.Context, b *bench) ([]figure, error) {
	c, err := openControl(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.host.Take = func(ctx context.Context, d host.Delivery) {
		if c.host.Accept(ctx, d) == nil {
			c.host.Report(ctx, hosttest.Proven(d.Op, 1))
		}
	}
	db, err := bbolt.Open(filepath.Join(c.dir, "raw.db"), 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var own, raw spread
	var next uint64
	for range min(controlRounds, b.rounds) {
		limit, err := bareCommits(db, 1, &next)
		if err != nil {
			return nil, err
		}
		raw = append(raw, 1e6/limit)
		for began := time.Now(); time.Since(began) < controlSlice; {
			at := time.Now()
			v, err := c.submit(ctx, 0)
			for cursor := ""; err == nil && !v.Terminal; {
				var got controlplane.WaitResult
				got, err = c.gateway.Wait(ctx, c.who, controlplane.WaitRequest{Op: v.ID, Cursor: cursor, TimeoutMS: 10_000})
				if err == nil {
					v, cursor = *got.Operation, got.Cursor
				}
			}
			if err != nil {
				return nil, err
			}
			own = append(own, float64(time.Since(at).Microseconds()))
		}
	}
	f := own.figure("submit to outcome, one caller", "us")
	f.Limit, f.LimitIs = raw.median(), "one bare commit"
	f.Ratio = f.Median / f.Limit
	f.Note = "submit with its delivery, acknowledgement, outcome: each durable before the next"
	return []figure{f}, nil
}

// benchStop is how long an emergency stop takes until the host has heard it.
func benchStop(ctx context.Context, b *bench) ([]figure, error) {
	c, err := openControl(ctx, 0)
	if err != nil {
		return nil, err
	}
	c.stop() // this host polls by itself
	c.gateway, err = controlplane.New(controlplane.Options{Engine: c.engine, Policy: mustRules(), Now: time.Now, Rand: rand.Reader, SessionTTL: time.Hour})
	if err != nil {
		return nil, errors.Join(err, c.engine.Close())
	}
	c.stop = func() { c.gateway.Close() }
	defer c.Close()
	h := hosttest.New(c.gateway.Host(), "bench", "bot-0")
	if err := h.Join(ctx); err != nil {
		return nil, err
	}
	var own spread
	for range min(200, 40*b.rounds) {
		heard := make(chan time.Time, 1)
		go func() {
			for {
				got, err := h.PollOnce(ctx, host.MaxBatch, 10*time.Second)
				if err != nil {
					close(heard)
					return
				}
				if slices.ContainsFunc(got.Cancellations, func(x host.Cancellation) bool { return x.Stop }) {
					heard <- time.Now()
					return
				}
			}
		}()
		at := time.Now()
		if _, err := c.gateway.Stop(ctx, c.who, "bot-0", "bench"); err != nil {
			return nil, err
		}
		then, ok := <-heard
		if !ok {
			return nil, errors.New("the host's poll failed")
		}
		own = append(own, float64(then.Sub(at).Microseconds()))
		if _, err := c.gateway.ClearStop(ctx, c.who, "bot-0"); err != nil {
			return nil, err
		}
	}
	f := own.figure("emergency stop to the host's ear", "us")
	f.Note = "latched on disk first; the host then denies every effect, so no later than the tick under way"
	return []figure{f.goal(f.Median <= 50_000, "<= one tick, 50,000 us")}, nil
}

// mustRules is a policy that compiles: it has nothing in it.
func mustRules() *policy.Engine {
	e, err := policy.Compile(policy.Config{Profile: policy.Open})
	if err != nil {
		return &policy.Engine{} // denies everything
	}
	return e
}

// benchRestart is how long a daemon takes to come back.
func benchRestart(ctx context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, k := range []struct {
		stored int
		goal   time.Duration
	}{{10_000, 50 * time.Millisecond}, {controlFilled, time.Second}} {
		dir, err := os.MkdirTemp("", "blockworld-bench-")
		if err != nil {
			return nil, err
		}
		f, err := restartOf(filepath.Join(dir, "control.db"), k.stored, b.rounds)
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return nil, err
		}
		out = append(out, f.goal(f.Median <= float64(k.goal.Milliseconds()), fmt.Sprintf("<= %v", k.goal)))
	}
	return out, nil
}

func restartOf(path string, stored, rounds int) (figure, error) {
	if err := fillControl(path, stored); err != nil {
		return figure{}, err
	}
	var own, raw spread
	for range min(controlRounds, rounds) {
		at := time.Now()
		e, err := store.Open(path, store.Options{MustExist: true})
		if err != nil {
			return figure{}, err
		}
		g, err := controlplane.New(controlplane.Options{Engine: e, Policy: mustRules(), Now: time.Now, Rand: rand.Reader})
		if err != nil {
			return figure{}, errors.Join(err, e.Close())
		}
		own = append(own, float64(time.Since(at).Microseconds())/1000)
		g.Close()
		if err := e.Close(); err != nil {
			return figure{}, err
		}
		at = time.Now()
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, ReadOnly: true})
		if err != nil {
			return figure{}, err
		}
		raw = append(raw, float64(time.Since(at).Microseconds())/1000)
		if err := db.Close(); err != nil {
			return figure{}, err
		}
	}
	f := own.figure(fmt.Sprintf("restart with %d operations", stored), "ms").beside(own, raw, "bbolt opens the file")
	f.Note = fmt.Sprintf("store opened and checked, gateway ready; %d of them unfinished", stored/100)
	return f, nil
}

// fillControl writes a store of so many operations, of which one in a hundred is unfinished. It does not wait for the disk.
func fillControl(path string, stored int) error {
	e, err := store.Open(path, store.Options{NoSync: true})
	if err != nil {
		return err
	}
	for from := 0; from < stored && err == nil; from += 1000 {
		err = e.Update(func(tx store.Tx) error {
			for i := from; i < min(stored, from+1000); i++ {
				if err := fillOne(store.Ops(tx), i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return errors.Join(err, e.Close())
}

func fillOne(ops store.OpsTx, i int) error {
	at := operation.Instant(1_700_000_000_000 + int64(i))
	op := sampleOperation(i, at)
	made, _, err := ops.Create(op, operation.Created{Decision: operation.Decision{Result: operation.Allow, Revision: "bench"}}, at)
	if err != nil || i%100 == 0 {
		return err
	}
	for _, ev := range []operation.Event{operation.Polled{}, operation.Acked{Ack: host.Ack{Op: made.ID, Accepted: true, Digest: made.Bound.Digest}},
		operation.OutcomeCame{Outcome: hosttest.Proven(made.ID, uint64(i))}} {
		if _, _, err := ops.Step(made.ID, ev, at); err != nil {
			return err
		}
	}
	return nil
}

// sampleOperation is an operation like those of a building.
func sampleOperation(i int, at operation.Instant) operation.Operation {
	var id host.OpID
	binary.BigEndian.PutUint64(id[:], uint64(at)<<16)
	binary.BigEndian.PutUint64(id[8:], uint64(i)+1)
	pos := [3]int32{int32(i % 1000), 64, -3}
	const block = "minecraft:oak_stairs[facing=north,half=bottom,shape=straight,waterlogged=false]"
	binding := append(make([]byte, 300), id[:]...)
	return operation.Operation{ID: id, Kind: host.KindEffect, Principal: "bench", Actor: host.Name(fmt.Sprintf("bot-%d", i%controlActors)), Host: "bench",
		Task: "bench", Lease: "lease-0123456789abcdef", Key: fmt.Sprintf("fill-%d", i), Payload: effects.Digest(sha256.Sum256(id[:])),
		Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(`{"pos":[10,64,-3],"state":"` + block + `"}`)},
		Bound: host.Bound{Op: id, Binding: binding, Digest: sha256.Sum256(binding), Precondition: effects.Digest{2},
			Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, Sequence: 17, Summary: "place 1 minecraft:oak_stairs", ValidUntil: -1,
			Effects: []host.Preview{{Kind: "world.place", Operation: "create", Ownership: "own", Scope: "plot", Risk: "moderate", Reversible: true,
				Quantity: 1, Pos: &pos, Block: block, Item: "minecraft:oak_stairs"}}}}
}

// benchPolicy is one decision among many rules, most of them of other subjects and kinds.
func benchPolicy(_ context.Context, b *bench) ([]figure, error) {
	var engines []*policy.Engine
	sizes := []int{20, 200, 2000}
	for _, n := range sizes {
		e, err := policy.Compile(manyRules(n))
		if err != nil {
			return nil, err
		}
		engines = append(engines, e)
	}
	pos := [3]int32{1, 64, 1}
	f := policy.Facts{Principal: "owner-3", Actor: "actor-3", Task: "task-3", Server: "play.example.org", World: "minecraft:overworld",
		Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, GameTick: 1000,
		Effects: []host.Preview{{Kind: "world.place", Operation: "create", Ownership: "own", Scope: "plot-3", Risk: "moderate", Reversible: true,
			Quantity: 1, Pos: &pos, Block: "minecraft:stone", Item: "minecraft:stone"}}}
	var denied atomic.Int64
	var fs []func(int)
	for _, e := range engines {
		fs = append(fs, func(n int) {
			for range n {
				if d := e.Decide(&f, nil); d.Result == policy.Deny {
					denied.Add(1)
				}
			}
		})
	}
	var out []figure
	for i, s := range sideBySide(b.rounds, fs...) {
		f := s.figure(fmt.Sprintf("policy decision, %d rules", sizes[i]), "ns")
		f.Note = "one placement; every twentieth rule speaks of everybody"
		out = append(out, f.goal(f.Median <= 2000, "<= 2,000 ns"))
	}
	if n := denied.Load(); n > 0 {
		return nil, fmt.Errorf("%d decisions denied what the rules allow", n)
	}
	return out, nil
}

// manyRules is a policy as a daemon with many bots grows one.
func manyRules(n int) policy.Config {
	c := policy.Config{Profile: policy.Open}
	for i := range 100 {
		c.Plots = append(c.Plots, policy.Plot{ID: host.Name(fmt.Sprintf("plot-%d", i)), Owner: host.Name(fmt.Sprintf("owner-%d", i%97))})
	}
	kinds := []policy.Kind{policy.KindWorldPlace, policy.KindChatSay, policy.KindActorMove, policy.KindWorldBuild}
	layers := []policy.Layer{policy.LayerWorld, policy.LayerOwner, policy.LayerActor, policy.LayerTask}
	for i := range n {
		r := policy.Rule{ID: host.Name(fmt.Sprintf("rule-%d", i)), Priority: i % 7, Result: policy.Allow, Layer: layers[i%4]}
		r.Subject = fmt.Sprintf("%s-%d", r.Layer, i%97)
		r.Kinds = kinds[i/4%4 : i/4%4+1]
		if i%20 == 0 {
			r.Layer, r.Subject, r.Risks = policy.LayerServer, "", []policy.Risk{policy.RiskCritical}
		}
		c.Rules = append(c.Rules, r)
	}
	return c
}
