package hosting_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// twelve stores a blueprint at the desk and returns the arguments that build it in the plot.
func (st *stage) blueprint(data []byte, more map[string]any) host.Action {
	digest := effects.Digest(sha256.Sum256(data))
	st.d.say(func() { st.d.blueprints[digest] = data })
	args := map[string]any{"blueprint": digest.String(), "at": []int{3, -60, 3}, "rate": 0}
	for k, v := range more {
		args[k] = v
	}
	return action("build_structure", args)
}

// built reads the output of a build.
func built(t *testing.T, o host.Outcome) (out struct {
	Mission  string
	Done     bool
	Continue bool
	Steps    int
	Proven   int
	Waiting  string
}) {
	t.Helper()
	if err := json.Unmarshal(o.Output, &out); err != nil {
		t.Errorf("%v: %+v", err, o)
	}
	return out
}

// finished are the children's outcomes, by status.
func (st *stage) finished() map[host.Status]int {
	st.d.mu.Lock()
	defer st.d.mu.Unlock()
	n := map[host.Status]int{}
	for _, id := range st.d.children {
		if all := st.d.outcomes[id]; len(all) > 0 {
			n[all[len(all)-1].Status]++
		} else {
			n[""]++
		}
	}
	return n
}

// once wants no step executed twice at the server.
func (st *stage) once() {
	st.t.Helper()
	per := map[string]int{}
	for _, u := range st.s.Log() {
		if u.Executed && len(u.Cells) > 0 {
			per[u.Cells[0].Pos.String()+" "+u.Cells[0].To]++
		}
	}
	for what, n := range per {
		if n > 1 {
			st.t.Errorf("%s was placed %d times", what, n)
		}
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, p := range []registry.Protocol{registry.V1_21_7, registry.Latest} {
		for _, pipeline := range []int{1, 4} {
			t.Run(fmt.Sprintf("CP-105/a house of twelve steps, each a child with its own binding and receipt, %d, pipeline %d", p, pipeline), func(t *testing.T) {
				t.Parallel()
				st := set(t, server.Config{Protocol: p}).start()
				op, o := st.done(st.blueprint(blueprints.Twelve(), map[string]any{"pipeline": pipeline}))
				out := built(t, o)
				if o.Status != host.Succeeded || !out.Done || out.Steps != 12 || out.Proven != 12 || out.Mission != op.id.String() {
					t.Fatalf("%+v %s", o, o.Output)
				}
				st.once()
				until(st, func() bool { return st.finished()[""] == 0 })
				receipts := 0
				st.d.mu.Lock()
				defer st.d.mu.Unlock()
				for _, id := range st.d.children {
					child := st.d.ops[id]
					all := st.d.outcomes[id]
					o := all[len(all)-1]
					if child.action.Capability != "place_block" || o.Status != host.Succeeded {
						continue
					}
					act, err := st.h.Journal("builder-1").Action(id)
					if err != nil || act.Binding != child.bound.Digest || o.Receipt == nil || child.bound.Effects[0].Scope != "garden" {
						t.Errorf("%v %+v %+v", err, o, child.bound.Effects)
					}
					receipts++
				}
				if receipts != 12 {
					t.Errorf("%d children have a receipt", receipts)
				}
				if len(st.d.runs[op.id]) == 0 {
					t.Error("no progress was told")
				}
			})
		}
	}
	t.Run("CP-11/a plan is bound without a packet or a byte, previewed as one effect, and refused with reasons", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{}).start()
		commits, n := st.h.Journal("builder-1").Commits(), st.effectPackets()
		op := st.bound(st.blueprint(blueprints.Twelve(), nil))
		if v := op.bound.Effects; len(v) != 1 || v[0].Kind != "world.build" || v[0].Quantity != 12 || v[0].Scope != "garden" {
			t.Errorf("%+v", v)
		}
		if st.h.Journal("builder-1").Commits() != commits || st.effectPackets() != n {
			t.Error("it sent or stored something")
		}
		for code, a := range map[string]host.Action{
			"invalid":           st.blueprint(blueprints.Twelve(), map[string]any{"steps": []int{1}}),
			"outside_build_box": st.blueprint(blueprints.Twelve(), map[string]any{"at": []int{11, -60, 11}}),
			"unknown_plot":      st.blueprint(blueprints.Twelve(), map[string]any{"plot": "elsewhere"}),
			"not_found":         action("build_structure", map[string]any{"blueprint": effects.Digest{1}.String(), "at": []int{3, -60, 3}}),
		} {
			if _, answer := st.bind(a); answer.Code != code {
				t.Errorf("%s: %q %s, want %s", a.Arguments, answer.Code, answer.Message, code)
			}
		}
	})
	t.Run("CP-105/a denied child does not keep its siblings, and the parent says so", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{}).start()
		var denied string
		asked := 0
		st.d.policy = func(op *operation) string {
			if denied == "" && op.action.Capability == "place_block" {
				denied = string(op.action.Arguments)
			}
			if string(op.action.Arguments) == denied {
				asked++
				return "rule_denied"
			}
			return ""
		}
		_, o := st.done(st.blueprint(blueprints.Twelve(), nil))
		out := built(t, o)
		if o.Status != host.Failed || o.Code != "denied" || out.Proven == 0 || out.Proven >= 12 {
			t.Errorf("%+v %s", o, o.Output)
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		st.once()
	})
	t.Run("CP-11/while it builds, reads are answered and other effects are not bound", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{}).start()
		gone := make(chan struct{})
		st.d.hold = func(op *operation) <-chan struct{} { return gone }
		op := st.bound(st.blueprint(blueprints.Twelve(), nil))
		st.d.deliver(op)
		st.d.await("a child", func() bool { return len(st.d.children) > 0 })
		if _, answer := st.bind(action("say", map[string]any{"text": "hello"})); answer.Code != "busy" {
			t.Errorf("%+v", answer)
		}
		if out := st.d.read("builder-1", action("world_status", map[string]any{})); len(out.Output) == 0 {
			t.Errorf("%+v", out)
		}
		st.d.say(func() { st.d.hold = nil })
		close(gone)
		if o := st.outcome(op); o.Status != host.Succeeded {
			t.Errorf("%+v", o)
		}
		var say *operation
		until(st, func() bool { // the actor joins again for single actions
			var answer host.Answer
			say, answer = st.bind(action("say", map[string]any{"text": "hello"}))
			return answer.Bound != nil
		})
		st.d.deliver(say)
		if o := st.outcome(say); o.Status != host.Succeeded {
			t.Errorf("%+v", o)
		}
	})
}

func TestBuildEnds(t *testing.T) {
	t.Parallel()
	t.Run("CP-107_CP-94/cancel: no new child, what is sent is waited for, what is built stays", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{}).start()
		op := st.bound(st.blueprint(blueprints.Twelve(), map[string]any{"rate": 4}))
		st.d.deliver(op)
		until(st, func() bool { _, done := st.uses(); return done >= 3 })
		st.d.cancel(host.Cancellation{Op: op.id, Actor: "builder-1", Why: "another idea"})
		o := st.outcome(op)
		out := built(t, o)
		if o.Status != host.Cancelled || out.Done || out.Proven < 3 {
			t.Errorf("%+v %s", o, o.Output)
		}
		_, uses := st.uses()
		until(st, func() bool { return st.finished()[""] == 0 })
		if _, now := st.uses(); now != uses {
			t.Errorf("%d uses after the end", now-uses)
		}
	})
	t.Run("CP-99/stop: nothing more is sent, and the build ends", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{}).start()
		op := st.bound(st.blueprint(blueprints.Twelve(), nil))
		st.d.deliver(op)
		until(st, func() bool { _, done := st.uses(); return done >= 2 })
		st.d.cancel(host.Cancellation{Actor: "builder-1", Why: "fire", Stop: true})
		o := st.outcome(op)
		if o.Status != host.Cancelled {
			t.Errorf("%+v %s", o, o.Output)
		}
		all, _ := st.uses()
		st.s.Step(100)
		if now, _ := st.uses(); now != all {
			t.Errorf("%d uses after the stop", now-all)
		}
	})
	t.Run("CP-106/used-up children end it as a success to be continued, and another operation goes on with the mission", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{}).start()
		limit := 6
		st.d.room = func() bool { return len(st.d.children) < limit }
		a := st.blueprint(blueprints.Twelve(), nil)
		op, o := st.done(a)
		out := built(t, o)
		if o.Status != host.Succeeded || !out.Continue || out.Done || out.Proven == 0 {
			t.Fatalf("%+v %s", o, o.Output)
		}
		st.d.say(func() { limit = 1000 })
		next, o := st.done(st.blueprint(blueprints.Twelve(), map[string]any{"mission": op.id.String()}))
		if out := built(t, o); o.Status != host.Succeeded || !out.Done || out.Proven != 12 || next.id == op.id || out.Mission != op.id.String() {
			t.Errorf("%+v %s", o, o.Output)
		}
		st.once()
	})
	t.Run("missing materials are a state that is waited in", func(t *testing.T) {
		t.Parallel()
		st := set(t, server.Config{GameMode: worldstate.Survival}).start()
		op := st.bound(st.blueprint(blueprints.Twelve(), nil))
		st.d.deliver(op)
		st.d.await("out of items", func() bool {
			for _, r := range st.d.runs[op.id] {
				if len(r.Note) > 21 && r.Note[:21] == "waiting: out_of_items" {
					return true
				}
			}
			return false
		})
		plan := st.materials()
		st.s.Do(func(w *server.World) {
			slot := 9
			for item, n := range plan {
				w.Player("Tester").Give(slot, item, n)
				slot++
			}
		})
		if o := st.outcome(op); o.Status != host.Succeeded || !built(t, o).Done {
			t.Errorf("%+v %s", o, o.Output)
		}
		st.once()
	})
}

// materials is what the twelve steps use up.
func (st *stage) materials() map[string]int32 {
	st.t.Helper()
	need := map[string]int32{}
	rec, err := st.h.Journal("builder-1").Missions()
	if err != nil {
		st.t.Fatal(err)
	}
	for _, m := range rec {
		if len(m.Options) > 0 {
			for item, n := range storedMaterials(st.t, m) {
				need[item] += n
			}
		}
	}
	return need
}

func TestBuildKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		at   journal.Point
		n    int32
	}{
		{"after a mark", journal.AfterMark, 9},
		{"after a packet", builder.AfterPacket, 5},
		{"before a verdict is stored", builder.AfterEvidence, 5},
		{"after a receipt", journal.AfterReceipt, 9},
		{"after an outcome", "after_outcome", 6},
		{"after a child is acknowledged", "after_ack", 8},
		{"after a child is delivered", "after_delivery", 8},
	} {
		t.Run("SE-60_CP-88/the host dies "+c.name+"; another goes on and no step is done twice", func(t *testing.T) {
			t.Parallel()
			st := set(t, server.Config{})
			l := st.killed(c.at, c.n)
			st.start()
			op := st.bound(st.blueprint(blueprints.Twelve(), nil))
			st.d.deliver(op)
			st.again(l)
			st.redeliver(op)
			o := st.outcome(op)
			if out := built(t, o); o.Status != host.Succeeded || !out.Done {
				t.Errorf("%+v %s", o, o.Output)
			}
			st.once()
			until(st, func() bool { return st.finished()[""] == 0 })
			st.settled(t)
		})
	}
}

// redeliver brings again whatever has no end, as a gateway does after a new registration.
func (st *stage) redeliver(parent *operation) {
	st.d.deliver(parent)
	st.d.mu.Lock()
	var open []*operation
	for _, id := range st.d.children {
		all := st.d.outcomes[id]
		if len(all) == 0 || all[len(all)-1].Status == host.Unknown {
			open = append(open, st.d.ops[id])
		}
	}
	st.d.mu.Unlock()
	for _, op := range open {
		st.d.deliver(op)
	}
}

var _ = time.Second

// settled wants every placement among the children to have an end; a walk or slot change that a cut interrupted has none
// that anybody could know.
func (st *stage) settled(t *testing.T) {
	t.Helper()
	st.d.mu.Lock()
	defer st.d.mu.Unlock()
	for _, id := range st.d.children {
		all := st.d.outcomes[id]
		if o := all[len(all)-1]; o.Status == host.Unknown && st.d.ops[id].action.Capability == "place_block" {
			t.Errorf("%s %s: %+v", st.d.ops[id].action.Capability, st.d.ops[id].action.Arguments, o)
		}
	}
}
