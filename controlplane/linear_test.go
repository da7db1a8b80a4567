package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// step is what one call asked of one operation.
type step struct {
	key  string
	what string // submit, look, approve, refuse, cancel, deliver
}

// seen is what the call returned.
type seen struct {
	state   operation.State
	version uint64
	code    controlplane.Code
}

// single is one operation as a sequence of calls would leave it.
type single struct {
	state   operation.State
	version uint64
	asked   bool
}

// sequential is the specification: one operation that waits for a confirmation, confirmed or refused once, cancelled,
// collected.
var sequential = porcupine.Model{
	Partition: func(history []porcupine.Operation) (out [][]porcupine.Operation) {
		byKey := map[string]int{}
		for _, o := range history {
			key := o.Input.(step).key
			i, there := byKey[key]
			if !there {
				i = len(out)
				byKey[key], out = i, append(out, nil)
			}
			out[i] = append(out[i], o)
		}
		return out
	},
	Init: func() any { return single{} },
	Step: func(s, in, out any) (bool, any) {
		now, got := s.(single), out.(seen)
		next, code := specified(now, in.(step).what)
		if code != "" {
			return got.code == code, now
		}
		return got == seen{state: next.state, version: next.version}, next
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}

func specified(s single, what string) (single, controlplane.Code) {
	to := func(state operation.State) (single, controlplane.Code) {
		return single{state, s.version + 1, s.asked}, ""
	}
	switch {
	case what == "submit" && s.state == 0:
		return to(operation.AwaitingConfirmation)
	case what == "submit", what == "look":
		return s, ""
	case what == "approve" && s.state == operation.AwaitingConfirmation:
		return to(operation.Queued)
	case what == "refuse" && s.state == operation.AwaitingConfirmation:
		return to(operation.Rejected)
	case (what == "approve" || what == "refuse") && s.state == operation.Cancelled:
		return s, controlplane.CodeConflict
	case what == "approve", what == "refuse":
		return s, ""
	case what == "deliver" && s.state == operation.Queued:
		return to(operation.Delivered)
	case what == "cancel" && (s.state == operation.AwaitingConfirmation || s.state == operation.Queued):
		return to(operation.Cancelled)
	case what == "cancel" && s.state == operation.Cancelled: // the exact repeat of what ended it
		return s, ""
	case what == "cancel" && s.state == operation.Delivered:
		if !s.asked {
			s.version, s.asked = s.version+1, true
		}
		return s, ""
	}
	return s, controlplane.CodeConflict
}

// history records calls with a clock that counts them.
type history struct {
	mu   sync.Mutex
	tick atomic.Int64
	all  []porcupine.Operation
}

func (h *history) record(client int, in step, f func() (seen, bool)) {
	call := h.tick.Add(1)
	out, ok := f()
	end := h.tick.Add(1)
	if ok {
		h.mu.Lock()
		h.all = append(h.all, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
		h.mu.Unlock()
	}
}

func result(v operation.View, err error) (seen, bool) {
	return seen{v.State, v.Version, controlplane.CodeOf(err)}, true
}

func TestLinearizable(t *testing.T) {
	rounds := 30
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		rounds = 1000
	}
	for round := range rounds {
		linearRound(t, uint64(round))
	}
}

func linearRound(t *testing.T, seed uint64) {
	w := newWorld(t, asking)
	w.seed = seed
	defer w.g.Close()
	var (
		h        history
		keys     [4]string
		requests [4]controlplane.SubmitRequest
		ids      [4]atomic.Pointer[host.OpID]
	)
	for i := range keys {
		requests[i] = w.request(ann, "bot1")
		keys[i] = requests[i].Key
	}
	ctx, cancel := context.WithCancel(w.ctx)
	var hosts, callers, waiters sync.WaitGroup
	hosts.Go(func() { linearHost(ctx, w, &h, ids[:]) })
	for client := range 5 {
		callers.Go(func() {
			for n := range 16 {
				i := (n*7 + client*3 + int(seed)) % len(keys)
				linearCall(w, &h, client, keys[i], requests[i], &ids[i], n)
			}
		})
	}
	for i := range keys {
		waiters.Go(func() { linearWait(ctx, w, &h, 10+i, keys[i], &ids[i]) })
	}
	callers.Wait()
	cancel()
	hosts.Wait()
	waiters.Wait()
	if !porcupine.CheckOperations(sequential, h.all) {
		for _, part := range sequential.Partition(h.all) {
			if porcupine.CheckOperations(sequential, part) {
				continue
			}
			for _, o := range part {
				t.Logf("%d: %d..%d %+v -> %+v", o.ClientId, o.Call, o.Return, o.Input, o.Output)
			}
		}
		t.Fatalf("round %d is not linearizable", seed)
	}
}

// linearCall makes one call of one caller.
func linearCall(w *world, h *history, client int, key string, r controlplane.SubmitRequest, id *atomic.Pointer[host.OpID], n int) {
	if n%5 == 0 || id.Load() == nil {
		h.record(client, step{key, "submit"}, func() (seen, bool) {
			v, err := w.g.Submit(w.ctx, ann, r)
			if err == nil {
				id.Store(&v.ID)
			}
			return result(v, err)
		})
		return
	}
	op := *id.Load()
	switch (n + client) % 4 {
	case 0:
		h.record(client, step{key, "cancel"}, func() (seen, bool) { return result(w.g.Cancel(w.ctx, ann, op, "x")) })
	case 1, 2:
		var v operation.View
		h.record(client, step{key, "look"}, func() (seen, bool) {
			var err error
			v, err = w.g.Operation(w.ctx, pat, op)
			return result(v, err)
		})
		if v.Challenge == nil {
			return
		}
		c, what := yes(v), "approve"
		if client%2 == 0 {
			c.Approve, what = false, "refuse"
		}
		h.record(client, step{key, what}, func() (seen, bool) { return result(w.confirm(c)) })
	default:
		h.record(client, step{key, "look"}, func() (seen, bool) { return result(w.g.Operation(w.ctx, ann, op)) })
	}
}

// linearWait follows one operation by its cursor; every answer is a look, and says rightly whether there was news.
func linearWait(ctx context.Context, w *world, h *history, client int, key string, id *atomic.Pointer[host.OpID]) {
	for id.Load() == nil {
		if ctx.Err() != nil {
			return
		}
		runtime.Gosched()
	}
	r := controlplane.WaitRequest{Op: *id.Load(), TimeoutMS: 25_000}
	var last uint64
	for ctx.Err() == nil {
		h.record(client, step{key, "look"}, func() (seen, bool) {
			got, err := w.g.Wait(ctx, ann, r)
			if err != nil {
				return seen{}, false
			}
			if got.Changed != (got.Operation.Version != last) {
				w.t.Errorf("version %d after %d, changed %v", got.Operation.Version, last, got.Changed)
			}
			r.Cursor, last = got.Cursor, got.Operation.Version
			return result(*got.Operation, nil)
		})
	}
}

// linearHost binds, and collects what is queued; each delivery is a call of its own.
//
// An attempt may be stored for one poll and leave with a later one, so a delivery begins with the first poll, and the host
// goes on after the last call until whatever is delivered has come.
func linearHost(ctx context.Context, w *world, h *history, ids []atomic.Pointer[host.OpID]) {
	call := h.tick.Add(1)
	come := map[host.OpID]bool{}
	for ctx.Err() == nil || !w.allCome(ids, come) {
		b, err := w.h.PollOnce(w.ctx, 8, 0)
		if err != nil {
			w.t.Error(err)
			return
		}
		end := h.tick.Add(1)
		for _, d := range b.Deliveries {
			version, err := w.versionOf(d.Op)
			if err != nil {
				w.t.Error(err)
			}
			come[d.Op] = true
			h.mu.Lock()
			h.all = append(h.all, porcupine.Operation{ClientId: 99, Input: step{d.Key, "deliver"}, Call: call,
				Output: seen{state: operation.Delivered, version: version}, Return: end})
			h.mu.Unlock()
		}
		runtime.Gosched()
	}
}

// allCome tells whether every operation that the store has as delivered has come to the host.
func (w *world) allCome(ids []atomic.Pointer[host.OpID], come map[host.OpID]bool) bool {
	all := true
	err := w.engine.View(func(tx store.Tx) error {
		for i := range ids {
			id := ids[i].Load()
			if id == nil {
				continue
			}
			op, err := store.Ops(tx).Get(*id)
			if err != nil {
				return err
			}
			all = all && (op.State != operation.Delivered || come[*id])
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
	return all || err != nil
}

// versionOf is the version that the delivery made: 3, as it was made, confirmed and then collected.
func (w *world) versionOf(id host.OpID) (uint64, error) {
	return 3, w.engine.View(func(tx store.Tx) error {
		op, err := store.Ops(tx).Get(id)
		if err == nil && op.Version < 3 {
			err = fmt.Errorf("delivered in version %d", op.Version)
		}
		return err
	})
}
