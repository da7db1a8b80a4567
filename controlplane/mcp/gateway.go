package mcp

import (
	"context"
	"encoding/json"
	"time"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// Gateway is what the tools ask, for one caller whose token or configuration says who it is. The HTTP client is one, and
// For makes one of a gateway in the same process. Refusals are *controlplane.Error.
type Gateway interface {
	Me(ctx context.Context) (v1.Me, error)
	Actors(ctx context.Context) ([]controlplane.ActorView, error)
	Observe(ctx context.Context, actor host.Name) (controlplane.ActorView, error)
	Capabilities(ctx context.Context, actor host.Name) ([]controlplane.CapabilityView, error)
	Read(ctx context.Context, actor host.Name, a host.Action) (json.RawMessage, error)
	Acquire(ctx context.Context, actor host.Name, ttl time.Duration) (controlplane.Lease, error)
	Renew(ctx context.Context, actor host.Name, lease string, ttl time.Duration) (controlplane.Lease, error)
	Release(ctx context.Context, actor host.Name, lease string) error
	Submit(ctx context.Context, r controlplane.SubmitRequest) (operation.View, error)
	Explain(ctx context.Context, r controlplane.SubmitRequest) (controlplane.Explanation, error)
	Confirm(ctx context.Context, r controlplane.ConfirmRequest) (operation.View, error)
	Operation(ctx context.Context, id host.OpID) (operation.View, error)
	Operations(ctx context.Context, f controlplane.Filter) (controlplane.Page, error)
	Wait(ctx context.Context, r controlplane.WaitRequest) (controlplane.WaitResult, error)
	Cancel(ctx context.Context, id host.OpID, why string) (operation.View, error)
	Stop(ctx context.Context, actor host.Name, why string) (controlplane.ActorView, error)
	ClearStop(ctx context.Context, actor host.Name) (controlplane.ActorView, error)
	PutBlueprint(ctx context.Context, name host.Name, data []byte) (controlplane.BlueprintView, error)
	Blueprints(ctx context.Context) ([]controlplane.BlueprintView, error)
}

// For is a gateway of this process as one principal sees it.
func For(g *controlplane.Gateway, p controlplane.Principal) Gateway { return local{g, p} }

type local struct {
	g *controlplane.Gateway
	p controlplane.Principal
}

func (l local) Me(context.Context) (v1.Me, error) {
	return v1.Me{Principal: l.p.ID, Scopes: l.p.Scopes.List(), Actors: l.p.Actors}, nil
}
func (l local) Actors(ctx context.Context) ([]controlplane.ActorView, error) {
	return l.g.Actors(ctx, l.p)
}
func (l local) Observe(ctx context.Context, actor host.Name) (controlplane.ActorView, error) {
	return l.g.Observe(ctx, l.p, actor)
}
func (l local) Capabilities(ctx context.Context, actor host.Name) ([]controlplane.CapabilityView, error) {
	return l.g.Capabilities(ctx, l.p, actor)
}
func (l local) Read(ctx context.Context, actor host.Name, a host.Action) (json.RawMessage, error) {
	return l.g.Read(ctx, l.p, actor, a)
}
func (l local) Acquire(ctx context.Context, actor host.Name, ttl time.Duration) (controlplane.Lease, error) {
	return l.g.Acquire(ctx, l.p, actor, ttl)
}
func (l local) Renew(ctx context.Context, actor host.Name, lease string, ttl time.Duration) (controlplane.Lease, error) {
	return l.g.Renew(ctx, l.p, actor, lease, ttl)
}
func (l local) Release(ctx context.Context, actor host.Name, lease string) error {
	return l.g.Release(ctx, l.p, actor, lease)
}
func (l local) Submit(ctx context.Context, r controlplane.SubmitRequest) (operation.View, error) {
	return l.g.Submit(ctx, l.p, r)
}
func (l local) Explain(ctx context.Context, r controlplane.SubmitRequest) (controlplane.Explanation, error) {
	return l.g.Explain(ctx, l.p, r)
}
func (l local) Confirm(ctx context.Context, r controlplane.ConfirmRequest) (operation.View, error) {
	return l.g.Confirm(ctx, l.p, r)
}
func (l local) Operation(ctx context.Context, id host.OpID) (operation.View, error) {
	return l.g.Operation(ctx, l.p, id)
}
func (l local) Operations(ctx context.Context, f controlplane.Filter) (controlplane.Page, error) {
	return l.g.Operations(ctx, l.p, f)
}
func (l local) Wait(ctx context.Context, r controlplane.WaitRequest) (controlplane.WaitResult, error) {
	return l.g.Wait(ctx, l.p, r)
}
func (l local) Cancel(ctx context.Context, id host.OpID, why string) (operation.View, error) {
	return l.g.Cancel(ctx, l.p, id, why)
}
func (l local) Stop(ctx context.Context, actor host.Name, why string) (controlplane.ActorView, error) {
	return l.g.Stop(ctx, l.p, actor, why)
}
func (l local) ClearStop(ctx context.Context, actor host.Name) (controlplane.ActorView, error) {
	return l.g.ClearStop(ctx, l.p, actor)
}
func (l local) PutBlueprint(ctx context.Context, name host.Name, data []byte) (controlplane.BlueprintView, error) {
	return l.g.PutBlueprint(ctx, l.p, name, data)
}
func (l local) Blueprints(ctx context.Context) ([]controlplane.BlueprintView, error) {
	return l.g.Blueprints(ctx, l.p)
}
