package controlplane_test

import (
	"maps"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// model is the control plane without storage, sessions or concurrency: what every operation should be by now. It knows
// nothing of the product's tables.
type model struct {
	ops    map[host.OpID]modelOp
	keys   map[string]host.OpID
	leases map[host.Name]modelLease
	stops  map[host.Name]bool
	clear  map[host.Name]uint64 // the newest publication when the stop was cleared
	online bool
	epoch  map[host.Name]uint64
	seq    map[host.Name]uint64
	pubs   map[host.Name][]uint64 // of this epoch and session
	now    time.Time
	budget int64
}

type modelOp struct {
	state  operation.State
	actor  host.Name
	lease  int
	epoch  uint64
	acked  bool
	asked  bool
	closed bool
	spent  bool // its budget is used
	held   bool // its budget is reserved
}

type modelLease struct {
	number int
	holder host.Name
	until  time.Time
}

func newModel(budget int64, now time.Time) model {
	return model{ops: map[host.OpID]modelOp{}, keys: map[string]host.OpID{}, leases: map[host.Name]modelLease{}, stops: map[host.Name]bool{},
		clear: map[host.Name]uint64{}, epoch: map[host.Name]uint64{}, seq: map[host.Name]uint64{}, pubs: map[host.Name][]uint64{}, now: now, budget: budget}
}

func (m model) clone() model {
	m.ops, m.keys, m.leases, m.stops = maps.Clone(m.ops), maps.Clone(m.keys), maps.Clone(m.leases), maps.Clone(m.stops)
	m.clear, m.epoch, m.seq, m.pubs = maps.Clone(m.clear), maps.Clone(m.epoch), maps.Clone(m.seq), maps.Clone(m.pubs)
	return m
}

func (o modelOp) waits() bool {
	return o.state == operation.Queued || o.state == operation.AwaitingConfirmation
}

func (o modelOp) out() bool {
	switch o.state {
	case operation.Delivered, operation.Accepted, operation.Running, operation.OutcomeUnknown:
		return !o.closed
	}
	return false
}

// ends gives back what is held.
func (o modelOp) ends(s operation.State) modelOp {
	o.state, o.held = s, false
	return o
}

func (o modelOp) takes() modelOp {
	if o.held {
		o.held, o.spent = false, true
	}
	o.acked = true
	return o
}

// each changes operations.
func (m *model) each(f func(modelOp) modelOp) {
	for id, o := range m.ops {
		m.ops[id] = f(o)
	}
}

// fence takes away what the operations of an actor rest on; an empty actor means all.
func (m *model) fence(actor host.Name, waiting operation.State) {
	m.each(func(o modelOp) modelOp {
		switch {
		case actor != "" && o.actor != actor:
		case o.waits():
			o.asked = waiting == operation.Cancelled
			return o.ends(waiting)
		case o.out():
			o.asked = true
		}
		return o
	})
}

func (m *model) taken() (n int64) {
	for _, o := range m.ops {
		if o.held || o.spent {
			n++
		}
	}
	return n
}

func (m *model) live(actor host.Name) (modelLease, bool) {
	l, there := m.leases[actor]
	return l, there && l.until.After(m.now)
}

// admit says whether a submit gets through, by its conditions.
func (m *model) admit(actor, who host.Name, lease int, epoch, seq uint64) controlplane.Code {
	l, live := m.live(actor)
	p := m.pubs[actor]
	switch {
	case m.stops[actor]:
		return controlplane.CodeStopped
	case live && l.holder != who:
		return controlplane.CodeLeaseConflict
	case !live || l.number != lease:
		return controlplane.CodeLeaseExpired
	case !m.online || len(p) == 0:
		return controlplane.CodeUnavailable
	case epoch != m.epoch[actor] || seq > p[len(p)-1] || seq < p[max(0, len(p)-controlplane.Window)] || seq <= m.clear[actor]:
		return controlplane.CodeStale
	}
	return ""
}

// submit makes an operation whose policy result is known.
func (m *model) submit(key string, id host.OpID, o modelOp, result operation.Result) {
	switch {
	case result == operation.Deny, result == operation.Allow && m.taken() >= m.budget:
		o.state = operation.Rejected
	case result == operation.Confirm:
		o.state = operation.AwaitingConfirmation
	default:
		o.state, o.held = operation.Queued, true
	}
	m.ops[id], m.keys[key] = o, id
}

// confirm answers; what it rests on is looked at first.
func (m *model) confirm(id host.OpID, approve bool) controlplane.Code {
	o := m.ops[id]
	l, live := m.live(o.actor)
	switch {
	case o.state == operation.Stale:
		return controlplane.CodeStale
	case o.state == operation.Cancelled && m.stops[o.actor]:
		return controlplane.CodeStopped
	case o.state == operation.Cancelled:
		return controlplane.CodeConflict
	case o.state != operation.AwaitingConfirmation:
		return ""
	case !live || l.number != o.lease:
		m.ops[id] = o.ends(operation.Stale)
		return controlplane.CodeStale
	case !m.online:
		return controlplane.CodeUnavailable
	case !approve || m.taken() >= m.budget:
		m.ops[id] = o.ends(operation.Rejected)
	default:
		o.state, o.held = operation.Queued, true
		m.ops[id] = o
	}
	return ""
}

// poll collects everything that still stands.
func (m *model) poll() {
	if !m.online {
		return
	}
	m.each(func(o modelOp) modelOp {
		if o.state != operation.Queued || len(m.pubs[o.actor]) == 0 {
			return o
		}
		if l, live := m.live(o.actor); !live || l.number != o.lease || o.epoch != m.epoch[o.actor] {
			return o.ends(operation.Stale)
		}
		o.state = operation.Delivered
		return o
	})
}

// gap is a time in which gateway or host were away.
func (m *model) gap() {
	m.each(func(o modelOp) modelOp {
		if o.state == operation.Running {
			o.state = operation.OutcomeUnknown
		}
		return o
	})
}

// lose ends the host's session.
func (m *model) lose() {
	m.each(func(o modelOp) modelOp {
		if o.waits() {
			return o.ends(operation.Stale)
		}
		return o
	})
	m.gap()
	m.away()
}

func (m *model) away() {
	m.online = false
	for a := range m.pubs {
		m.pubs[a] = nil
	}
}

// publish shows an actor in an epoch.
func (m *model) publish(actor host.Name, epoch uint64) {
	if m.epoch[actor] != epoch {
		m.pubs[actor] = nil
	}
	m.epoch[actor] = epoch
	m.seq[actor]++
	m.pubs[actor] = append(m.pubs[actor][:len(m.pubs[actor]):len(m.pubs[actor])], m.seq[actor])
	m.each(func(o modelOp) modelOp {
		if o.actor == actor && o.waits() && o.epoch != epoch {
			return o.ends(operation.Stale)
		}
		return o
	})
}

// expire fences leases whose time is over.
func (m *model) expire() {
	for actor, l := range m.leases {
		if !l.until.After(m.now) {
			m.fence(actor, operation.Stale)
			delete(m.leases, actor)
		}
	}
}

// crashing is an engine that dies at a commit: before it, or right after it.
type crashing struct {
	store.Engine
	armed string // "", before, after
	dead  bool
}

func (c *crashing) Update(f func(store.Tx) error) error {
	if c.dead {
		return store.ErrClosed
	}
	if c.armed == "" {
		return c.Engine.Update(f)
	}
	wrote := false
	err := c.Engine.Update(func(tx store.Tx) error {
		t := &writes{Tx: tx}
		err := f(t)
		if wrote = t.n > 0; err == nil && wrote && c.armed == "before" {
			return store.ErrClosed
		}
		return err
	})
	if wrote && (err == nil || c.armed == "before") {
		c.dead = true
		return store.ErrClosed
	}
	return err
}

func (c *crashing) View(f func(store.Tx) error) error {
	if c.dead {
		return store.ErrClosed
	}
	return c.Engine.View(f)
}

// writes counts what a transaction changes.
type writes struct {
	store.Tx
	n int
}

func (w *writes) Put(b store.Bucket, k, v []byte) { w.n++; w.Tx.Put(b, k, v) }

func (w *writes) Delete(b store.Bucket, k []byte) { w.n++; w.Tx.Delete(b, k) }
