package hosting_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"blockworld/bot/hosting"
	"blockworld/controlplane"
	"blockworld/controlplane/policy"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/host"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/server"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"

	ops "blockworld/controlplane/operation"
)

// floor is a blueprint of one layer of blocks, which rest on nothing of each other.
func floor(t *testing.T, x, z int32, blocks ...string) []byte {
	t.Helper()
	return layered(t, x, z, 1, blocks...)
}

// layered is a blueprint of several such layers.
func layered(t *testing.T, x, z, y int32, blocks ...string) []byte {
	t.Helper()
	b, err := blueprint.New("floor", geom.BlockPos{X: x, Y: y, Z: z})
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = registry.First.Versions()[0].DataVersion
	for i := range x * y * z {
		s, ok := blueprint.ParseState(blocks[int(i)%len(blocks)])
		if !ok {
			t.Fatal(blocks)
		}
		if err := b.Set(geom.BlockPos{X: i % x, Y: i / x / z, Z: i / x % z}, s); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestLeaves: a host that ends in good order says so.
func TestLeaves(t *testing.T) {
	t.Parallel()
	st := set(t, server.Config{}).start()
	st.stop()
	st.d.mu.Lock()
	defer st.d.mu.Unlock()
	if len(st.d.left) != 1 || st.d.left[0] != st.d.generation {
		t.Errorf("sessions ended: %v, the last was %d", st.d.left, st.d.generation)
	}
}

// TestTwoHosts: a second host under one name is refused while the first is there, and admitted when that has left.
func TestTwoHosts(t *testing.T) {
	t.Parallel()
	p := control(t, server.Config{}, nil)
	p.run()
	p.ready()
	second := p.cfg
	second.Actors = slices.Clone(p.cfg.Actors)
	second.Actors[0].Dir = t.TempDir()
	second.Actors[0].ID = "builder-9"
	second.Actors[0].Options.Username = "Other"
	refused := make(chan struct{}, 64)
	second.Daemon = &refusals{p.g.Host(), refused}
	h, err := hosting.New(second)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); h.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	<-refused
	<-refused
	if v, err := p.g.Actor(t.Context(), ann, "builder-1"); err != nil || !v.Online {
		t.Errorf("the first host was thrown out: %+v, %v", v, err)
	}
	p.stop()
	until(p.stage, func() bool {
		v, err := p.g.Actor(t.Context(), ann, "builder-9")
		return err == nil && v.Online
	})
}

// refusals hears of registrations that are refused.
type refusals struct {
	controlplane.HostService
	refused chan struct{}
}

func (r *refusals) Register(ctx context.Context, m host.Manifest) (host.Session, error) {
	s, err := r.HostService.Register(ctx, m)
	if err != nil {
		if controlplane.CodeOf(err) == controlplane.CodeConflict && strings.Contains(err.Error(), "another name") {
			select {
			case r.refused <- struct{}{}:
			default:
			}
		}
	}
	return s, err
}

// TestBudgetEndsBuild: a budget that is used up ends a build with its name, and is not asked for every block.
func TestBudgetEndsBuild(t *testing.T) {
	t.Parallel()
	t.Run("CP-41_CP-105/a build ends with the budget's name, and asks once for each kind of block", func(t *testing.T) {
		t.Parallel()
		p := control(t, server.Config{}, func(c *policy.Config) {
			c.Budgets = append(c.Budgets, policy.Budget{ID: "few-blocks", Layer: policy.LayerServer, Match: policy.Match{Kinds: []policy.Kind{policy.KindWorldPlace}}, MaxCount: 5})
		})
		p.run()
		p.ready()
		v := p.ended(p.submit(p.blueprint(floor(t, 6, 6, "minecraft:stone", "minecraft:oak_planks"), nil)).ID)
		if v.State != ops.Failed || v.Outcome == nil || v.Outcome.Code != "budget_exceeded" || !strings.Contains(v.Outcome.Message, "budget few-blocks has room for 0 of 5 actions") {
			t.Errorf("%+v %+v", v, v.Outcome)
		}
		if _, done := p.uses(); done != 5 {
			t.Errorf("%d uses", done)
		}
		all, err := p.g.Operations(t.Context(), ann, controlplane.Filter{Parent: v.ID, Limit: 200})
		if err != nil {
			t.Fatal(err)
		}
		rejected := 0
		for _, o := range all.Operations {
			if o.State == ops.Rejected {
				rejected++
			}
		}
		if most := 2 * 4; rejected == 0 || rejected > most { // as many of each kind may be asked for before the first no is heard
			t.Errorf("%d of %d children were rejected", rejected, v.Children)
		}
		p.once()
	})
}

// TestStopAtUnverified: so many steps may stay unverified as the mission's owner says.
func TestStopAtUnverified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop     int
		status   host.Status
		code     string
		accepted int
	}{
		{1, host.Failed, "unverified", 0},
		{2, host.Failed, "unverified", 1},
		{3, host.Succeeded, "built", 2},
	} {
		t.Run(fmt.Sprintf("SE-57_CP-105/two steps cannot be verified, stop at %d", c.stop), func(t *testing.T) {
			t.Parallel()
			f, err := server.ParseFaults("cutafter:use_item_on@3,cutafter:use_item_on@6")
			if err != nil {
				t.Fatal(err)
			}
			st := set(t, server.Config{Faults: f}).start()
			done, quit := make(chan struct{}), make(chan struct{})
			go func() { // somebody takes the blocks away between a cut and the next join
				defer close(done)
				taken := map[geom.BlockPos]bool{}
				for {
					select {
					case <-quit:
						return
					default:
					}
					var gone bool
					st.s.Do(func(w *server.World) { gone = w.Player("Tester") == nil })
					log := st.s.Log()
					for _, k := range []int{2, 5} {
						if !gone || len(log) <= k || len(log[k].Cells) == 0 || len(log) != k+1 {
							continue
						}
						if pos := log[k].Cells[0].Pos; !taken[pos] {
							taken[pos] = true
							st.s.Do(func(w *server.World) { w.PutBlock(pos, 0) })
						}
					}
				}
			}()
			_, o := st.done(st.blueprint(floor(t, 3, 3, "minecraft:stone"), map[string]any{"stop_at_unverified": c.stop}))
			close(quit)
			<-done
			var out struct {
				Accepted   int `json:"accepted_unverified"`
				Unverified int
			}
			if err := json.Unmarshal(o.Output, &out); err != nil || o.Status != c.status || o.Code != c.code || out.Accepted != c.accepted {
				t.Errorf("%+v %s", o, o.Output)
			}
			st.once()
		})
	}
}

// TestSuccession: what needs more children than one operation may have is built by several.
func TestSuccession(t *testing.T) {
	t.Parallel()
	succeed := func(t *testing.T, st *stage, data []byte, most, least int) {
		t.Helper()
		more := map[string]any{"pipeline": 8}
		n := 0
		var first *operation
		for {
			n++
			op := st.bound(st.blueprint(data, more))
			st.d.deliver(op)
			st.goesOn(op)
			o := st.outcome(op)
			if first == nil {
				first = op
				more["mission"] = op.id.String()
			}
			children := 0
			st.d.mu.Lock()
			for _, id := range st.d.children {
				if st.d.ops[id].parent == op.id {
					children++
				}
			}
			st.d.mu.Unlock()
			if children > most {
				t.Fatalf("operation %d has %d children", n, children)
			}
			out := built(t, o)
			if o.Status != host.Succeeded || out.Done == out.Continue || n > 100 {
				t.Fatalf("operation %d: %+v %s", n, o, o.Output)
			}
			if out.Done {
				if out.Proven != out.Steps || o.Code != "built" {
					t.Errorf("%s", o.Output)
				}
				break
			}
			if o.Code != "continue" {
				t.Errorf("%+v", o)
			}
		}
		if n < least {
			t.Errorf("%d operations", n)
		}
		st.once()
		if per := st.receipts(effects.MissionID(first.id)); per[0] != built(t, st.outcome(first)).Steps {
			t.Errorf("%d receipts", per[0])
		}
	}
	t.Run("CP-106/twelve steps by operations of at most five children", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{})
		st.cfg.Children = 5
		st.start()
		succeed(t, st, blueprints.Twelve(), 5, 3)
	})
	t.Run("CP-106/more steps than the protocol allows children", func(t *testing.T) {
		t.Parallel()
		layers, children := int32(1), 64
		if os.Getenv("BLOCKWORLD_FULL") == "1" {
			layers, children = 11, 0
		}
		st := set(t, server.Config{})
		st.cfg.Children = children
		st.d.most = 1 << 20 // of all operations together
		st.start()
		most := children
		if most == 0 {
			most = host.MaxChildren
		}
		succeed(t, st, layered(t, 10, 10, layers, "minecraft:stone"), most, 2)
	})
}

// goesOn waits for an operation's end as long as something is proven now and then.
func (st *stage) goesOn(op *operation) {
	st.t.Helper()
	for proven := -1; ; {
		st.d.await("a step more, or the end", func() bool {
			n := 0
			for _, id := range st.d.children {
				if all := st.d.outcomes[id]; len(all) > 0 && all[len(all)-1].Status == host.Succeeded {
					n++
				}
			}
			more := n > proven
			proven = n
			return more || len(st.d.outcomes[op.id]) > 0
		})
		st.d.mu.Lock()
		over := len(st.d.outcomes[op.id]) > 0
		st.d.mu.Unlock()
		if over {
			return
		}
	}
}
