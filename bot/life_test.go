package bot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/internal/permits"
	"blockworld/bot/login"
	"blockworld/effects/path"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// lively are the versions in which the life of a session is tried: the first, the last and one between, in full all.
func lively() []registry.Protocol {
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		return registry.Protocols()
	}
	return []registry.Protocol{registry.First, registry.V1_21_4, registry.Latest}
}

// player runs f on our player in the server.
func player(t *testing.T, s *server.Server, f func(*server.Player)) {
	t.Helper()
	found := false
	s.Do(func(w *server.World) {
		if p := w.Player("Tester"); p != nil {
			found = true
			f(p)
		}
	})
	if !found {
		t.Fatal("the server has no player Tester")
	}
}

func onGround(tx *bot.Tx) bool { return tx.Ready() && tx.Player().OnGround }

func TestLife(t *testing.T) {
	for _, p := range lively() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) {
			t.Parallel()
			s := start(t, server.Config{Protocol: p, GameMode: worldstate.Survival, ViewDistance: 3, Tick: 5 * time.Millisecond})
			o := options(t, s)
			o.Tick, o.Respawn = 5*time.Millisecond, true
			b := run(t, o)
			await(t, b, "on the ground", onGround)
			began := snapshot(t, b)
			next := func(what string, do func(*server.Player)) bot.Snapshot {
				t.Helper()
				before := snapshot(t, b).Epoch
				player(t, s, do)
				await(t, b, what, func(tx *bot.Tx) bool { return tx.View().Epoch() != before && onGround(tx) })
				return snapshot(t, b)
			}
			if got := next("back after a reconfiguration", (*server.Player).Reconfigure); got.Dimension != began.Dimension {
				t.Errorf("in %s", got.Dimension)
			}
			got := next("in the nether", func(p *server.Player) { p.ChangeDimension("minecraft:the_nether", geom.Vec3{8.5, 6, 8.5}) })
			if got.Dimension != "minecraft:the_nether" {
				t.Errorf("in %s", got.Dimension)
			}
			got = next("back to life", (*server.Player).Die)
			if got.Self.Dead || got.Dimension != "minecraft:overworld" {
				t.Errorf("dead %v, in %s", got.Self.Dead, got.Dimension)
			}
			at := got.Position
			player(t, s, func(p *server.Player) { p.Knock(geom.Vec3{0.5, 0.4, 0}) })
			await(t, b, "knocked away", func(tx *bot.Tx) bool { return onGround(tx) && tx.Player().Pos[0] > at[0]+1 })
			if got := snapshot(t, b); got.Sent.Effects() != 0 {
				t.Errorf("DC-07: W=%d without an admission", got.Sent.Effects())
			}
			agree(t, s, b)
		})
	}
}

// agree compares where the server and we think we are.
func agree(t *testing.T, s *server.Server, b *bot.Bot) {
	t.Helper()
	await(t, b, "at rest", func(tx *bot.Tx) bool { return tx.Player().Vel[0] == 0 && tx.Player().Vel[2] == 0 })
	var ours, theirs geom.Vec3
	for range 200 {
		ours = snapshot(t, b).Position
		player(t, s, func(p *server.Player) { theirs = p.Position() })
		if theirs.Sub(ours).Len() < 1e-3 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("we are at %v, the server has us at %v", ours, theirs)
}

func TestFlight(t *testing.T) {
	for _, p := range lively() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) {
			t.Parallel()
			s := start(t, server.Config{Protocol: p, GameMode: worldstate.Creative, ViewDistance: 3, Tick: 5 * time.Millisecond})
			o := options(t, s)
			o.Tick = 5 * time.Millisecond
			b := run(t, o)
			await(t, b, "able to fly", func(tx *bot.Tx) bool { return onGround(tx) && tx.MayFly() })
			floor := int32(snapshot(t, b).Position[1])
			for _, to := range []geom.BlockPos{{X: 4, Y: floor + 6, Z: 2}, {X: -3, Y: floor + 2, Z: 5}, {X: 0, Y: floor + 9, Z: 0}} {
				fly(t, b, to)
				if got := snapshot(t, b); !got.Flying {
					t.Errorf("not flying at %v", to)
				}
				agree(t, s, b)
			}
			if got := snapshot(t, b); got.Corrected != 1 {
				t.Errorf("%d corrections in flight", got.Corrected-1)
			}
		})
	}
}

// fly finds a way through the air and follows it.
func fly(t *testing.T, b *bot.Bot, to geom.BlockPos) {
	t.Helper()
	follow(t, b, to, path.Options{CanFly: true}, bot.WalkOptions{})
}

// follow finds a path and follows it to its end.
func follow(t *testing.T, b *bot.Bot, to geom.BlockPos, o path.Options, w bot.WalkOptions) {
	t.Helper()
	table := path.NewTable(b.Registry())
	permit := permits.New(t).Take()
	o.WalkBox = geom.BlockBox{Min: geom.BlockPos{X: -40, Y: -64, Z: -40}, Max: geom.BlockPos{X: 40, Y: 200, Z: 40}}
	ended := make(chan string, 1)
	w.Done = func(_ *bot.Tx, walk *bot.Walk) {
		status, detail := walk.Status()
		ended <- fmt.Sprintf("%s %s", status, detail)
	}
	err := b.Do(t.Context(), func(tx *bot.Tx) {
		from := geom.BlockAt(tx.Player().Pos)
		r := path.Find(path.World{Table: table, Cells: tx.View()}, from, to, o, nil)
		if r.Status != path.Reached {
			ended <- fmt.Sprintf("no path from %v: %s, %s", from, r.Status, r.Why)
			return
		}
		if _, err := tx.Walk(permit, r.Nodes, w); err != nil {
			ended <- err.Error()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-ended:
		if got != "reached " {
			t.Fatalf("the way to %v ended: %s", to, got)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("the way to %v has not ended", to)
	}
	if at := snapshot(t, b).Position; geom.BlockAt(at) != to {
		t.Errorf("at %v, want %v", at, to)
	}
}

func TestSneakingWalk(t *testing.T) {
	for _, p := range lively() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) {
			t.Parallel()
			s := start(t, server.Config{Protocol: p, ViewDistance: 2, Tick: 5 * time.Millisecond})
			o := options(t, s)
			o.Tick = 5 * time.Millisecond
			b := run(t, o)
			await(t, b, "on the ground", onGround)
			floor := int32(snapshot(t, b).Position[1])
			follow(t, b, geom.BlockPos{X: 3, Y: floor}, path.Options{}, bot.WalkOptions{Sneak: true})
			agree(t, s, b)
			var stat int32
			player(t, s, func(p *server.Player) { stat = p.Stat(registry.StatCategoryCustom, registry.StatCrouch) })
			if stat < 150 {
				t.Errorf("the server counted %d cm of crouching", stat)
			}
			if got := snapshot(t, b); got.Corrected != 1 {
				t.Errorf("%d corrections", got.Corrected-1)
			}
			sneaking := true
			b.Do(t.Context(), func(tx *bot.Tx) { sneaking = tx.Out().Sneaking() })
			if sneaking {
				t.Error("the sneak key is still down")
			}
		})
	}
}

// standing is a session under way, with the bot on the ground; ended hears its end.
func standing(t *testing.T) (s *server.Server, ended chan error) {
	t.Helper()
	s = start(t, server.Config{Protocol: registry.Latest, ViewDistance: 2})
	b, err := bot.Join(t.Context(), options(t, s))
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- b.Run(context.Background()) }()
	await(t, b, "on the ground", onGround)
	return s, ended
}

func TestSessionsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(*server.Player)
		want error
		text string
	}{
		"kicked": {func(p *server.Player) { p.Kick("multiplayer.disconnect.idling") }, login.ErrKicked, "idle players"},
		"text":   {func(p *server.Player) { p.KickText("begone") }, login.ErrKicked, "begone"},
		"cut":    {(*server.Player).Cut, bot.ErrConnection, "play phase"},
	} {
		t.Run(name, func(t *testing.T) {
			s, ended := standing(t)
			player(t, s, tt.do)
			if err := <-ended; !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Run = %v", err)
			}
		})
	}
	t.Run("server stops", func(t *testing.T) {
		s, ended := standing(t)
		s.Close()
		if err := <-ended; !errors.Is(err, login.ErrKicked) && !errors.Is(err, bot.ErrConnection) {
			t.Errorf("Run = %v", err)
		}
	})
	t.Run("context ends", func(t *testing.T) {
		s := start(t, server.Config{Protocol: registry.Latest, ViewDistance: 2})
		b, err := bot.Join(t.Context(), options(t, s))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := b.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	})
}
