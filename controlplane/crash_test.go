package controlplane_test

import (
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// mortal is a world whose gateway dies at a point, the first time it comes there.
type mortal struct {
	*world
	point controlplane.Point
	died  bool
}

type death struct{}

func newMortal(t *testing.T, point controlplane.Point) *mortal {
	m := &mortal{}
	m.world = newWorld(t, func(w *world) {
		w.config.Rules = []policy.Rule{confirmAll()}
		w.config.Budgets = []policy.Budget{{ID: "few", Layer: policy.LayerServer, MaxCount: 1}}
		w.opt.At = func(p controlplane.Point) {
			if p == m.point && !m.died {
				m.died = true
				panic(death{})
			}
		}
	})
	m.point = point
	return m
}

// try makes a call; if the gateway dies in it, another one takes its place and the call is lost.
func (m *mortal) try(f func() error) (lived bool) {
	lived, err := mortally(f)
	if !lived {
		m.crash()
		m.ok(m.h.Join(m.ctx))
		return false
	}
	m.ok(err)
	return true
}

// mortally recovers from the gateway's death.
func mortally(f func() error) (lived bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(death); !ours {
				panic(r)
			}
			lived, err = false, nil
		}
	}()
	return true, f()
}

// submits sends the request until it is answered.
func (m *mortal) submits(r controlplane.SubmitRequest) operation.View {
	for {
		var v operation.View
		r.Epoch, r.Sequence = m.h.Seen(r.Actor)
		lived := m.try(func() error {
			dead := false
			got, err := served(m.world, func() (operation.View, error) {
				var v operation.View
				lived, err := mortally(func() (err error) { v, err = m.g.Submit(m.ctx, ann, r); return err })
				dead = !lived
				return v, err
			})
			if dead {
				panic(death{})
			}
			v = got
			return err
		})
		if lived {
			return v
		}
	}
}

// carries does for a delivery what a host with a journal does.
func (m *mortal) carries(d host.Delivery) {
	if !m.try(func() error { return m.h.Accept(m.ctx, d) }) {
		return // it comes again
	}
	m.h.Send(d.Op)
	for !m.try(func() error { return m.h.Report(m.ctx, hosttest.Proven(d.Op, 1)) }) {
	}
}

func TestCrashPoints(t *testing.T) {
	points := []controlplane.Point{controlplane.BeforeSubmit, controlplane.AfterBind, controlplane.AfterStore, controlplane.AfterConfirm,
		controlplane.AfterDelivery, controlplane.AfterAck, controlplane.AfterOutcome}
	for _, point := range points {
		t.Run("CP-48,CP-79,CP-86/killed at "+string(point), func(t *testing.T) {
			m := newMortal(t, point)
			r := m.request(ann, "bot1")
			v := m.submits(r)
			for !v.Terminal {
				switch v = m.look(pat, v.ID); v.State {
				case operation.AwaitingConfirmation:
					m.try(func() error { _, err := m.confirm(yes(v)); return err })
				default:
					m.try(func() error {
						b, err := m.h.PollOnce(m.ctx, 64, 0)
						for _, d := range b.Deliveries {
							m.carries(d)
						}
						return err
					})
				}
			}
			v = m.is(m.submits(r), operation.Succeeded)
			page, err := m.g.Operations(m.ctx, ann, controlplane.Filter{})
			m.ok(err)
			if !m.died || len(page.Operations) != 1 || m.h.Sent()[v.ID] != 1 || len(m.h.Sent()) != 1 {
				t.Fatalf("died %v, %d operations, sent %v", m.died, len(page.Operations), m.h.Sent())
			}
			if u := m.usage("few"); u != (store.Usage{UsedCount: 1, UsedQuantity: 1}) {
				t.Fatalf("usage %+v", u)
			}
		})
	}

	t.Run("CP-69,CP-93/killed at "+string(controlplane.AfterCancel), func(t *testing.T) {
		m := newMortal(t, controlplane.AfterCancel)
		v := m.submits(m.request(ann, "bot1"))
		m.try(func() error { _, err := m.g.Cancel(m.ctx, ann, v.ID, "x"); return err })
		m.is(m.look(ann, v.ID), operation.Cancelled)
	})

	t.Run("CP-06/killed at "+string(controlplane.DuringExpiry), func(t *testing.T) {
		m := newMortal(t, controlplane.DuringExpiry)
		m.config.Rules = nil
		m.g.SetPolicy(m.compile())
		v := m.submits(m.request(ann, "bot1"))
		for !m.died {
			m.clock.Advance(20 * time.Second)
			m.ok(m.h.Renew(m.ctx))
			m.try(m.g.Sweep)
		}
		m.try(m.g.Sweep)
		m.is(m.look(ann, v.ID), operation.Stale)
	})

	t.Run("CP-66/killed at "+string(controlplane.DuringEpoch), func(t *testing.T) {
		m := newMortal(t, controlplane.DuringEpoch)
		v := m.submits(m.request(ann, "bot1"))
		m.try(func() error { return m.h.Respawn(m.ctx, "bot1") })
		if m.is(m.look(ann, v.ID), operation.Stale); !m.died {
			t.Fatal("it never came there")
		}
	})
}
