package builder_test

import (
	"sync"
	"testing"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/fixtures/server"
)

// changing gives every leave, and at one question puts the work under another lease between the asking and the leave.
type changing struct {
	builder.Alone
	site *builder.Site
	at   int

	mu     sync.Mutex
	asked  int
	lost   effects.ActionID // leave that was given under the old lease
	unused map[effects.ActionID]string
	leases map[effects.ActionID]string
}

func (c *changing) Ask(q builder.Question, reply func(builder.Leave)) {
	c.Alone.Ask(q, func(l builder.Leave) {
		c.mu.Lock()
		c.asked++
		c.leases[l.Op] = q.Bind(l.Op).Lease
		if c.asked == c.at {
			c.lost = l.Op
			c.site.Under("lease-2")
		}
		c.mu.Unlock()
		reply(l)
	})
}

func (c *changing) Unused(op effects.ActionID, code, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unused[op] = code
}

// TestLostLease: what was bound under a lease that is not held any more is not sent; the work goes on under the next one.
func TestLostLease(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 4, 9} {
		t.Run("SE-10_SE-58/a leave under an old lease is not used", func(t *testing.T) {
			t.Parallel()
			st := newStage(t, server.Config{})
			gate := &changing{at: at, unused: map[effects.ActionID]string{}, leases: map[effects.ActionID]string{}}
			m := st.start(func(s *builder.Site) {
				s.Lease, s.Gate = "lease-1", gate
				s.Options.Stay = true // denied for a moment, then asked again
				gate.site = s
			})
			st.done(m, st.work(m))
			st.once()
			gate.mu.Lock()
			defer gate.mu.Unlock()
			if gate.unused[gate.lost] == "" {
				t.Errorf("the leave under the old lease was used; unused were %v", gate.unused)
			}
			receipts, err := m.Receipts()
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range receipts {
				if _, places := r.Outcome.Postcondition.(effects.CellsBecome); places && i == len(receipts)-1 && gate.leases[r.Outcome.Action] != "lease-2" {
					t.Errorf("the last placement is under %q", gate.leases[r.Outcome.Action])
				}
			}
		})
	}
}
