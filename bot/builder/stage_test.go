package builder_test

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/mission"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/play"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// The server's ticks are shorter than the bot's, so that a busy machine does not make an answer look late.
const (
	fastTick   = 20 * time.Millisecond
	serverTick = 8 * time.Millisecond
)

// bothOrders is one protocol of each of the two orders in which servers run packets: between ticks, and at a tick's start.
var bothOrders = []registry.Protocol{registry.V1_21_7, registry.Latest}

// corner is where buildings stand: on the grass, beside the spawn.
var corner = geom.BlockPos{X: 3, Y: -60, Z: 3}

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "4") // they wait for ticks and packets most of the time
	os.Exit(m.Run())
}

// stage is an embedded server with a probed game on it.
type stage struct {
	t *testing.T
	s *server.Server
	g *play.Game
}

func newStage(t *testing.T, c server.Config) *stage {
	t.Helper()
	if c.Protocol == 0 {
		c.Protocol = registry.Latest
	}
	if c.GameMode == worldstate.GameModeUnknown {
		c.GameMode = worldstate.Creative
	}
	c.Tick, c.ViewDistance, c.LogPackets, c.Logf, c.KeepAlive = serverTick, 3, true, t.Logf, 1<<30
	s, err := server.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	st := &stage{t: t, s: s}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	o := bot.Options{Address: s.Addr(), Username: "Builder", RuntimeDir: t.TempDir(), ViewDistance: 3, Tick: fastTick}
	if st.g, err = play.New(ctx, play.Config{Options: o, Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.g.Journal.Close() })
	return st
}

// twelve is the blueprint with a door, a double slab and two placements of one item in a row.
func twelve(t *testing.T) *blueprint.Blueprint {
	t.Helper()
	b, err := blueprints.Load("twelve.schem", blueprints.Twelve())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (st *stage) start(change func(*builder.Site)) *play.Mission {
	st.t.Helper()
	m, err := st.g.Start("twelve", twelve(st.t), corner, change)
	if err != nil {
		st.t.Fatal(err)
	}
	return m
}

func (st *stage) resume(m *play.Mission, change func(*builder.Site)) *play.Mission {
	st.t.Helper()
	next, err := m.Resume(change)
	if err != nil {
		st.t.Fatal(err)
	}
	return next
}

// work carries a mission out as far as it goes.
func (st *stage) work(m *play.Mission) builder.Result {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), 60*time.Second)
	defer cancel()
	r, err := m.Work(ctx)
	if err != nil {
		st.t.Fatalf("%v\n%v", err, m.Words())
	}
	return r
}

// done wants the mission complete, with a receipt per step.
func (st *stage) done(m *play.Mission, r builder.Result) {
	st.t.Helper()
	if !r.Done {
		st.t.Fatalf("waits: %s, step %d, %s\n%v", r.Waiting, r.Step, r.Stuck, m.Words())
	}
	st.whole(m)
	receipts, err := m.Receipts()
	if err != nil || len(receipts) != len(m.Plan.Steps) {
		st.t.Errorf("%d receipts for %d steps, %v\n%v", len(receipts), len(m.Plan.Steps), err, m.Words())
	}
	seen := map[effects.StepKey]bool{}
	for _, rec := range receipts {
		if seen[rec.Outcome.Step] {
			st.t.Errorf("a second receipt for %+v", rec.Outcome.Step)
		}
		seen[rec.Outcome.Step] = true
	}
}

// whole compares the server's own cells with the plan.
func (st *stage) whole(m *play.Mission) {
	st.t.Helper()
	states := effects.RegistryStates{Registry: st.s.Registry()}
	st.s.Do(func(w *server.World) {
		for _, c := range m.Plan.Final {
			if got := w.Block(c.Pos); !states.Same(c.State, got, c.Masked) {
				st.t.Errorf("%v is %s, planned is %s", c.Pos, st.s.Registry().FormatState(got), st.s.Registry().FormatState(c.State))
			}
		}
	})
}

// executed counts, per target cell and state made, how often the server carried out a use.
func (st *stage) executed() (per map[string]int, all int) {
	per = map[string]int{}
	for _, u := range st.s.Log() {
		all++
		if u.Executed && len(u.Cells) > 0 {
			per[u.Cells[0].Pos.String()+" "+u.Cells[0].To]++
		}
	}
	return per, all
}

// once wants no step executed twice.
func (st *stage) once() {
	st.t.Helper()
	per, _ := st.executed()
	for what, n := range per {
		if n > 1 {
			st.t.Errorf("%s was placed %d times", what, n)
		}
	}
}

// states counts the mission's steps by state.
func states(m *play.Mission) map[mission.State]int {
	out := map[mission.State]int{}
	for _, s := range m.Site.Mission().Statuses() {
		out[s.State]++
	}
	return out
}

func faults(t *testing.T, text string) *server.Faults {
	t.Helper()
	f, err := server.ParseFaults(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// meanwhile looks at the server once a tick, until f says that it is done or the test ends.
func (st *stage) meanwhile(f func(*server.World) bool) {
	quit, gone := make(chan struct{}), make(chan struct{})
	st.t.Cleanup(func() { close(quit); <-gone })
	go func() {
		defer close(gone)
		tick := time.NewTicker(serverTick)
		defer tick.Stop()
		for done := false; !done; {
			select {
			case <-quit:
				return
			case <-tick.C:
				st.s.Do(func(w *server.World) { done = f(w) })
			}
		}
	}()
}
