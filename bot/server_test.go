package bot_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/internal/permits"
	"blockworld/bot/login"
	"blockworld/effects"
	"blockworld/effects/path"
	"blockworld/fixtures/server"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// start runs an embedded server for a test.
func start(t *testing.T, c server.Config) *server.Server {
	t.Helper()
	c.Logf = t.Logf
	s, err := server.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func options(t *testing.T, s *server.Server) bot.Options {
	return bot.Options{
		Address: s.Addr(), Username: "Tester", RuntimeDir: t.TempDir(), ViewDistance: 3,
		Notify: func(n bot.Notice) { t.Logf("notice: %s: %s", n.Kind, n.Text) },
	}
}

// run joins and runs until the test ends.
func run(t *testing.T, o bot.Options) *bot.Bot {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	b, err := bot.Join(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- b.Run(context.Background()) }()
	t.Cleanup(func() {
		b.Close()
		if err := <-ended; !errors.Is(err, bot.ErrClosed) {
			t.Errorf("the session ended: %v", err)
		}
	})
	return b
}

// waiter tells when a condition holds, looking after each fact and each tick.
type waiter struct {
	cond func(*bot.Tx) bool
	done chan struct{}
	met  bool
}

func (w *waiter) Fact(tx *bot.Tx, _ bot.Fact) { w.look(tx) }
func (w *waiter) Tick(tx *bot.Tx) bool        { w.look(tx); return !w.met }
func (w *waiter) Ended(error)                 {}
func (w *waiter) look(tx *bot.Tx) {
	if !w.met && w.cond(tx) {
		w.met = true
		close(w.done)
	}
}

// await waits until a condition holds on the loop.
func await(t *testing.T, b *bot.Bot, what string, cond func(*bot.Tx) bool) {
	t.Helper()
	w := &waiter{cond: cond, done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := b.Do(ctx, func(tx *bot.Tx) { tx.Attach(w); tx.Wake(1); w.look(tx) }); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		s, _ := b.Snapshot(context.Background())
		t.Fatalf("not within the time: %s; %v %+v", what, b.Err(), s)
	}
	b.Do(ctx, func(tx *bot.Tx) { tx.Detach(w) })
}

func snapshot(t *testing.T, b *bot.Bot) bot.Snapshot {
	t.Helper()
	s, err := b.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEmbeddedServer(t *testing.T) {
	for _, p := range registry.Protocols() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) {
			t.Parallel()
			s := start(t, server.Config{Protocol: p, Encrypt: p%2 == 0, Compression: 64, ConfigPing: true, GameMode: worldstate.Creative, ViewDistance: 3,
				Tick: 5 * time.Millisecond})
			o := options(t, s)
			o.Tick = 5 * time.Millisecond
			o.Session = func(context.Context, login.SessionRequest) error { return nil } // versions without shouldAuthenticate ask it
			b := run(t, o)
			if b.Protocol() != p {
				t.Errorf("speaks %s", b.Protocol())
			}
			await(t, b, "ready and on the ground", func(tx *bot.Tx) bool { return tx.Ready() && tx.Player().OnGround })
			got := snapshot(t, b)
			if got.Self.GameMode != worldstate.Creative || got.Name != "Tester" || got.Sent.Effects() != 0 || got.Corrected != 1 {
				t.Errorf("snapshot %+v", got)
			}
			follow(t, b, geom.BlockPos{X: 5, Y: int32(got.Position[1]), Z: 3}, path.Options{}, bot.WalkOptions{Sprint: true})
			if at := snapshot(t, b); at.Corrected != 1 {
				t.Errorf("%d corrections under way", at.Corrected-1)
			}
		})
	}
}

func TestProbeEmbeddedServer(t *testing.T) {
	s := start(t, server.Config{Protocol: registry.Latest, GameMode: worldstate.Creative, ViewDistance: 2, Tick: 5 * time.Millisecond})
	o := options(t, s)
	o.Tick = 5 * time.Millisecond
	got, err := bot.Probe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	place, _ := got.Best(effects.PlaceBlock)
	if got.Fence != profile.FindingYes || got.Counters != profile.FindingYes || got.Inventory != profile.FindingYes || place.Grade != effects.Attributed {
		t.Errorf("probed %+v", got)
	}
}

// TestStay walks about on terrain with hills, ten minutes of game time in full, without a kick or a correction.
func TestStay(t *testing.T) {
	ticks := 2_000
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		ticks = 12_000
	}
	t.Run("DC-03/stepped ticks without a kick", func(t *testing.T) {
		s := start(t, server.Config{Protocol: registry.Latest, Terrain: server.Hills, Seed: 3, ViewDistance: 4, Stepped: true, GameMode: worldstate.Survival})
		clock := bot.NewStepped(time.Unix(0, 0))
		o := options(t, s)
		o.Clock, o.Dial = clock, func(context.Context, string, string) (net.Conn, error) { return s.Dial(), nil }
		o.Protocol = registry.Latest
		stepping := make(chan struct{})
		go func() {
			for {
				select {
				case <-stepping:
					return
				default:
					s.Step(1)
					s.Settle()
				}
			}
		}()
		b := run(t, o)
		close(stepping)
		table, source, r := path.NewTable(b.Registry()), permits.New(t), rand.New(rand.NewPCG(1, 1))
		scratch := new(path.Scratch)
		walks, reached := 0, 0
		done := func(_ *bot.Tx, w *bot.Walk) {
			if status, detail := w.Status(); status == bot.WalkReached {
				reached++
			} else {
				t.Logf("a walk ended: %s %s", status, detail)
			}
		}
		for tick := range ticks {
			s.Step(1)
			clock.Advance(50 * time.Millisecond)
			err := b.Do(t.Context(), func(tx *bot.Tx) {
				tx.Wake(2)
				if tick%200 != 100 || !tx.Ready() {
					return
				}
				if nodes := stroll(tx, table, scratch, r); nodes != nil {
					walks++
					tx.Walk(source.Take(), nodes, bot.WalkOptions{Sprint: true, Done: done})
				}
			})
			if err != nil {
				t.Fatalf("tick %d: %v", tick, err)
			}
			s.Settle()
		}
		end := snapshot(t, b)
		if walks < ticks/400 || reached < walks*9/10 || end.Corrected != 1 {
			t.Errorf("%d walks, %d reached, %d corrections", walks, reached, end.Corrected-1)
		}
		t.Logf("%d walks, %d reached, sent %v", walks, reached, end.Sent)
	})
}

// stroll is a path to a random cell nearby, nil if there is none.
func stroll(tx *bot.Tx, table *path.Table, scratch *path.Scratch, r *rand.Rand) []path.Node {
	from := geom.BlockAt(tx.Player().Pos)
	var goals []geom.BlockPos
	x, z := from.X+r.Int32N(25)-12, from.Z+r.Int32N(25)-12
	for y := from.Y - 8; y <= from.Y+8; y++ {
		goals = append(goals, geom.BlockPos{X: x, Y: y, Z: z})
	}
	box := geom.BlockBox{Min: geom.BlockPos{X: -60, Y: -64, Z: -60}, Max: geom.BlockPos{X: 60, Y: 300, Z: 60}}
	found := path.FindAny(path.World{Table: table, Cells: tx.View()}, from, goals, path.Options{WalkBox: box, Swim: true}, scratch)
	if found.Status != path.Reached {
		return nil
	}
	return found.Nodes
}
