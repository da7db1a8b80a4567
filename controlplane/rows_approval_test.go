package controlplane_test

import (
	"testing"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/effects/host"
)

// cautious is a world in which builds and blocks need a confirmation, and of blocks there may be three.
func cautious(w *world) {
	w.config.Rules = []policy.Rule{{ID: "ask", Layer: policy.LayerServer, Result: policy.Confirm,
		Match: policy.Match{Kinds: []policy.Kind{policy.KindWorldPlace, policy.KindWorldBuild}}}}
	w.config.Budgets = []policy.Budget{{ID: "blocks", Layer: policy.LayerServer, MaxCount: 3,
		Match: policy.Match{Kinds: []policy.Kind{policy.KindWorldPlace}}}}
}

// building is a cautious world whose host says where things go: a build takes the cells 0..4 of each axis, a block goes to at.
func building(t *testing.T, at [3]int32, change ...func(*world)) *world {
	w := newWorld(t, append([]func(*world){cautious}, change...)...)
	w.h.Bind = func(q host.Gateway) host.Answer {
		b := w.h.Bound(q)
		b.Effects[0].Pos = &at
		if q.Action.Capability == "build_structure" {
			b.Effects[0].Pos, b.Effects[0].To = &[3]int32{0, 0, 0}, &[3]int32{4, 4, 4}
		}
		return host.Answer{Gateway: q.ID, Bound: &b}
	}
	return w
}

// approvedMacro is a build that pat said yes to, accepted by its host.
func (w *world) approvedMacro() host.OpID {
	w.t.Helper()
	r := w.request(ann, "bot1")
	r.Action, r.Task = action("build_structure", w.n), "task"
	v, err := w.submit(ann, r)
	w.ok(err)
	v, err = w.confirm(yes(w.look(pat, v.ID)))
	w.ok(err)
	w.is(v, operation.Queued)
	w.ok(w.h.Accept(w.ctx, w.next()))
	return v.ID
}

// childIs submits a child and returns it as the approver sees it.
func (w *world) childIs(parent host.OpID, key string, want operation.State) operation.View {
	w.t.Helper()
	c, err := w.child(parent, key)
	w.ok(err)
	return w.is(w.look(pat, c.Op), want)
}

func TestApprovalRows(t *testing.T) {
	t.Run("CP-105/the yes to a build covers its blocks, and each says whose and to what", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 2})
		m := w.approvedMacro()
		if v := w.look(pat, m); v.ApprovedBy != "pat" || v.ApprovedIn != "" {
			t.Fatalf("the build: by %q in %q", v.ApprovedBy, v.ApprovedIn)
		}
		v := w.childIs(m, "a", operation.Queued)
		if v.ApprovedBy != "pat" || v.ApprovedIn != m.String() {
			t.Fatalf("the block: by %q in %q", v.ApprovedBy, v.ApprovedIn)
		}
		d := w.next()
		w.ok(w.h.Perform(w.ctx, d))
		w.is(w.look(ann, v.ID), operation.Succeeded)
	})

	t.Run("CP-105/a block outside of what was shown asks", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 5})
		m := w.approvedMacro()
		v := w.childIs(m, "a", operation.AwaitingConfirmation)
		if v.ApprovedBy != "" || v.ApprovedIn != "" {
			t.Fatalf("by %q in %q", v.ApprovedBy, v.ApprovedIn)
		}
		v, err := w.confirm(yes(v))
		w.ok(err)
		if w.is(v, operation.Queued); v.ApprovedBy != "pat" || v.ApprovedIn != "" {
			t.Fatalf("its own approval: by %q in %q", v.ApprovedBy, v.ApprovedIn)
		}
	})

	t.Run("CP-105/a reconnect, with which a build begins, does not end the yes; a respawn does", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 2})
		m := w.approvedMacro()
		w.ok(w.h.Rejoin(w.ctx, "bot1"))
		if v := w.childIs(m, "a", operation.Queued); v.ApprovedIn != m.String() {
			t.Fatalf("by %q in %q", v.ApprovedBy, v.ApprovedIn)
		}
		w.ok(w.h.Respawn(w.ctx, "bot1"))
		if c, err := w.child(m, "b"); err == nil {
			w.is(w.look(pat, c.Op), operation.AwaitingConfirmation)
		} else {
			w.conflicts(err)
		}
	})

	t.Run("CP-105/a build that nobody had to approve covers nothing", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 2}, func(w *world) { w.config.Rules[0].Kinds = []policy.Kind{policy.KindWorldPlace} })
		d, _ := w.macro("task")
		w.childIs(d.Op, "a", operation.AwaitingConfirmation)
	})

	t.Run("CP-42/a budget refuses a covered block", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 2})
		m := w.approvedMacro()
		for _, key := range []string{"a", "b", "c"} {
			w.childIs(m, key, operation.Queued)
		}
		v := w.childIs(m, "d", operation.Rejected)
		if v.Rejection.Code != string(policy.CodeBudgetExceeded) || v.ApprovedBy != "" {
			t.Fatalf("%+v by %q", v.Rejection, v.ApprovedBy)
		}
		if u := w.usage("blocks"); u.ReservedCount != 3 {
			t.Fatalf("%+v", u)
		}
	})

	t.Run("CP-105/another policy: asked again", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 2})
		m := w.approvedMacro()
		w.childIs(m, "a", operation.Queued)
		before := w.compile()
		w.config.Budgets[0].MaxCount = 5
		w.g.SetPolicy(w.compile())
		w.childIs(m, "b", operation.AwaitingConfirmation)
		w.g.SetPolicy(before)
		w.childIs(m, "c", operation.Queued)
	})

	t.Run("CP-105/another epoch: the build is asked to end, and has no further child", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 2})
		m := w.approvedMacro()
		v := w.childIs(m, "a", operation.Queued)
		w.ok(w.h.Respawn(w.ctx, "bot1"))
		w.deliver()
		w.is(w.look(ann, v.ID), operation.Stale)
		c, err := w.child(m, "b")
		if err == nil {
			w.is(w.look(pat, c.Op), operation.AwaitingConfirmation)
		} else {
			w.conflicts(err)
		}
	})

	for how, end := range map[string]func(w *world, m host.OpID) error{
		"cancelled": func(w *world, m host.OpID) error { _, err := w.g.Cancel(w.ctx, ann, m, "enough"); return err },
		"stopped":   func(w *world, m host.OpID) error { _, err := w.g.Stop(w.ctx, ann, "bot1", "enough"); return err },
		"ended": func(w *world, m host.OpID) error {
			return w.h.Report(w.ctx, host.Outcome{Op: m, Status: host.Failed, Code: "out_of_items"})
		},
	} {
		t.Run("CP-107/a build that was "+how+" covers nothing any more", func(t *testing.T) {
			w := building(t, [3]int32{2, 2, 2})
			m := w.approvedMacro()
			v := w.childIs(m, "a", operation.Queued)
			w.ok(end(w, m))
			w.is(w.look(ann, v.ID), operation.Cancelled)
			if c, err := w.child(m, "b"); err == nil {
				t.Fatalf("a child: %+v", c)
			}
		})
	}

	t.Run("CP-48/the yes outlives the daemon, as the build does", func(t *testing.T) {
		w := building(t, [3]int32{2, 2, 2})
		m := w.approvedMacro()
		w.crash()
		w.ok(w.h.Join(w.ctx))
		w.deliver()
		if v := w.childIs(m, "a", operation.Queued); v.ApprovedBy != "pat" || v.ApprovedIn != m.String() {
			t.Fatalf("by %q in %q", v.ApprovedBy, v.ApprovedIn)
		}
	})
}
