package controlplane

import (
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// scene is what is known of an actor at one moment, copied out from under the mutex.
type scene struct {
	host       host.Name
	session    uint64
	pub        host.Publication
	tick       int64
	servers    bool // the tick is the server's
	oldest     uint64
	capability capability
	known      bool                 // the capability
	parent     *operation.Operation // the macro of a child; nil: there is none
}

// scene looks at an actor; an error says that its host is away.
func (g *Gateway) scene(actor host.Name, capability string) (scene, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.actors[actor]
	if a == nil || !a.online() {
		return scene{}, offline(actor)
	}
	s := scene{host: a.host.name, session: a.host.session.Generation, pub: *a.pub, oldest: a.oldest()}
	s.tick, s.servers = g.clock(a)
	s.capability, s.known = a.caps[capability]
	return s, nil
}

// stopped refuses while the emergency stop is latched.
func stopped(tx store.Tx, actor host.Name) (store.Stop, error) {
	stop, _, err := store.StopsOf(tx).Get(actor)
	if err != nil {
		return stop, err
	}
	if stop.Latched {
		return stop, Errorf(CodeStopped, "actor %s is stopped (%s): its owner or an admin may clear the stop (`blockworld ctl clear %s`)", actor, stop.Why, actor).with("actor", string(actor))
	}
	return stop, nil
}

// leased refuses unless the lease is live and held by the principal.
func (g *Gateway) leased(tx store.Tx, actor, principal host.Name, id string, at operation.Instant) error {
	l, found, err := g.lease(tx, actor)
	switch {
	case err != nil:
		return err
	case found && l.Expires > at && l.ID == id && l.Holder == principal:
		return nil
	case found && l.Expires > at && l.Holder != principal:
		return heldBy(&l)
	case found && l.Expires > at:
		return Errorf(CodeLeaseExpired, "this is not the lease of actor %s that you hold: acquire it again, which renews it and tells its id", actor).with("actor", string(actor))
	}
	return Errorf(CodeLeaseExpired, "this lease of actor %s is over: acquire a new one", actor).with("actor", string(actor))
}

// lease reads a lease; what was read before and has not changed a byte is not decoded again.
func (g *Gateway) lease(tx store.Tx, actor host.Name) (store.Lease, bool, error) {
	raw := tx.Get(store.Leases, []byte(actor))
	g.mu.Lock()
	a := g.actors[actor]
	if a != nil && raw != nil && string(raw) == a.leaseRaw {
		defer g.mu.Unlock()
		return a.lease, true, nil
	}
	g.mu.Unlock()
	l, found, err := store.LeasesOf(tx).Get(actor)
	if a != nil && found && err == nil {
		g.mu.Lock()
		a.lease, a.leaseRaw = l, string(raw)
		g.mu.Unlock()
	}
	return l, found, err
}

// current refuses an epoch or an observation that the world has moved on from.
func (s *scene) current(epoch host.Epoch, sequence uint64, stop *store.Stop) error {
	switch {
	case epoch != s.pub.Epoch:
		return Errorf(CodeStale, "the actor is in epoch %v by now, not %v: observe it again", s.pub.Epoch, epoch).with("predicate", "epoch")
	case sequence > s.pub.Sequence:
		return Errorf(CodeStale, "observation %d was not published yet, %d is the newest: observe the actor again", sequence, s.pub.Sequence).with("predicate", "observation")
	case sequence < s.oldest:
		return Errorf(CodeStale, "observation %d is older than the last %d publications: observe the actor again", sequence, Window).with("predicate", "observation")
	case epoch == stop.Epoch && sequence <= stop.Sequence:
		return Errorf(CodeStale, "observation %d is from before the stop was cleared: observe the actor again", sequence).with("predicate", "observation")
	}
	return nil
}

// offered refuses a capability that the actor does not have in this very form.
func (s *scene) offered(name, digest string, kinds ...host.Kind) error {
	if !s.known {
		return Errorf(CodeUnknownCapability, "the actor has no capability %s: list its capabilities", name).with("capability", name)
	}
	for _, k := range kinds {
		if s.capability.Kind != k {
			continue
		}
		if digest != "" && digest != s.capability.digest.String() {
			return Errorf(CodeUnknownCapability, "capability %s was published in another form since: read its schema again", name).with("capability", name)
		}
		return nil
	}
	way := "it is submitted, as an operation"
	if s.capability.Kind == host.KindRead {
		way = "it is asked as a read, and makes no operation"
	}
	return Errorf(CodeUnknownCapability, "capability %s is of kind %s: %s", name, s.capability.Kind, way).with("capability", name)
}

// stands checks everything that a submit rests on, in the order in which it is told: stop, lease, host, capability,
// epoch and observation, macro. A dry run drives nothing, so it needs no lease.
func (g *Gateway) stands(tx store.Tx, q *request, at operation.Instant) (scene, error) {
	stop, err := stopped(tx, q.Actor)
	if err != nil {
		return scene{}, err
	}
	if !q.dry {
		if err := g.leased(tx, q.Actor, q.principal, q.Lease, at); err != nil {
			return scene{}, err
		}
	}
	s, err := g.scene(q.Actor, q.Action.Capability)
	if err != nil {
		return s, err
	}
	if err := s.offered(q.Action.Capability, q.CapabilityDigest, host.KindEffect, host.KindMacro); err != nil {
		return s, err
	}
	if q.internal && !q.Epoch.Valid() { // a macro's child is asked for by the host itself: what it sees now counts
		q.Epoch, q.Sequence = s.pub.Epoch, s.pub.Sequence
	}
	if err := s.current(q.Epoch, q.Sequence, &stop); err != nil {
		return s, err
	}
	return s, g.family(tx, q, &s)
}

// family checks a child against its macro, and a macro for being able to have children.
func (g *Gateway) family(tx store.Tx, q *request, s *scene) error {
	if q.Parent == (host.OpID{}) {
		if s.capability.Kind == host.KindMacro && q.Task == "" {
			return Errorf(CodeInvalid, "a macro needs a task: its children are part of it").with("field", "task")
		}
		return nil
	}
	parent, err := store.Ops(tx).Get(q.Parent)
	if err != nil {
		if over(err) {
			return Errorf(CodeConflict, "no macro %s: it cannot have children", q.Parent).with("parent", q.Parent.String())
		}
		return err
	}
	s.parent = &parent
	return kin(&parent, q, s.capability.Kind)
}

// approved is what the approver of a child's macro was shown, while that yes holds: in its world and under its policy. The
// macro's end ends it too, for no child is taken then.
func (s *scene) approved(revision string) []host.Preview {
	if p := s.parent; p != nil && p.ApprovedBy != "" && p.Decision.Revision == revision && sameWorld(p.Bound.Epoch, s.pub.Epoch) {
		return p.Bound.Effects
	}
	return nil
}

// sameWorld tells whether nothing but reconnects lies between two epochs. A build begins with one, and may take more.
func sameWorld(a, b host.Epoch) bool { return a.World == b.World && a.Timeline == b.Timeline }

// kin says whether q may be a child of parent.
func kin(parent *operation.Operation, q *request, kind host.Kind) error {
	no := func(format string, args ...any) error {
		return Errorf(CodeConflict, "macro %s: "+format, append([]any{parent.ID}, args...)...).with("parent", parent.ID.String())
	}
	switch {
	case parent.Kind != host.KindMacro:
		return no("it is no macro, so it has no children")
	case kind != host.KindEffect:
		return no("a child is an effect, not a %s", kind)
	case parent.State != operation.Accepted && parent.State != operation.Running:
		return no("it is %s; children are taken while it is accepted or running", parent.State)
	case parent.CancelRequested != "":
		return no("it is asked to end (%s) and starts nothing new", parent.CancelRequested)
	case q.Task == "" || q.Task != parent.Task:
		return no("a child has its macro's task %q, not %q", parent.Task, q.Task)
	case q.Actor != parent.Actor:
		return no("a child has its macro's actor %s, not %s", parent.Actor, q.Actor)
	case q.principal != parent.Principal:
		return no("a child has its macro's principal, not %s", q.principal)
	case q.Lease != parent.Lease && !q.dry:
		return no("a child has its macro's lease")
	case parent.Children >= host.MaxChildren:
		return Errorf(CodeCapacity, "macro %s has %d children, the most it may have: start another one for the rest", parent.ID, parent.Children).with("parent", parent.ID.String())
	}
	return nil
}

// bindable checks the host's answer against what was asked and what is now.
func bindable(b *host.Bound, id host.OpID, s *scene) error {
	switch {
	case b.Op != id:
		return Errorf(CodeInternal, "the host bound another operation than it was asked to")
	case b.Epoch != s.pub.Epoch:
		return Errorf(CodeStale, "the action was bound in epoch %v, the actor is in %v by now: observe and submit again", b.Epoch, s.pub.Epoch).with("predicate", "epoch")
	case b.Sequence < s.oldest:
		return Errorf(CodeStale, "the action was bound at observation %d, which is older than the last %d publications: submit again", b.Sequence, Window).with("predicate", "observation")
	case b.Digest == (effects.Digest{}):
		return Errorf(CodeInternal, "the host's binding has no digest")
	case b.ValidUntil >= 0 && s.tick > b.ValidUntil:
		return Errorf(CodeStale, "the binding was good until tick %d, it is %d: submit again", b.ValidUntil, s.tick).with("predicate", "valid_until")
	}
	return nil
}
