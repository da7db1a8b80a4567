package api

import (
	"context"
	"encoding/json"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/token"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Gateway is the callers' side of the control plane, as this face needs it.
type Gateway interface {
	Submit(ctx context.Context, p controlplane.Principal, r controlplane.SubmitRequest) (operation.View, error)
	Explain(ctx context.Context, p controlplane.Principal, r controlplane.SubmitRequest) (controlplane.Explanation, error)
	Confirm(ctx context.Context, p controlplane.Principal, r controlplane.ConfirmRequest) (operation.View, error)
	Operation(ctx context.Context, p controlplane.Principal, id host.OpID) (operation.View, error)
	Operations(ctx context.Context, p controlplane.Principal, f controlplane.Filter) (controlplane.Page, error)
	Wait(ctx context.Context, p controlplane.Principal, r controlplane.WaitRequest) (controlplane.WaitResult, error)
	Cancel(ctx context.Context, p controlplane.Principal, id host.OpID, why string) (operation.View, error)
	AcceptUnverified(ctx context.Context, p controlplane.Principal, id host.OpID) (operation.View, error)

	Acquire(ctx context.Context, p controlplane.Principal, actor host.Name, ttl time.Duration) (controlplane.Lease, error)
	Renew(ctx context.Context, p controlplane.Principal, actor host.Name, id string, ttl time.Duration) (controlplane.Lease, error)
	Release(ctx context.Context, p controlplane.Principal, actor host.Name, id string) error
	LeaseOf(ctx context.Context, p controlplane.Principal, actor host.Name) (controlplane.Lease, error)

	Actors(ctx context.Context, p controlplane.Principal) ([]controlplane.ActorView, error)
	Actor(ctx context.Context, p controlplane.Principal, actor host.Name) (controlplane.ActorView, error)
	Observe(ctx context.Context, p controlplane.Principal, actor host.Name) (controlplane.ActorView, error)
	Capabilities(ctx context.Context, p controlplane.Principal, actor host.Name) ([]controlplane.CapabilityView, error)
	Read(ctx context.Context, p controlplane.Principal, actor host.Name, a host.Action) (json.RawMessage, error)
	Stop(ctx context.Context, p controlplane.Principal, actor host.Name, why string) (controlplane.ActorView, error)
	ClearStop(ctx context.Context, p controlplane.Principal, actor host.Name) (controlplane.ActorView, error)

	PutBlueprint(ctx context.Context, p controlplane.Principal, name host.Name, data []byte) (controlplane.BlueprintView, error)
	Blueprints(ctx context.Context, p controlplane.Principal) ([]controlplane.BlueprintView, error)
	Subscribe(ctx context.Context, p controlplane.Principal, f controlplane.Filter) (<-chan controlplane.Change, error)
	Stats() controlplane.Stats
}

// HostService is the hosts' side of the control plane.
type HostService interface {
	Register(ctx context.Context, m host.Manifest) (host.Session, error)
	Renew(ctx context.Context, se host.Session) (host.Session, error)
	Unregister(ctx context.Context, se host.Session) error
	Publish(ctx context.Context, se host.Session, p host.Publication) error
	Poll(ctx context.Context, se host.Session, limit int, wait time.Duration) (host.Batch, error)
	Answer(ctx context.Context, se host.Session, a host.Answer) error
	Ack(ctx context.Context, se host.Session, a host.Ack) error
	Run(ctx context.Context, se host.Session, r host.Run) error
	Outcome(ctx context.Context, se host.Session, o host.Outcome) error
	SubmitChild(ctx context.Context, se host.Session, c host.Child) (host.ChildView, error)
	Blueprint(ctx context.Context, se host.Session, d effects.Digest) ([]byte, error)
}

// Tokens is what this face needs of the keeper of tokens.
type Tokens interface {
	Find(secret string) (token.Token, error)
	Make(g token.Grant) (secret string, t token.Token, err error)
	List() ([]token.Token, error)
	Revoke(id string) (token.Token, error)
}

var (
	_ Gateway     = (*controlplane.Gateway)(nil)
	_ HostService = controlplane.HostService{}
	_ Tokens      = (*token.Keeper)(nil)
)
