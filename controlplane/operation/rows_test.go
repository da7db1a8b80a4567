package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/effects"
	"blockworld/effects/host"
)

func step(t testing.TB, op Operation, ev Event) (Operation, []Effect) {
	t.Helper()
	got, fx, err := Step(op, ev, 5000)
	if err != nil {
		t.Fatalf("%T: %v", ev, err)
	}
	return got, fx
}

func TestSubmit(t *testing.T) {
	t.Run("CP-60/three results of policy, three states", func(t *testing.T) {
		for ev, want := range map[*Created]State{&allowed: Queued, &toConfirm: AwaitingConfirmation, &denied: Rejected} {
			op, fx := step(t, sketch(host.KindEffect), *ev)
			if op.State != want || op.Version != 1 || op.Created != 5000 {
				t.Error(op.State, op.Version, op.Created)
			}
			held := slices.ContainsFunc(fx, func(e Effect) bool { _, ok := e.(Reserve); return ok })
			if held != (want != Rejected) {
				t.Errorf("%s: reserved %v", want, held)
			}
		}
	})
	t.Run("CP-60/hyphens are read, underscores are written", func(t *testing.T) {
		s, err := ParseState("awaiting-confirmation")
		if err != nil || s.String() != "awaiting_confirmation" {
			t.Error(s, err)
		}
	})
	t.Run("what is not whole is not created", func(t *testing.T) {
		for name, spoil := range map[string]func(*Operation, *Created){
			"id":          func(op *Operation, _ *Created) { op.ID = host.OpID{} },
			"kind":        func(op *Operation, _ *Created) { op.Kind = host.KindRead },
			"actor":       func(op *Operation, _ *Created) { op.Actor = "" },
			"bound other": func(op *Operation, _ *Created) { op.Bound.Op = host.OpID{8} },
			"history":     func(op *Operation, _ *Created) { op.Attempts = 1 },
			"no reason":   func(_ *Operation, ev *Created) { *ev = denied; ev.Rejection = nil },
			"no result":   func(_ *Operation, ev *Created) { ev.Decision.Result = 9 },
		} {
			op, ev := sketch(host.KindEffect), allowed
			spoil(&op, &ev)
			if got, _, err := Step(op, ev, 1); !errors.Is(err, ErrInvalid) || got.State != 0 {
				t.Error(name, err)
			}
		}
	})
}

// budget sums up what effects do to budgets.
func budget(fx []Effect) (reserved, used int) {
	for _, e := range fx {
		switch e := e.(type) {
		case Reserve:
			reserved += len(e.Reservations)
		case Release:
			reserved -= len(e.Reservations)
		case Commit:
			reserved -= len(e.Reservations)
			used += len(e.Reservations)
		}
	}
	return reserved, used
}

func TestBudgets(t *testing.T) {
	for name, c := range map[string]struct {
		path           []Event
		reserved, used int
	}{
		"CP-45/reserved while queued":                            {[]Event{allowed}, 2, 0},
		"CP-45/reserved while delivered":                         {[]Event{allowed, Polled{}}, 2, 0},
		"CP-45/used once the host took it":                       {[]Event{allowed, Polled{}, ackYes}, 0, 2},
		"CP-45/not given back after a failure":                   {[]Event{allowed, Polled{}, ackYes, failed}, 0, 2},
		"CP-46/given back when the host refuses":                 {[]Event{allowed, Polled{}, ackNo}, 0, 0},
		"CP-46/given back when it goes stale":                    {[]Event{allowed, Fenced{FenceLease}}, 0, 0},
		"CP-46/given back when an approver refuses":              {[]Event{toConfirm, Denied{By: "bob"}}, 0, 0},
		"CP-46/given back when the host ends what it never took": {[]Event{allowed, Polled{}, cancelled}, 0, 0},
		"CP-45/an outcome means that it was taken":               {[]Event{allowed, Polled{}, succeeded}, 0, 2},
		"CP-45/not given back when something was sent": {[]Event{allowed, Polled{},
			OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Cancelled, Sent: true}}}, 0, 2},
		"CP-58/the second decision's reservations take the place of the first's": {[]Event{toConfirm,
			Confirmed{By: "bob", Decision: Decision{Result: Allow}, Reservations: held[:1]}}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			op, reserved, used := sketch(host.KindEffect), 0, 0
			for _, ev := range c.path {
				var fx []Effect
				op, fx = step(t, op, ev)
				r, u := budget(fx)
				reserved, used = reserved+r, used+u
			}
			if reserved != c.reserved || used != c.used {
				t.Errorf("reserved %d, used %d", reserved, used)
			}
			if len(op.Reserved()) != c.reserved {
				t.Error("it says that it holds", op.Reserved())
			}
		})
	}
}

func TestDelivery(t *testing.T) {
	t.Run("CP-62/the first delivery counts", func(t *testing.T) {
		if op := after(t, host.KindEffect, allowed, Polled{}); op.Attempts != 1 {
			t.Error(op.Attempts)
		}
	})
	t.Run("CP-88/each further delivery counts, and does not make it look young", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{}, ackYes)
		entered := op.Entered
		for range 5 {
			op, _ = step(t, op, Redelivered{})
		}
		if op.Attempts != 6 || op.State != Accepted || op.Entered != entered {
			t.Error(op.Attempts, op.State, op.Entered)
		}
	})
	t.Run("CP-66/what its ground was taken from before delivery is stale and was never collected", func(t *testing.T) {
		for f := FenceEpoch; f < FenceStop; f++ {
			op := after(t, host.KindEffect, allowed, Fenced{f})
			if op.State != Stale || op.Attempts != 0 || op.Rejection.Code != f.String() || op.Rejection.Message == "" {
				t.Error(f, op.State, op.Rejection)
			}
		}
	})
	t.Run("CP-06/what a host has is asked to cancel when the lease ends", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{})
		got, fx := step(t, op, Fenced{FenceLease})
		if got.State != Delivered || got.CancelRequested == "" || len(fx) != 1 || fx[0] != (AskHost{got.CancelRequested}) {
			t.Error(got.State, got.CancelRequested, fx)
		}
	})
	t.Run("CP-84/another acknowledgement is a conflict", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{}, ackYes)
		for _, ev := range []Event{ackNo, Acked{host.Ack{Op: opID, Accepted: true, Digest: effects.Digest{9}}}} {
			if _, _, err := Step(op, ev, 1); !errors.Is(err, ErrConflict) {
				t.Error(err)
			}
		}
	})
	t.Run("CP-87/a binding that cannot be proven any more is stale", func(t *testing.T) {
		if op := after(t, host.KindEffect, allowed, Polled{}, unbound); op.State != Stale || op.Attempts != 1 {
			t.Error(op.State)
		}
	})
	t.Run("CP-85/success without a report", func(t *testing.T) {
		if op := after(t, host.KindEffect, allowed, Polled{}, ackYes, succeeded); op.State != Succeeded || op.Run.Seq != 0 {
			t.Error(op.State)
		}
	})
	t.Run("an event of another operation is refused", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{})
		foreign := host.OpID{77}
		for _, ev := range []Event{Acked{host.Ack{Op: foreign, Accepted: true, Digest: effects.Digest{1}}},
			Progress{host.Run{Op: foreign, Sequence: 1}}, OutcomeCame{Outcome: host.Outcome{Op: foreign, Status: host.Succeeded}},
			OutcomeCame{Outcome: host.Outcome{Op: opID, Status: "fine"}}, Progress{host.Run{Op: opID}}, Fenced{}, Fenced{99}, ChildCounted{}, nil} {
			if _, _, err := Step(op, ev, 1); !errors.Is(err, ErrInvalid) {
				t.Errorf("%T: %v", ev, err)
			}
		}
	})
}

func TestUnknown(t *testing.T) {
	run := []Event{allowed, Polled{}, ackYes, early}
	t.Run("CP-67/accepted is delivered again after a gap, running becomes unknown", func(t *testing.T) {
		for _, path := range [][]Event{run[:2], run[:3], run} {
			op := after(t, host.KindEffect, path...)
			got, fx := step(t, op, Gap{})
			if want := op.State; got.State != want && !(want == Running && got.State == OutcomeUnknown) {
				t.Error(want, got.State)
			}
			if !slices.Contains(fx, Effect(Redeliver{})) {
				t.Error(op.State, "is not delivered again")
			}
		}
	})
	t.Run("CP-67/a macro goes on, for it sends nothing of its own", func(t *testing.T) {
		if op := after(t, host.KindMacro, append(slices.Clone(run), Gap{})...); op.State != Running {
			t.Error(op.State)
		}
	})
	t.Run("CP-68/a late outcome settles it", func(t *testing.T) {
		for ev, want := range map[*OutcomeCame]State{&succeeded: Succeeded, &failed: Failed, &cancelled: Cancelled, &interrupted: Interrupted} {
			if op := after(t, host.KindEffect, append(slices.Clone(run), Gap{}, *ev)...); op.State != want {
				t.Error(op.State, want)
			}
		}
	})
	t.Run("CP-89/nothing sent is not believed of what was sent", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{}, ackYes, unknown)
		for _, ev := range []Event{interrupted, unbound, OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Unknown, Code: "late"}}} {
			if _, _, err := Step(op, ev, 1); !errors.Is(err, ErrConflict) {
				t.Errorf("%T %v", ev, err)
			}
		}
	})
	t.Run("an owner's closure ends it without success", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{}, ackYes, unknown)
		got, fx := step(t, op, Accept{By: "owner"})
		v := ViewOf(got)
		if !got.Terminal() || v.ReconciliationPending || v.ExecutionConfirmed || v.State != OutcomeUnknown || v.Closure != ClosureUnverified || v.MaySayDone {
			t.Errorf("%+v", v)
		}
		if len(fx) != 1 || fx[0] != (Finish{OutcomeUnknown}) {
			t.Error(fx)
		}
		if _, _, err := Step(got, succeeded, 1); !errors.Is(err, ErrConflict) {
			t.Error(err)
		}
	})
}

func TestForwardOnly(t *testing.T) {
	op := after(t, host.KindEffect, allowed, Polled{}, ackYes, progress)
	t.Run("CP-71/an older report is stale", func(t *testing.T) {
		if _, _, err := Step(op, Progress{host.Run{Op: opID, Sequence: 2}}, 1); !errors.Is(err, ErrStale) {
			t.Error(err)
		}
	})
	t.Run("CP-71/the same number with another body is stale", func(t *testing.T) {
		for _, r := range []host.Run{{Percent: 41, Note: "walking"}, {Percent: 40, Note: "Walking"}} {
			r.Op, r.Sequence = opID, 3
			if _, _, err := Step(op, Progress{r}, 1); !errors.Is(err, ErrStale) {
				t.Error(err)
			}
		}
	})
	t.Run("CP-71/the exact repeat is fine and changes nothing", func(t *testing.T) {
		if got, fx, err := Step(op, progress, 9999); err != nil || fx != nil || cmp.Diff(op, got) != "" {
			t.Error(err, fx)
		}
	})
	t.Run("a clock that jumps back moves no time back", func(t *testing.T) {
		got, _, err := Step(op, succeeded, -5)
		if err != nil || got.Updated != op.Updated || got.Entered != op.Updated {
			t.Error(err, got.Updated)
		}
	})
}

func TestCancel(t *testing.T) {
	t.Run("CP-69/queued is cancelled, taken is interrupted by the host's word", func(t *testing.T) {
		if op := after(t, host.KindEffect, allowed, CancelAsked{Why: "no"}); op.State != Cancelled || op.Attempts != 0 {
			t.Error(op.State)
		}
		if op := after(t, host.KindEffect, allowed, Polled{}, ackYes, interrupted); op.State != Interrupted {
			t.Error(op.State)
		}
	})
	t.Run("CP-69/delivered waits for the host's word", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{}, CancelAsked{Why: "no"})
		if op.State != Delivered || op.CancelRequested != "no" {
			t.Error(op.State, op.CancelRequested)
		}
		if got, _ := step(t, op, ackGone); got.State != Cancelled {
			t.Error(got.State)
		}
		if got, _ := step(t, op, ackYes); got.State != Accepted || got.CancelRequested != "no" {
			t.Error(got.State)
		}
	})
	t.Run("CP-94/it asks and undoes nothing; the view says so", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{}, ackYes, CancelAsked{}, succeeded)
		if v := ViewOf(op); v.State != Succeeded || v.CancelRequested != "cancelled" || !v.ExecutionConfirmed {
			t.Errorf("%+v", v)
		}
	})
	t.Run("CP-96/the host reports what became of it, success included", func(t *testing.T) {
		base := []Event{allowed, Polled{}, ackYes, CancelAsked{Why: "no"}}
		for ev, want := range map[*OutcomeCame]State{&cancelled: Cancelled, &succeeded: Succeeded, &failed: Failed, &unknown: OutcomeUnknown} {
			if op := after(t, host.KindEffect, append(slices.Clone(base), *ev)...); op.State != want {
				t.Error(op.State, want)
			}
		}
	})
	t.Run("asking twice asks the host once", func(t *testing.T) {
		op := after(t, host.KindEffect, allowed, Polled{}, CancelAsked{Why: "no"})
		if got, fx := step(t, op, CancelAsked{Why: "really no"}); fx != nil || got.Version != op.Version {
			t.Error(fx)
		}
	})
}

func TestChildren(t *testing.T) {
	op := after(t, host.KindMacro, allowed, Polled{}, ackYes)
	t.Run("CP-106/1024 are taken, one more is over capacity", func(t *testing.T) {
		op := op
		for range host.MaxChildren {
			op, _ = step(t, op, ChildCounted{host.OpID{1}})
		}
		if _, _, err := Step(op, ChildCounted{host.OpID{1}}, 1); !errors.Is(err, ErrCapacity) || op.Children != 1024 {
			t.Error(err, op.Children)
		}
	})
	t.Run("CP-107/a macro that is asked to cancel gets no new child", func(t *testing.T) {
		op, _ := step(t, op, CancelAsked{Why: "no"})
		if _, _, err := Step(op, ChildCounted{host.OpID{1}}, 1); !errors.Is(err, ErrConflict) {
			t.Error(err)
		}
	})
	t.Run("CP-103/no child under what is queued or has ended", func(t *testing.T) {
		for _, op := range []Operation{after(t, host.KindMacro, allowed), after(t, host.KindMacro, allowed, Polled{}, ackYes, otherSuccess)} {
			if _, _, err := Step(op, ChildCounted{host.OpID{1}}, 1); !errors.Is(err, ErrConflict) {
				t.Error(op.State, err)
			}
		}
	})
}

func TestDoneOfAMacro(t *testing.T) {
	children := map[string]func() Operation{
		"proven":   func() Operation { return after(t, host.KindEffect, allowed, Polled{}, ackYes, succeeded) },
		"unproven": func() Operation { return after(t, host.KindEffect, allowed, Polled{}, ackYes, otherSuccess) },
		"unknown":  func() Operation { return after(t, host.KindEffect, allowed, Polled{}, ackYes, unknown) },
		"closed": func() Operation {
			return after(t, host.KindEffect, allowed, Polled{}, ackYes, unknown, Accept{By: "owner"})
		},
		"under way": func() Operation { return after(t, host.KindEffect, allowed, Polled{}, ackYes) },
		"failed":    func() Operation { return after(t, host.KindEffect, allowed, Polled{}, ackYes, failed) },
		"rejected":  func() Operation { return after(t, host.KindEffect, denied) },
		"cancelled": func() Operation { return after(t, host.KindEffect, allowed, CancelAsked{}) },
		"stopped late": func() Operation {
			return after(t, host.KindEffect, allowed, Polled{}, ackYes, OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Cancelled, Sent: true}})
		},
		"a walk": func() Operation {
			op := after(t, host.KindEffect, allowed, Polled{}, ackYes, otherSuccess)
			op.Bound.Effects = []host.Preview{{Kind: "actor.move"}}
			return op
		},
	}
	for _, c := range []struct {
		children string
		want     Tally
		done     bool
	}{
		{"", Tally{}, false},
		{"proven", Tally{Confirmed: 1}, true},
		{"proven,proven,a walk,failed,rejected,cancelled", Tally{Confirmed: 2}, true},
		{"a walk,failed,rejected,cancelled", Tally{}, false},
		{"proven,unproven", Tally{1, 1}, false},
		{"proven,unknown", Tally{1, 1}, false},
		{"proven,closed", Tally{1, 1}, false},
		{"proven,under way", Tally{1, 1}, false},
		{"proven,stopped late", Tally{1, 1}, false},
	} {
		t.Run("CP-73/of a macro done is told by its children's receipts, "+c.children, func(t *testing.T) {
			op, tally := after(t, host.KindMacro, allowed, Polled{}, ackYes), Tally{}
			for name := range strings.SplitSeq(c.children, ",") {
				if child := children[name]; child != nil {
					op, _ = step(t, op, ChildCounted{host.OpID{1}})
					one := child()
					tally.Add(&one)
				}
			}
			if ViewOf(op).MaySayDone {
				t.Error("before its end")
			}
			ev := otherSuccess
			ev.Children = tally
			op, _ = step(t, op, ev)
			if v := ViewOf(op); tally != c.want || v.MaySayDone != c.done || v.ExecutionConfirmed || v.ChildrenConfirmed != c.want.Confirmed || v.ChildrenUnproven != c.want.Unproven {
				t.Errorf("%+v: %+v", tally, v)
			}
			raw, err := Append(nil, &op)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := Decode(raw); err != nil || back.Tally != c.want {
				t.Errorf("%+v %v", back.Tally, err)
			}
		})
	}
}

func TestWhoSaidNo(t *testing.T) {
	byHost := Created{Rejection: &Rejection{Code: "out_of_reach"}}
	for name, c := range map[string]struct {
		path   []Event
		who    string
		policy any // Result; nil: none
	}{
		"policy":              {[]Event{denied}, "policy said no", Deny},
		"the host, unasked":   {[]Event{byHost}, "the bot's host said no", nil},
		"the host, delivered": {[]Event{allowed, Polled{}, ackNo}, "the bot's host said no", Allow},
		"an approver": {[]Event{toConfirm, Denied{By: "bob", Decision: Decision{Result: Confirm, Revision: "r1"}, Rejection: Rejection{Code: CodeConfirmationDenied}}},
			"an approver said no", Confirm},
		"policy, later": {[]Event{toConfirm, Denied{Decision: Decision{Revision: "r2"}, Rejection: Rejection{Code: "rule_denied"}}}, "policy said no", Deny},
	} {
		t.Run("CP-74/"+name, func(t *testing.T) {
			v := ViewOf(after(t, host.KindEffect, c.path...))
			if !strings.HasPrefix(v.Meaning, c.who+";") {
				t.Error(v.Meaning)
			}
			if (v.Policy == nil) != (c.policy == nil) || v.Policy != nil && v.Policy.Result != c.policy {
				t.Errorf("%+v", v.Policy)
			}
		})
	}
}

func TestTooLateInPlainWords(t *testing.T) {
	op := after(t, host.KindEffect, denied)
	for ev, want := range map[Event]string{CancelAsked{}: "is over: it ended as rejected, and there is nothing left to cancel", Accept{}: "only an outcome that nobody knows"} {
		if _, _, err := Step(op, ev, 1); !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

// paths reaches every state, the closed unknown included.
var paths = map[string][]Event{
	"awaiting_confirmation": {toConfirm}, "queued": {allowed}, "queued under its macro's approval": {covering}, "delivered": {allowed, Polled{}},
	"accepted": {allowed, Polled{}, ackYes}, "running": {allowed, Polled{}, ackYes, progress},
	"succeeded": {allowed, Polled{}, ackYes, progress, succeeded}, "succeeded without proof": {allowed, Polled{}, ackYes, otherSuccess},
	"failed": {allowed, Polled{}, ackYes, failed}, "cancelled": {allowed, CancelAsked{}},
	"interrupted": {allowed, Polled{}, ackYes, interrupted}, "stale": {allowed, Fenced{FenceEpoch}}, "rejected": {denied},
	"unknown after a gap": {allowed, Polled{}, ackYes, progress, Gap{}}, "outcome_unknown": {allowed, Polled{}, ackYes, unknown},
	"closed": {allowed, Polled{}, ackYes, unknown, Accept{By: "owner"}},
}

func TestView(t *testing.T) {
	for name, path := range paths {
		op := after(t, host.KindEffect, path...)
		v := ViewOf(op)
		t.Run("CP-72/every member is there, "+name, func(t *testing.T) {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			for key, sort := range map[string]string{"terminal": "bool", "execution_confirmed": "bool", "reconciliation_pending": "bool",
				"delivery_attempts": "float64", "run": "map[string]interface {}", "outcome": "map[string]interface {}",
				"output": "map[string]interface {}", "rejection": "map[string]interface {}", "state": "string", "meaning": "string",
				"may_say_done": "bool", "children_confirmed": "float64", "children_unproven": "float64", "policy": "map[string]interface {}",
				"cancel_requested": "string", "closure": "string", "children": "float64", "preview": "[]interface {}"} {
				got, ok := m[key]
				if !ok || got != nil && fmt.Sprintf("%T", got) != sort {
					t.Errorf("%s is %T, want %s or null", key, got, sort)
				}
			}
			if _, ok := m["challenge"]; ok {
				t.Error("a challenge in a view that nobody asked one for")
			}
		})
		t.Run("CP-72/its members agree, "+name, func(t *testing.T) {
			pending := op.State == OutcomeUnknown && op.Closure == ""
			if v.ReconciliationPending != pending || v.Terminal != op.Terminal() || v.Terminal && v.ReconciliationPending {
				t.Errorf("pending %v, terminal %v", v.ReconciliationPending, v.Terminal)
			}
			if v.ExecutionConfirmed != (name == "succeeded") {
				t.Error("confirmed:", v.ExecutionConfirmed)
			}
			if (v.Outcome != nil) != (op.Outcome != nil) || (v.Run != nil) != (op.Run.Seq > 0) || v.DeliveryAttempts != op.Attempts {
				t.Errorf("%+v", v)
			}
		})
		t.Run("CP-73/done is told of proven success alone, "+name, func(t *testing.T) {
			if v.MaySayDone != (name == "succeeded") {
				t.Error(v.MaySayDone)
			}
		})
	}
	t.Run("CP-74/the words of the states claim no more than is known", func(t *testing.T) {
		seen := map[string]bool{}
		for _, s := range States() {
			if seen[s.Meaning()] || s.Meaning() == "" {
				t.Error(s, "has no words of its own")
			}
			seen[s.Meaning()] = true
		}
		if !(Accepted.Meaning() != Succeeded.Meaning() && State(0).Meaning() == "not an operation" && State(99).String() == "invalid") {
			t.Error("words")
		}
	})
	t.Run("CP-93/a view is the same after the operation was stored and read", func(t *testing.T) {
		for name, path := range paths {
			op := after(t, host.KindEffect, path...)
			raw, err := Append(nil, &op)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Decode(raw)
			if err != nil {
				t.Fatal(name, err)
			}
			if d := cmp.Diff(ViewOf(op), ViewOf(back)); d != "" {
				t.Error(name, d)
			}
		}
	})
}

func TestCovered(t *testing.T) {
	t.Run("CP-105/a child keeps whose approval of which macro covers it", func(t *testing.T) {
		op := after(t, host.KindEffect, covering)
		if v := ViewOf(op); op.ApprovedBy != "bob" || op.ApprovedIn != op.Parent || v.ApprovedIn != op.Parent.String() {
			t.Errorf("by %q in %v", op.ApprovedBy, op.ApprovedIn)
		}
	})
	t.Run("CP-105/what has no macro is not covered", func(t *testing.T) {
		op := sketch(host.KindEffect)
		op.Parent = host.OpID{}
		if _, _, err := Step(op, covering, 1); !errors.Is(err, ErrInvalid) {
			t.Error(err)
		}
	})
}
