package bot

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blockworld/bot/egress"
	"blockworld/bot/internal/permits"
	"blockworld/bot/login"
	"blockworld/bot/physics"
	"blockworld/bot/wire"
	"blockworld/effects/path"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// ledger keeps what a scripted server received in play.
type ledger struct {
	mu      sync.Mutex
	packets []wire.Packet
}

// background records beside a script that goes on and may end.
func (l *ledger) background(s *peer) {
	s.kept = true
	go func() {
		defer s.raw.Close()
		l.record(s)
	}()
}

// record reads for ever.
func (l *ledger) record(s *peer) {
	for {
		p := s.read()
		l.mu.Lock()
		l.packets = append(l.packets, p)
		l.mu.Unlock()
	}
}

func (l *ledger) all() []wire.Packet {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]wire.Packet(nil), l.packets...)
}

func count[P wire.Packet](packets []wire.Packet) (n int) {
	for _, p := range packets {
		if _, ok := p.(P); ok {
			n++
		}
	}
	return n
}

// movement is the position or rotation of a movement packet.
func movement(p wire.Packet) (pos geom.Vec3, moves, isMovement bool) {
	switch p := p.(type) {
	case *wire.MovePlayerPos:
		return p.Position, true, true
	case *wire.MovePlayerPosRot:
		return p.Position, true, true
	case *wire.MovePlayerRot, *wire.MovePlayerStatusOnly:
		return geom.Vec3{}, false, true
	}
	return geom.Vec3{}, false, false
}

// standing is a script that leads a player onto the floor, then does more.
func standing(more func(*peer)) func(*peer) {
	return func(s *peer) {
		s.join()
		s.floor()
		s.place(1, geom.Vec3{0.5, 16, 0.5})
		more(s)
	}
}

func TestCorrectionsAreConfirmedOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		var l ledger
		const n = 40
		b, stop := joined(t, serve(t, p, standing(func(s *peer) {
			l.background(s)
			r := rand.New(rand.NewPCG(1, 2))
			for id := int32(2); id < 2+n; id++ {
				at := &wire.PlayerPosition{ID: id, Position: geom.Vec3{r.Float64() * 8, 16 + r.Float64(), r.Float64() * 8}}
				if r.IntN(3) == 0 {
					at.Position, at.Relative = geom.Vec3{r.Float64() - 0.5, 0, 0}, 7
				}
				s.send(at)
				if r.IntN(2) == 0 {
					time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
				}
			}
		})))
		wait(30 * time.Second)
		confirmed := map[int32]int{}
		perTick := 0
		for _, pk := range l.all() {
			switch pk := pk.(type) {
			case *wire.AcceptTeleportation:
				confirmed[pk.ID]++
			case *wire.ClientTickEnd:
				perTick = 0
			}
			if _, _, ok := movement(pk); ok && wire.Has(p, wire.ClientTickEndExists) {
				if perTick++; perTick > 1 {
					t.Errorf("a second movement packet before the tick end: %#v", pk)
				}
			}
		}
		for id := int32(2); id < 2+n; id++ {
			if confirmed[id] != 1 {
				t.Errorf("teleport %d confirmed %d times", id, confirmed[id])
			}
		}
		if got := snap(t, b); got.Corrected != n+1 || got.Sent.Effects() != 0 {
			t.Errorf("corrections %d, sent %v", got.Corrected, got.Sent)
		}
		stop()
	})
}

func TestRelativeTeleports(t *testing.T) {
	d := body{player: physics.Player{Pos: geom.Vec3{10, 70, -5}, Vel: geom.Vec3{1, 2, 3}}, yaw: 90, pitch: 10}
	m, ok := d.place(worldstate.Teleported{Position: geom.Vec3{1, 80, 2}, Velocity: geom.Vec3{0.5, 0, 0}, Rotation: geom.Rotation{Yaw: 5, Pitch: 95},
		Relative: worldstate.RelativeX | worldstate.RelativeZ | worldstate.RelativeYaw | worldstate.RelativeVelocityX})
	if !ok || m.Position != (geom.Vec3{11, 80, -3}) || m.Rotation != (geom.Rotation{Yaw: 95, Pitch: 90}) || d.player.Vel != (geom.Vec3{1.5, 0, 0}) {
		t.Errorf("%v %+v velocity %v", ok, m, d.player.Vel)
	}
	before := d
	for _, bad := range []float64{math.NaN(), math.Inf(1), 1e300} {
		if _, ok := d.place(worldstate.Teleported{Position: geom.Vec3{bad, 0, 0}}); ok || d != before {
			t.Errorf("a place at %v was taken", bad)
		}
	}
	d = body{player: physics.Player{Vel: geom.Vec3{0, 0, 1}}}
	d.place(worldstate.Teleported{Rotation: geom.Rotation{Yaw: 90}, Relative: worldstate.RelativeVelocityX | worldstate.RelativeVelocityY | worldstate.RelativeVelocityZ | worldstate.RotateVelocity})
	if v := d.player.Vel; v.Sub(geom.Vec3{-1, 0, 0}).Len() > 1e-9 {
		t.Errorf("a velocity to the south, turned to the west, is %v", v)
	}
}

func TestReconfiguration(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		again := make(chan struct{})
		var kinds []NoticeKind
		entered := 0
		opts := serve(t, p, standing(func(s *peer) {
			for waiting := true; waiting; {
				s.read() // a position reminder every second
				select {
				case <-again:
					waiting = false
				default:
				}
			}
			s.send(&wire.StartConfiguration{})
			until[*wire.ConfigurationAcknowledged](s)
			s.c.SetWriteState(wire.Configuration)
			expect[*wire.ClientInformation](s)
			expect[*wire.CustomPayload](s)
			s.configure()
			s.enter()
			s.floor()
			s.place(9, geom.Vec3{4.5, 16, 4.5})
			s.drain()
		}))
		opts.Notify = func(n Notice) { kinds = append(kinds, n.Kind) }
		opts.Entering = func() error { entered++; return nil }
		opts.Entered = func(Identity) error { entered += 100; return nil }
		b, stop := joined(t, opts)
		wait(time.Second)
		first := snap(t, b)
		close(again)
		wait(2 * time.Second)
		second := snap(t, b)
		if first.Epoch.World == second.Epoch.World || !second.Ready || second.Position != (geom.Vec3{4.5, 16, 4.5}) {
			t.Errorf("first %+v second %+v", first, second)
		}
		if entered != 202 {
			t.Errorf("entering and entered: %d", entered)
		}
		if diff := cmp.Diff([]NoticeKind{NoticeJoined, NoticeReconfiguring, NoticeJoined}, kinds); diff != "" {
			t.Error(diff)
		}
		stop()
	})
}

func TestLocks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		hold := standing((*peer).drain)
		opts := serve(t, registry.Latest, hold, hold, hold)
		_, stop := joined(t, opts)
		if _, err := Join(t.Context(), opts); !errors.Is(err, ErrInUse) {
			t.Errorf("the same account at the same address: %v", err)
		}
		other := opts
		other.Username = "TESTER"
		if _, err := Join(t.Context(), other); !errors.Is(err, ErrInUse) {
			t.Errorf("the same account in capitals: %v", err)
		}
		stop()
		opts2 := serve(t, registry.Latest, hold)
		opts2.RuntimeDir = opts.RuntimeDir
		_, stop = joined(t, opts2)
		stop()
	})
	t.Run("another address of the same server", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			hold := standing((*peer).drain)
			opts := serve(t, registry.Latest, hold, hold)
			_, stop := joined(t, opts)
			other := opts
			other.Username = "Another" // another lock at the address; the server names both Tester
			other.Address = "localhost:25566"
			if _, err := Join(t.Context(), other); !errors.Is(err, ErrInUse) {
				t.Errorf("got %v", err)
			}
			stop()
		})
	})
}

func TestAnswers(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		var l ledger
		opts := serve(t, p, standing(func(s *peer) {
			s.send(&wire.OpenScreen{Title: wire.Literal("our own")}, &wire.OpenScreen{Window: 3, Title: wire.Literal("trap")}, &wire.Ping{ID: 8},
				&wire.SetHeldSlot{Slot: 4}, &wire.SetHealth{Health: 0}, &wire.SetHealth{Health: 0})
			for i := range 70 {
				s.send(&wire.PlayerChat{Sender: worldstate.UUID{5}, Index: int32(i), Signed: true, Message: "x"})
			}
			l.record(s)
		}))
		opts.Respawn = true
		b, stop := joined(t, opts)
		wait(2 * time.Second)
		got := l.all()
		if n := count[*wire.ContainerClose](got); n != 1 {
			t.Errorf("window closed %d times", n)
		}
		if n := count[*wire.Pong](got); n != 1 {
			t.Errorf("%d pongs", n)
		}
		if n := count[*wire.ClientCommand](got); n != 1 {
			t.Errorf("%d respawn requests", n)
		}
		if n := count[*wire.ChatAck](got); n != 1 {
			t.Errorf("%d chat acknowledgements", n)
		}
		var held int32
		var dead, ready bool
		b.Do(t.Context(), func(tx *Tx) { held, dead, ready = tx.Out().Held(), tx.Dead(), tx.Ready() })
		if held != 4 || !dead || ready {
			t.Errorf("held %d, dead %v, ready %v", held, dead, ready)
		}
		stop()
	})
	t.Run("no respawn unless allowed", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			var l ledger
			_, stop := joined(t, serve(t, registry.Latest, standing(func(s *peer) {
				s.send(&wire.SetHealth{Health: 0})
				l.record(s)
			})))
			wait(time.Minute / 2)
			if n := count[*wire.ClientCommand](l.all()); n != 0 {
				t.Errorf("asked %d times", n)
			}
			stop()
		})
	})
}

// TestColumnsOutside: a server that sends columns far outside of its own view costs one notice and neither memory nor the
// session.
func TestColumnsOutside(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		var skipped []string
		opts := serve(t, p, standing(func(s *peer) {
			s.send(&wire.SetChunkCacheCenter{})
			for x := int32(20); x < 100; x++ {
				s.send(&wire.LevelChunkWithLight{Pos: geom.ChunkPos{X: x, Z: -x}, Data: column(s.protocol, 4, 1)})
			}
			s.drain()
		}))
		opts.Notify = func(n Notice) {
			if n.Kind == NoticeSkipped {
				skipped = append(skipped, n.Text)
			}
		}
		b, stop := joined(t, opts)
		wait(2 * time.Second)
		var columns []geom.ChunkPos
		var unkept int
		if err := b.Do(t.Context(), func(tx *Tx) { columns, unkept = tx.View().Columns(), tx.View().Unkept() }); err != nil {
			t.Fatal(err)
		}
		if len(columns) != 9 || unkept != 80 || len(skipped) != 1 {
			t.Errorf("%d columns, %d not kept, notices %q", len(columns), unkept, skipped)
		}
		stop()
	})
}

func TestRest(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var l ledger
		b, stop := joined(t, serve(t, registry.Latest, standing(func(s *peer) {
			l.background(s)
			for i := range int64(40) {
				time.Sleep(15 * time.Second)
				s.send(&wire.KeepAlive{ID: i})
			}
		})))
		wait(5 * time.Second)
		ticks, sent := snap(t, b).Ticks, len(l.all())
		wait(10*time.Minute - 6*time.Second)
		ran := snap(t, b).Ticks - ticks
		packets := l.all()[sent:]
		if ran > 601 {
			t.Errorf("%d ticks in ten minutes of rest", ran)
		}
		if n := count[*wire.MovePlayerPos](packets); n < 590 || n > 601 {
			t.Errorf("%d position reminders in ten minutes", n)
		}
		stop()
		wait(time.Minute)
	})
}

func TestFallAndKnockback(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		b, stop := joined(t, serve(t, p, func(s *peer) {
			s.join()
			s.floor()
			s.place(1, geom.Vec3{0.5, 24, 0.5})
			new(ledger).background(s)
			time.Sleep(4 * time.Second)
			s.send(&wire.SetEntityMotion{EntityID: 42, Velocity: wire.PackedVec{Vec: geom.Vec3{0.4, 0.4, 0}}})
		}))
		wait(3 * time.Second)
		if got := snap(t, b); got.Position != (geom.Vec3{0.5, 16, 0.5}) || !got.OnGround {
			t.Errorf("fell to %v, on ground %v", got.Position, got.OnGround)
		}
		wait(3 * time.Second)
		got := snap(t, b)
		if got.Position[0] < 1.5 || got.Position[1] != 16 || got.Sent.Effects() != 0 {
			t.Errorf("knocked to %v, sent %v", got.Position, got.Sent)
		}
		stop()
	})
}

// nodes is a straight path to the east.
func nodes(from, to int32) (out []path.Node) {
	for x := from; x <= to; x++ {
		move := path.Walk
		if x == from {
			move = path.Start
		}
		out = append(out, path.Node{Pos: geom.BlockPos{X: x, Y: 16}, Feet: 16, Move: move})
	}
	return out
}

// walk starts a walk and returns where its end is told.
func walk(t *testing.T, b *Bot, permit egress.Permit, path []path.Node, o WalkOptions) <-chan string {
	t.Helper()
	end := make(chan string, 1)
	o.Done = func(_ *Tx, w *Walk) {
		status, detail := w.Status()
		end <- fmt.Sprintf("%s %s", status, detail)
	}
	err := b.Do(t.Context(), func(tx *Tx) {
		if _, err := tx.Walk(permit, path, o); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func TestWalk(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		var l ledger
		b, stop := joined(t, serve(t, p, standing(l.record)))
		wait(2 * time.Second)
		from := len(l.all())
		end := walk(t, b, permits.New(t).Take(), nodes(0, 10), WalkOptions{Sprint: true})
		wait(10 * time.Second)
		if got := <-end; got != "reached " {
			t.Errorf("walk ended: %q", got)
		}
		got := snap(t, b)
		if flat(got.Position.Sub(geom.Vec3{10.5, 16, 0.5})) > 0.3 || !got.OnGround {
			t.Errorf("at %v", got.Position)
		}
		last := geom.Vec3{0.5, 16, 0.5}
		for _, pk := range l.all()[from:] {
			if at, moves, _ := movement(pk); moves {
				if d := flat(at.Sub(last)); d > 0.45 {
					t.Errorf("a step of %v blocks", d)
				}
				last = at
			}
		}
		if got.Sent[egress.Move] < 20 || got.Sent[egress.Place] != 0 {
			t.Errorf("sent %v", got.Sent)
		}
		if n := count[*wire.PlayerCommand](l.all()); n != 2 {
			t.Errorf("%d player commands, want sprint on and off", n)
		}
		stop()
	})
}

func TestWalkEnds(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		disturb    func(*peer)
	}{
		{"set back too often", "set back the server corrected the walk 4 times", func(s *peer) {
			for id := int32(10); id < 14; id++ {
				time.Sleep(300 * time.Millisecond)
				s.send(&wire.PlayerPosition{ID: id, Position: geom.Vec3{1.5, 16, 0.5}})
			}
		}},
		{"one correction is survived", "reached ", func(s *peer) {
			time.Sleep(300 * time.Millisecond)
			s.send(&wire.PlayerPosition{ID: 10, Position: geom.Vec3{1.5, 16, 0.5}})
		}},
		{"put off the path", "set back the server put us off the path", func(s *peer) {
			time.Sleep(300 * time.Millisecond)
			s.send(&wire.PlayerPosition{ID: 10, Position: geom.Vec3{-8, 30, 9}})
		}},
		{"DC-07/respawn ends a walk", "epoch ended the world changed under it", func(s *peer) {
			time.Sleep(300 * time.Millisecond)
			s.send(&wire.Respawn{Spawn: overworld})
		}},
		{"DC-07/reconfiguration ends a walk", "epoch ended the world changed under it", func(s *peer) {
			time.Sleep(300 * time.Millisecond)
			s.send(&wire.StartConfiguration{})
		}},
		{"death ends a walk", "epoch ended the bot died", func(s *peer) {
			time.Sleep(300 * time.Millisecond)
			s.send(&wire.SetHealth{Health: 0})
		}},
		{"blocked", "stuck no way on at ", func(s *peer) {
			reg, _ := registry.Load(s.protocol)
			stone, _ := reg.ParseState("stone")
			for y := int32(16); y < 18; y++ {
				s.send(&wire.BlockUpdate{Pos: geom.BlockPos{X: 3, Y: y}, State: int32(stone)})
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				walking := make(chan struct{})
				var l ledger
				b, stop := joined(t, serve(t, registry.Latest, standing(func(s *peer) {
					l.background(s)
					<-walking
					tt.disturb(s)
				})))
				wait(time.Second)
				end := walk(t, b, permits.New(t).Take(), nodes(0, 10), WalkOptions{})
				close(walking)
				wait(15 * time.Second)
				select {
				case got := <-end:
					if !strings.HasPrefix(got, tt.want) {
						t.Errorf("ended %q, want %q", got, tt.want)
					}
				default:
					t.Error("the walk has not ended")
				}
				before := snap(t, b).Sent.Effects()
				wait(5 * time.Second)
				if after := snap(t, b).Sent.Effects(); after != before {
					t.Errorf("%d effect packets after the end", after-before)
				}
				stop()
			})
		})
	}
}

func TestShutdownEndsEffects(t *testing.T) {
	t.Run("DC-07/nothing without an admission, nothing after close", func(t *testing.T) { inBubble(t, shutdown) })
}

func shutdown(t *testing.T) {
	var l ledger
	b, stop := joined(t, serve(t, registry.Latest, standing(l.record)))
	wait(time.Second)
	if w := snap(t, b).Sent.Effects(); w != 0 {
		t.Errorf("W=%d without an admission", w)
	}
	end := walk(t, b, permits.New(t).Take(), nodes(0, 10), WalkOptions{})
	wait(300 * time.Millisecond)
	if err := stop(); !errors.Is(err, ErrClosed) {
		t.Errorf("Run = %v", err)
	}
	if got := <-end; got != "epoch ended the session is over" {
		t.Errorf("walk ended: %q", got)
	}
	n := len(l.all())
	wait(time.Minute)
	if more := len(l.all()) - n; more != 0 {
		t.Errorf("%d packets after the end", more)
	}
	if err := b.Do(t.Context(), func(*Tx) { t.Error("ran after the end") }); !errors.Is(err, ErrClosed) {
		t.Errorf("Do = %v", err)
	}
}

func TestUnknownPacketsAreSkipped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b, stop := joined(t, serve(t, registry.Latest, standing(func(s *peer) {
			for id := byte(0x80); id < 0xff; id++ {
				s.c.WriteFrame([]byte{id, 0x7f, 1, 2, 3})
			}
			s.c.Flush()
			s.drain()
		})))
		wait(time.Second)
		if !snap(t, b).Ready {
			t.Error("the session did not go on")
		}
		stop()
	})
}

func TestStepped(t *testing.T) {
	start := time.UnixMilli(0)
	c := NewStepped(start)
	fired := make(chan time.Time, 3)
	for _, d := range []time.Duration{30 * time.Millisecond, 10 * time.Millisecond} {
		timer := c.Timer(d)
		go func() { fired <- <-timer.C() }()
	}
	stopped := c.Timer(5 * time.Millisecond)
	stopped.Stop()
	stopped.Stop()
	c.Advance(20 * time.Millisecond)
	if got := <-fired; got != start.Add(10*time.Millisecond) {
		t.Errorf("first at %v", got)
	}
	c.Advance(20 * time.Millisecond)
	if got := <-fired; got != start.Add(30*time.Millisecond) {
		t.Errorf("second at %v", got)
	}
	if c.Now() != start.Add(40*time.Millisecond) {
		t.Errorf("now %v", c.Now())
	}
}

func TestBackoff(t *testing.T) {
	b := Backoff{Min: time.Second, Max: 8 * time.Second, Tries: 6}
	var got []time.Duration
	for range 6 {
		d, ok := b.Next(0, 0)
		if !ok {
			t.Fatal("gave up early")
		}
		got = append(got, d)
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second, 8 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := b.Next(0, 0); ok {
		t.Error("did not give up")
	}
	if d, ok := b.Next(2*time.Minute, 0.999); !ok || d > time.Second || d < 700*time.Millisecond {
		t.Errorf("after a stable session: %v %v", d, ok)
	}
}

func TestNamesOfKinds(t *testing.T) {
	for k := NoticeJoined; k <= NoticeSkipped; k++ {
		if k.String() == "" {
			t.Errorf("notice %d has no name", k)
		}
	}
	for s := WalkUnderway; s <= WalkStopped; s++ {
		if s.String() == "" {
			t.Errorf("walk status %d has no name", s)
		}
	}
	if login.Accept.String() != "accept" {
		t.Error("policy name")
	}
}
