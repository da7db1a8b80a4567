package controlplane

import (
	"context"
	"encoding/json"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Gateway is the control plane's one door. Its methods are safe for concurrent use. Every refusal is an *Error.
type Gateway struct{ opt Options }

var errSkeleton = Errorf(CodeUnavailable, "not built yet")

// New opens a gateway on a store.
func New(opt Options) (*Gateway, error) { return &Gateway{opt: opt.withDefaults()}, nil }

// Run calls Sweep every Options.SweepEvery until ctx ends. Without it no wait, lease or session ends by time.
func (g *Gateway) Run(ctx context.Context) error { return errSkeleton }

// Sweep does what is due by the clock: ends waits, leases, sessions and challenges, redelivers, prunes.
func (g *Gateway) Sweep() error { return errSkeleton }

// Close ends every wait and refuses every further call; the store stays open, it is its opener's.
func (g *Gateway) Close() error { return nil }

// SetPolicy puts another policy in force. What was decided under the old one and not delivered yet goes stale at its poll.
func (g *Gateway) SetPolicy(e *policy.Engine) {}

// Stats returns counts for metrics.
func (g *Gateway) Stats() Stats { return Stats{} }

// Submit asks for one action: the only way to change a world. A policy's or host's no is a stored operation of state
// rejected; an error means that nothing was stored.
func (g *Gateway) Submit(ctx context.Context, p Principal, r SubmitRequest) (operation.View, error) {
	return operation.View{}, errSkeleton
}

// Explain is the dry run of Submit: it binds and decides, tells it rule by rule, and stores nothing.
func (g *Gateway) Explain(ctx context.Context, p Principal, r SubmitRequest) (Explanation, error) {
	return Explanation{}, errSkeleton
}

// Confirm answers a challenge; needs scope confirm. A used or foreign challenge is an error and changes nothing.
func (g *Gateway) Confirm(ctx context.Context, p Principal, r ConfirmRequest) (operation.View, error) {
	return operation.View{}, errSkeleton
}

// Operation looks one operation up. To holders of scope confirm a waiting one shows its challenge.
func (g *Gateway) Operation(ctx context.Context, p Principal, id host.OpID) (operation.View, error) {
	return operation.View{}, errSkeleton
}

// Operations lists operations of actors that p sees, newest first.
func (g *Gateway) Operations(ctx context.Context, p Principal, f Filter) (Page, error) {
	return Page{}, errSkeleton
}

// Wait returns when something newer than the cursor is there, or at the timeout.
func (g *Gateway) Wait(ctx context.Context, p Principal, r WaitRequest) (WaitResult, error) {
	return WaitResult{}, errSkeleton
}

// Cancel asks for the end of an operation and of its children; it undoes nothing.
func (g *Gateway) Cancel(ctx context.Context, p Principal, id host.OpID, why string) (operation.View, error) {
	return operation.View{}, errSkeleton
}

// AcceptUnverified closes an unknown outcome as what it is; needs scope admin.
func (g *Gateway) AcceptUnverified(ctx context.Context, p Principal, id host.OpID) (operation.View, error) {
	return operation.View{}, errSkeleton
}

// Acquire takes the lease of an actor for ttl, 5 to 300 s; the holder's own is renewed.
func (g *Gateway) Acquire(ctx context.Context, p Principal, actor host.Name, ttl time.Duration) (Lease, error) {
	return Lease{}, errSkeleton
}

// Renew extends a lease that is still live.
func (g *Gateway) Renew(ctx context.Context, p Principal, actor host.Name, id string, ttl time.Duration) (Lease, error) {
	return Lease{}, errSkeleton
}

// Release gives a lease back; what waits under it goes stale, what is delivered is asked to end.
func (g *Gateway) Release(ctx context.Context, p Principal, actor host.Name, id string) error {
	return errSkeleton
}

// LeaseOf tells who holds an actor's lease; the id is shown to its holder only. The zero Lease: nobody.
func (g *Gateway) LeaseOf(ctx context.Context, p Principal, actor host.Name) (Lease, error) {
	return Lease{}, errSkeleton
}

// Actors lists the actors that p sees, by id.
func (g *Gateway) Actors(ctx context.Context, p Principal) ([]ActorView, error) {
	return nil, errSkeleton
}

// Actor is the present view of one actor.
func (g *Gateway) Actor(ctx context.Context, p Principal, actor host.Name) (ActorView, error) {
	return ActorView{}, errSkeleton
}

// Observe is Actor: what a submit's epoch and sequence are taken from.
func (g *Gateway) Observe(ctx context.Context, p Principal, actor host.Name) (ActorView, error) {
	return ActorView{}, errSkeleton
}

// Capabilities lists what an actor can be asked for, by name.
func (g *Gateway) Capabilities(ctx context.Context, p Principal, actor host.Name) ([]CapabilityView, error) {
	return nil, errSkeleton
}

// Read asks the host one of its reads and returns its output. World text in it is untrusted. Nothing is stored.
func (g *Gateway) Read(ctx context.Context, p Principal, actor host.Name, a host.Action) (json.RawMessage, error) {
	return nil, errSkeleton
}

// Stop latches an actor's emergency stop; its owner or an admin may, whether the host is there or not.
func (g *Gateway) Stop(ctx context.Context, p Principal, actor host.Name, why string) (ActorView, error) {
	return ActorView{}, errSkeleton
}

// ClearStop lifts the latch and ends the actor's lease: a new lease and a later publication are needed to go on.
func (g *Gateway) ClearStop(ctx context.Context, p Principal, actor host.Name) (ActorView, error) {
	return ActorView{}, errSkeleton
}

// PutBlueprint stores a blueprint for macros and returns its digest; needs scope execute.
func (g *Gateway) PutBlueprint(ctx context.Context, p Principal, name host.Name, data []byte) (BlueprintView, error) {
	return BlueprintView{}, errSkeleton
}

// Blueprints lists the stored blueprints, by name.
func (g *Gateway) Blueprints(ctx context.Context, p Principal) ([]BlueprintView, error) {
	return nil, errSkeleton
}

// Subscribe sends every change that p may see and f chooses until ctx ends; then the channel is closed. Changes of one
// operation come in order. Who is slow loses some and is told by Lagged.
func (g *Gateway) Subscribe(ctx context.Context, p Principal, f Filter) (<-chan Change, error) {
	return nil, errSkeleton
}

// Host returns the service that hosts talk to.
func (g *Gateway) Host() HostService { return HostService{g} }

// HostService is the host's side of the gateway. A session token speaks for its own host and its own actors only: without a
// live session the code is unavailable (register again), with another's token forbidden.
type HostService struct{ g *Gateway }

// Register introduces a host and starts a new session; an older one of the same host ends.
func (s HostService) Register(ctx context.Context, m host.Manifest) (host.Session, error) {
	return host.Session{}, errSkeleton
}

// Renew keeps a session; any other call does too.
func (s HostService) Renew(ctx context.Context, se host.Session) (host.Session, error) {
	return host.Session{}, errSkeleton
}

// Unregister ends a session: what is queued goes stale, what runs has a gap.
func (s HostService) Unregister(ctx context.Context, se host.Session) error { return errSkeleton }

// Publish brings the read model of one actor.
func (s HostService) Publish(ctx context.Context, se host.Session, p host.Publication) error {
	return errSkeleton
}

// Poll waits at most wait (0..25 s) for up to limit (1..64) items.
func (s HostService) Poll(ctx context.Context, se host.Session, limit int, wait time.Duration) (host.Batch, error) {
	return host.Batch{}, errSkeleton
}

// Answer answers a gateway request, once; a repeat changes nothing.
func (s HostService) Answer(ctx context.Context, se host.Session, a host.Answer) error {
	return errSkeleton
}

// Ack takes or refuses a delivery; a repeat changes nothing, another answer is a conflict.
func (s HostService) Ack(ctx context.Context, se host.Session, a host.Ack) error { return errSkeleton }

// Run reports progress.
func (s HostService) Run(ctx context.Context, se host.Session, r host.Run) error { return errSkeleton }

// Outcome reports the one outcome; a repeat changes nothing, another outcome is a conflict.
func (s HostService) Outcome(ctx context.Context, se host.Session, o host.Outcome) error {
	return errSkeleton
}

// SubmitChild submits a macro's child: an ordinary operation with the parent's actor, lease, principal and task.
func (s HostService) SubmitChild(ctx context.Context, se host.Session, c host.Child) (host.ChildView, error) {
	return host.ChildView{}, errSkeleton
}

// Blueprint returns a stored blueprint.
func (s HostService) Blueprint(ctx context.Context, se host.Session, d effects.Digest) ([]byte, error) {
	return nil, errSkeleton
}
