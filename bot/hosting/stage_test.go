package hosting_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"blockworld/bot"
	"blockworld/bot/hosting"
	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// The server's ticks are shorter than the bot's, so that a busy machine does not make an answer look late.
const (
	fastTick   = 20 * time.Millisecond
	serverTick = 8 * time.Millisecond
)

// build is the plot's build box: grass is at y -61, the bot starts at 0,-60,0.
var build = geom.BlockBox{Min: geom.BlockPos{X: -3, Y: -60, Z: -3}, Max: geom.BlockPos{X: 12, Y: -50, Z: 12}}

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "4") // they wait for ticks and packets most of the time
	os.Exit(m.Run())
}

// stage is an embedded server, a desk, and a host with one actor between them.
type stage struct {
	t     *testing.T
	s     *server.Server
	d     *desk
	cfg   hosting.Config
	h     *hosting.Host
	stop  func() // ends the host, as a kill would end it: nothing is said to anybody
	ended chan struct{}
}

// set starts server and desk and probes the server.
func set(t *testing.T, c server.Config) *stage {
	t.Helper()
	if c.Protocol == 0 {
		c.Protocol = registry.Latest
	}
	if c.GameMode == worldstate.GameModeUnknown {
		c.GameMode = worldstate.Creative
	}
	c.Tick, c.ViewDistance, c.LogPackets, c.NoSpamKick, c.KeepAlive = serverTick, 3, true, true, 1<<30
	s, err := server.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	o := bot.Options{Address: s.Addr(), Username: "Tester", Protocol: c.Protocol, RuntimeDir: t.TempDir(), ViewDistance: 3, Tick: fastTick}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	found, err := bot.Probe(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	prof := found.Profile(time.Now(), profile.AcceptAttributed)
	prof.Offers[effects.Say.String()] = profile.Offer{Least: profile.Grade(effects.Acknowledged), Reachable: profile.Grade(effects.Acknowledged)}
	d := newDesk(t)
	log := hclog.New(&hclog.LoggerOptions{Output: logWriter{t}, Level: hclog.Info})
	return &stage{t: t, s: s, d: d, cfg: hosting.Config{
		Name: "bots", Daemon: d, Log: log, Rejoin: bot.Backoff{Min: 20 * time.Millisecond, Max: 200 * time.Millisecond},
		Reregister: bot.Backoff{Min: 20 * time.Millisecond, Max: 200 * time.Millisecond}, Publish: 50 * time.Millisecond, Patience: 2 * time.Second,
		Actors: []hosting.ActorConfig{{
			ID: "builder-1", Options: o, Dir: t.TempDir(), Profile: prof,
			Plots: []hosting.Plot{{ID: "garden", Boxes: sentinel.PlotOf(build), Ownership: "own"}},
		}},
	}}
}

// logWriter drops what comes after the test.
type logWriter struct{ t *testing.T }

func (w logWriter) Write(b []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Logf("%s", b)
	}
	return len(b), nil
}

// start runs the host and waits until its actor is published as ready.
func (st *stage) start() *stage {
	st.t.Helper()
	st.run()
	st.ready()
	return st
}

func (st *stage) run() {
	st.t.Helper()
	var err error
	if st.h, err = hosting.New(st.cfg); err != nil {
		st.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	h := st.h
	go func() {
		defer close(ended)
		if err := h.Run(ctx); !errors.Is(err, context.Canceled) {
			st.t.Errorf("run: %v", err)
		}
	}()
	st.stop = func() { cancel(); <-ended }
	st.t.Cleanup(st.stop)
}

// ready waits for a publication that says so and returns it.
func (st *stage) ready() (p host.Publication) {
	st.t.Helper()
	var generation uint64
	st.d.mu.Lock()
	generation = st.d.generation
	n := len(st.d.publications["builder-1"])
	st.d.mu.Unlock()
	st.d.await("a ready actor", func() bool {
		all := st.d.publications["builder-1"]
		if len(all) == 0 || st.d.generation == generation && len(all) < n {
			return false
		}
		p = all[len(all)-1]
		var s struct {
			Position [3]float64 `json:"position"`
		}
		json.Unmarshal(p.State, &s)
		return p.Ready && s.Position[1] == -60
	})
	return p
}

func action(capability string, arguments any) host.Action {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return host.Action{Capability: capability, Arguments: b}
}

func placing(x, y, z int, state string) host.Action {
	return action("place_block", map[string]any{"pos": []int{x, y, z}, "state": state})
}

// bind has an action bound.
func (st *stage) bind(a host.Action) (*operation, host.Answer) {
	st.t.Helper()
	return st.bindFor("builder-1", a)
}

func (st *stage) bindFor(actor host.Name, a host.Action) (*operation, host.Answer) {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), 30*time.Second)
	defer cancel()
	op, answer, err := st.d.ask(ctx, actor, a, host.OpID{}, fmt.Sprint("key-", time.Now().UnixNano()))
	if err != nil {
		st.t.Fatal(err)
	}
	return op, answer
}

// bound wants an action bound.
func (st *stage) bound(a host.Action) *operation {
	st.t.Helper()
	op, answer := st.bind(a)
	if answer.Bound == nil {
		st.t.Fatalf("%s is not bound: %s: %s", a.Capability, answer.Code, answer.Message)
	}
	return op
}

// outcome waits for the first outcome of an operation that is an end.
func (st *stage) outcome(op *operation) host.Outcome {
	st.t.Helper()
	var o host.Outcome
	st.d.await("an outcome", func() bool {
		all := st.d.outcomes[op.id]
		if len(all) == 0 {
			return false
		}
		o = all[len(all)-1]
		return o.Status != host.Unknown
	})
	return o
}

// done binds, delivers and waits.
func (st *stage) done(a host.Action) (*operation, host.Outcome) {
	st.t.Helper()
	op := st.bound(a)
	st.d.deliver(op)
	return op, st.outcome(op)
}

// hold makes the bot hold a stone.
func (st *stage) hold() {
	st.t.Helper()
	st.give("minecraft:stone", 64)
}

func (st *stage) give(item string, n int32) {
	st.t.Helper()
	st.s.Do(func(w *server.World) { w.Player("Tester").Give(36, item, n) })
	st.see(func(sum map[string]int32) bool { return sum[item] >= n })
}

// see asks for the inventory until it is so.
func (st *stage) see(ok func(map[string]int32) bool) {
	st.t.Helper()
	until(st, func() bool {
		a := st.d.read("builder-1", action("inventory_summary", map[string]any{}))
		var sum struct {
			Counts map[string]int32 `json:"counts"`
		}
		return json.Unmarshal(a.Output, &sum) == nil && ok(sum.Counts)
	})
}

// uses counts what reached the server, and what it carried out.
func (st *stage) uses() (all, done int) {
	for _, u := range st.s.Log() {
		if all++; u.Executed {
			done++
		}
	}
	return all, done
}

// effectPackets counts what the server received of packets that only an effect sends.
func (st *stage) effectPackets() (n int) {
	for _, e := range st.s.Packets() {
		switch p := e.Packet.(type) {
		case *wire.UseItemOn, *wire.Swing, *wire.Chat, *wire.SetCarriedItem, *wire.SetCreativeModeSlot, *wire.PlayerCommand, *wire.MovePlayerRot:
			n++
		case *wire.ContainerClick:
			if p.Slot != -1 {
				n++
			}
		}
	}
	return n
}

func (st *stage) block(x, y, z int32) (state string) {
	st.s.Do(func(w *server.World) { state = st.s.Registry().FormatState(w.Block(geom.BlockPos{X: x, Y: y, Z: z})) })
	return state
}

// errKilled is what a killed host meets wherever it turns.
var errKilled = errors.New("killed")

// life is one run of a host that can be killed: then nothing of it reaches daemon or server any more.
type life struct {
	st   *stage
	at   journal.Point
	dead atomic.Bool
	met  chan struct{} // closed at the point
	free chan struct{} // closed when the test is over: whoever was stopped goes on into nothing
	dir  string        // the journal as it was at the point
}

// killed changes the stage's configuration so that the host dies when it comes to a point for the nth time.
func (st *stage) killed(at journal.Point, n int32) *life {
	l := &life{st: st, at: at, met: make(chan struct{}), free: make(chan struct{})}
	from := st.cfg.Actors[0].Dir
	var count atomic.Int32
	st.cfg.Actors[0].At = func(p journal.Point) {
		if p != l.at || count.Add(1) != n {
			if l.dead.Load() {
				<-l.free
			}
			return
		}
		l.dead.Store(true)
		l.dir = st.t.TempDir()
		if err := os.CopyFS(l.dir, os.DirFS(from)); err != nil {
			st.t.Error(err)
		}
		close(l.met)
		<-l.free
	}
	dial := (&net.Dialer{}).DialContext
	st.cfg.Actors[0].Options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.dead.Load() {
			return nil, errKilled
		}
		return dial(ctx, network, address)
	}
	st.cfg.Daemon = &mortal{st.d, l}
	return l
}

// mortal is a desk that a killed host does not reach.
type mortal struct {
	*desk
	l *life
}

func (m *mortal) Register(ctx context.Context, x host.Manifest) (host.Session, error) {
	if m.l.dead.Load() {
		return host.Session{}, errKilled
	}
	return m.desk.Register(ctx, x)
}

func (m *mortal) Ack(ctx context.Context, s host.Session, a host.Ack) error {
	if m.l.dead.Load() {
		return errKilled
	}
	return m.desk.Ack(ctx, s, a)
}

func (m *mortal) Outcome(ctx context.Context, s host.Session, o host.Outcome) error {
	if m.l.dead.Load() {
		return errKilled
	}
	return m.desk.Outcome(ctx, s, o)
}

// again waits for the point, takes the dead host's connections down, and starts another host on its journal.
func (st *stage) again(l *life) {
	st.t.Helper()
	select {
	case <-l.met:
	case <-time.After(60 * time.Second):
		st.t.Fatalf("the host never came to %s", l.at)
	}
	st.t.Cleanup(func() { close(l.free) }) // before the dead host's own end
	st.d.say(func() {
		st.d.generation++
		st.d.batch = host.Batch{}
	})
	st.s.Do(func(w *server.World) {
		if p := w.Player("Tester"); p != nil {
			p.Cut()
		}
	})
	a := &st.cfg.Actors[0]
	a.Dir, a.At, a.Options.Dial, a.Options.RuntimeDir = l.dir, nil, nil, st.t.TempDir()
	st.cfg.Daemon = st.d
	st.start()
}
