package hosting_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"blockworld/bot/hosting"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/host"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func actorName(i int) host.Name { return host.Name(fmt.Sprint("builder-", i+1)) }
func playerName(i int) string {
	if i == 0 {
		return "Tester"
	}
	return fmt.Sprint("Tester", i+1)
}

// crew makes a stage with several actors, each with an account and a journal of its own.
func crew(t *testing.T, c server.Config, n int) *stage {
	t.Helper()
	st := set(t, c)
	for i := 1; i < n; i++ {
		a := st.cfg.Actors[0]
		a.ID, a.Dir, a.Options.Username = actorName(i), t.TempDir(), playerName(i)
		st.cfg.Actors = append(st.cfg.Actors, a)
	}
	return st
}

// all waits until every actor stands on the server.
func (st *stage) all() *stage {
	st.t.Helper()
	for i := range st.cfg.Actors {
		st.d.await("a ready actor", func() bool {
			all := st.d.publications[actorName(i)]
			return len(all) > 0 && all[len(all)-1].Ready
		})
	}
	return st
}

// together begins one build with all actors and returns their operations.
func (st *stage) together(data []byte, more map[string]any) (ops []*operation) {
	st.t.Helper()
	var ids []host.Name
	for i := range st.cfg.Actors {
		ids = append(ids, actorName(i))
	}
	args := map[string]any{"actors": ids}
	for k, v := range more {
		args[k] = v
	}
	first := st.bound(st.blueprint(data, args))
	st.d.deliver(first)
	st.d.await("the mission", func() bool { return first.accepted })
	ops = append(ops, first)
	for i := 1; i < len(ids); i++ {
		ops = append(ops, st.joins(i, first, data, more))
	}
	return ops
}

// joins has an actor take part in a mission.
func (st *stage) joins(i int, first *operation, data []byte, more map[string]any) *operation {
	st.t.Helper()
	args := map[string]any{"mission": first.id.String()}
	for k, v := range more {
		args[k] = v
	}
	op, answer := st.bindFor(actorName(i), st.blueprint(data, args))
	if answer.Bound == nil {
		st.t.Fatalf("actor %d: %s: %s", i+1, answer.Code, answer.Message)
	}
	st.d.deliver(op)
	return op
}

// receipts counts each actor's receipts of a mission, and wants none twice.
func (st *stage) receipts(m effects.MissionID) (per []int) {
	st.t.Helper()
	seen := map[uint32]host.Name{}
	for i := range st.cfg.Actors {
		n := 0
		err := st.h.Journal(actorName(i)).Receipts(m, func(_ uint64, r effects.Receipt) bool {
			if _, places := r.Outcome.Postcondition.(effects.CellsBecome); !places {
				return true
			}
			if other, twice := seen[r.Outcome.Step.Index]; twice {
				st.t.Errorf("step %d has a receipt of %s and one of %s", r.Outcome.Step.Index, other, actorName(i))
			}
			seen[r.Outcome.Step.Index] = actorName(i)
			n++
			return true
		})
		if err != nil {
			st.t.Error(err)
		}
		per = append(per, n)
	}
	return per
}

func sum(all []int) (n int) {
	for _, k := range all {
		n += k
	}
	return n
}

// houseAt is where the building fits into the plot.
var houseAt = []int{2, -60, 2}

// hutRate is how many uses per second each bot of a hut makes, so that none of them has done it all before the others are there.
const hutRate = 25

// teams are the arguments of a team's build.
func teams(pipeline int) map[string]any {
	args := map[string]any{"pipeline": pipeline, "at": houseAt}
	if !full() {
		args["rate"] = hutRate
	}
	return args
}

func full() bool { return os.Getenv("BLOCKWORLD_FULL") == "1" }

// house is what teams build: a hut, and a whole house with BLOCKWORLD_FULL=1.
func house(t *testing.T) []byte {
	t.Helper()
	if full() {
		return blueprints.House()
	}
	b, err := blueprint.New("hut", geom.BlockPos{X: 5, Y: 4, Z: 5})
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = registry.First.Versions()[0].DataVersion
	for x := range int32(5) {
		for z := range int32(5) {
			wall := x == 0 || x == 4 || z == 0 || z == 4
			for y, text := range []string{"oak_planks", "stone", "stone", "oak_fence"} {
				door := x == 2 && z == 0
				switch {
				case y > 0 && !wall, y == 3 && (door || x%4 == 0 && z%4 == 0):
					continue
				case y == 1 && door:
					text = "oak_door[half=lower,facing=south]"
				case y == 2 && door:
					text = "oak_door[half=upper,facing=south]"
				}
				s, ok := blueprint.ParseState("minecraft:" + text)
				if !ok {
					t.Fatal(text)
				}
				if err := b.Set(geom.BlockPos{X: x, Y: int32(y), Z: z}, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestTeam(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Log("a hut; BLOCKWORLD_FULL=1 builds the house")
	}
	for _, n := range []int{2, 3} {
		for _, pipeline := range []int{1, 8} {
			for i, p := range []registry.Protocol{registry.V1_21_7, registry.Latest} {
				if !full() && i != (n+pipeline)%2 { // each pair of the three once
					continue
				}
				t.Run(fmt.Sprintf("SE-58_CP-104/%d bots build one house, pipeline %d, %d", n, pipeline, p), func(t *testing.T) {
					t.Parallel()
					st := crew(t, server.Config{Protocol: p}, n).start().all()
					ops := st.together(house(t), teams(pipeline))
					for i, op := range ops {
						o := st.outcome(op)
						if out := built(t, o); o.Status != host.Succeeded || !out.Done || out.Proven != out.Steps {
							t.Errorf("actor %d: %+v %s", i+1, o, o.Output)
						}
					}
					st.once()
					per := st.receipts(effects.MissionID(ops[0].id))
					if slices.Min(per) == 0 {
						t.Errorf("receipts per actor: %v", per)
					}
					if all, done := st.uses(); sum(per) != done {
						t.Errorf("%d receipts, %d uses, %d carried out", sum(per), all, done)
					}
					t.Logf("receipts per actor: %v", per)
				})
			}
		}
	}
}

// TestTeamRestart: the host ends in the middle, and another goes on.
func TestTeamRestart(t *testing.T) {
	t.Parallel()
	for _, pipeline := range []int{1, 8} {
		t.Run(fmt.Sprintf("SE-58_SE-60/the host ends twice in the middle, pipeline %d", pipeline), func(t *testing.T) {
			t.Parallel()
			st := crew(t, server.Config{}, 2).start().all()
			more := teams(pipeline)
			if pipeline > 1 { // a cut in the middle of several may leave some that nobody can tell of
				more["reconcile"] = "world"
			}
			ops := st.together(house(t), more)
			for _, uses := range []int{15, 40} {
				until(st, func() bool { _, done := st.uses(); return done >= uses })
				st.stop()
				st.d.say(func() {
					st.d.generation++
					st.d.batch = host.Batch{}
					st.d.publications = map[host.Name][]host.Publication{}
				})
				st.run()
				st.all()
				for _, op := range slices.Backward(ops) { // in another order than before
					st.redeliver(op)
				}
			}
			for i, op := range ops {
				o := st.outcome(op)
				if out := built(t, o); o.Status != host.Succeeded || !out.Done {
					t.Errorf("actor %d: %+v %s", i+1, o, o.Output)
				}
			}
			st.once()
			st.receipts(effects.MissionID(ops[0].id))
		})
	}
}

// TestTeamLoses: one bot is kicked in the middle and does not come back.
func TestTeamLoses(t *testing.T) {
	t.Parallel()
	for _, pipeline := range []int{1, 8} {
		t.Run(fmt.Sprintf("SE-58_CP-96/one bot goes for good with steps on their way, the other never sends those, pipeline %d", pipeline), func(t *testing.T) {
			t.Parallel()
			st := crew(t, server.Config{}, 2)
			var banned atomic.Bool
			dial := (&net.Dialer{}).DialContext
			st.cfg.Actors[1].Options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if banned.Load() {
					return nil, errors.New("banned")
				}
				return dial(ctx, network, address)
			}
			gone := make(chan struct{})
			var uses atomic.Int32
			cut := int32(12)
			if !full() {
				cut = 6
			}
			st.cfg.Actors[1].At = func(p journal.Point) { // cut between a use and its verdict
				if p == "after_packet" && uses.Add(1) == cut {
					banned.Store(true)
					st.s.Do(func(w *server.World) { w.Player(playerName(1)).Cut() })
					close(gone)
				}
			}
			st.start().all()
			ops := st.together(house(t), teams(pipeline))
			<-gone
			st.d.cancel(host.Cancellation{Op: ops[1].id, Actor: actorName(1), Why: "it is banned"})
			if o := st.outcome(ops[1]); o.Status != host.Cancelled {
				t.Errorf("%+v", o)
			}
			o := st.outcome(ops[0])
			out := built(t, o)
			if o.Code != "absent" && !out.Done {
				t.Errorf("%+v %s", o, o.Output)
			}
			st.once()
			banned.Store(false) // it may come back, and then the rest can be told
			st.d.await("the bot", func() bool {
				all := st.d.publications[actorName(1)]
				return len(all) > 0 && all[len(all)-1].Ready
			})
			st.s.Do(func(w *server.World) { // it takes no part any more, so nobody tells it to make way
				w.Player(playerName(1)).Teleport(geom.Vec3{-2.5, -60, -2.5}, geom.Rotation{})
			})
			more := teams(pipeline)
			more["mission"] = ops[0].id.String()
			_, o = st.done(st.blueprint(house(t), more))
			if out := built(t, o); o.Status != host.Succeeded || !out.Done {
				t.Errorf("%+v %s", o, o.Output)
			}
			st.once()
			t.Logf("receipts per actor: %v", st.receipts(effects.MissionID(ops[0].id)))
		})
	}
}

// TestTeamInTheWay: a bot stands where another one's step belongs.
func TestTeamInTheWay(t *testing.T) {
	t.Parallel()
	t.Run("CP-104/bots make way for each other's steps", func(t *testing.T) {
		t.Parallel()
		st := crew(t, server.Config{}, 2).start().all()
		for i := range 2 {
			st.s.Do(func(w *server.World) {
				w.Player(playerName(i)).Teleport(geom.Vec3{3.5 + float64(i), -60, 3.5}, geom.Rotation{})
			})
			st.d.await("the bot there", func() bool {
				all := st.d.publications[actorName(i)]
				var s struct{ Position [3]float64 }
				return len(all) > 0 && json.Unmarshal(all[len(all)-1].State, &s) == nil && s.Position[0] == 3.5+float64(i)
			})
		}
		for _, op := range st.together(blueprints.Twelve(), nil) {
			o := st.outcome(op)
			if out := built(t, o); o.Status != host.Succeeded || !out.Done {
				t.Errorf("%+v %s", o, o.Output)
			}
		}
		st.once()
	})
}

// TestStranger: who takes no part in a build stands where its last step belongs. The build says so, waits, goes on when they
// go, and ends in words when they do not.
func TestStranger(t *testing.T) {
	t.Parallel()
	for _, goes := range []bool{true, false} {
		t.Run(map[bool]string{true: "an idle actor that goes", false: "an idle actor that stays"}[goes], func(t *testing.T) {
			t.Parallel()
			st := crew(t, server.Config{}, 2).start().all()
			st.s.Do(func(w *server.World) {
				w.Player(playerName(1)).Teleport(geom.Vec3{6.5, -60, 3.5}, geom.Rotation{})
			})
			op := st.bound(st.blueprint(floor(t, 4, 1, "minecraft:stone"), nil))
			st.d.deliver(op)
			said := ""
			st.d.await("a word about who stands there", func() bool {
				for _, r := range st.d.runs[op.id] {
					if strings.Contains(r.Note, "entity_in_the_way") {
						said = r.Note
					}
				}
				return said != ""
			})
			if !strings.Contains(said, "actor builder-2 at 6,-60,3") || !strings.Contains(said, "step 4") {
				t.Errorf("said: %s", said)
			}
			if goes {
				st.s.Do(func(w *server.World) {
					w.Player(playerName(1)).Teleport(geom.Vec3{-2.5, -60, -2.5}, geom.Rotation{})
				})
			}
			o := st.outcome(op)
			out := built(t, o)
			if goes && (o.Status != host.Succeeded || !out.Done) {
				t.Errorf("%+v %s", o, o.Output)
			}
			if !goes && (o.Code != "entity_in_the_way" || out.Proven != 3 || !strings.Contains(o.Message, "builder-2 at 6,-60,3")) {
				t.Errorf("%+v %s", o, o.Output)
			}
			st.once()
			if goes {
				return
			}
			st.s.Do(func(w *server.World) {
				w.Player(playerName(1)).Teleport(geom.Vec3{-2.5, -60, -2.5}, geom.Rotation{})
			})
			_, o = st.done(st.blueprint(floor(t, 4, 1, "minecraft:stone"), map[string]any{"mission": op.id.String()}))
			if out := built(t, o); o.Status != host.Succeeded || !out.Done {
				t.Errorf("%+v %s", o, o.Output)
			}
		})
	}
}

// TestTeamRefused: what cannot be one mission is refused before anything is stored.
func TestTeamRefused(t *testing.T) {
	t.Parallel()
	st := crew(t, server.Config{}, 2)
	st.cfg.Actors[1].Plots = []hosting.Plot{{ID: "elsewhere", Boxes: st.cfg.Actors[0].Plots[0].Boxes}}
	st.start().all()
	for _, c := range []struct {
		more map[string]any
		word string
	}{
		{map[string]any{"actors": []string{"builder-2"}}, "this actor too"},
		{map[string]any{"actors": []string{"builder-1", "builder-1"}}, "twice"},
		{map[string]any{"actors": []string{"builder-1", "builder-9"}}, "does not run it"},
		{map[string]any{"actors": []string{"builder-1", "builder-2"}}, "no plot garden"},
	} {
		if _, a := st.bind(st.blueprint(blueprints.Twelve(), c.more)); a.Code != "invalid" || !strings.Contains(a.Message, c.word) {
			t.Errorf("%v: %s: %s", c.more, a.Code, a.Message)
		}
	}
	alone := st.bound(st.blueprint(blueprints.Twelve(), nil))
	st.d.deliver(alone)
	if o := st.outcome(alone); o.Status != host.Succeeded {
		t.Errorf("%+v", o)
	}
	args := map[string]any{"mission": alone.id.String(), "plot": "elsewhere"}
	if _, a := st.bindFor("builder-2", st.blueprint(blueprints.Twelve(), args)); a.Code != "not_found" {
		t.Errorf("one actor's own mission: %s: %s", a.Code, a.Message)
	}
}
