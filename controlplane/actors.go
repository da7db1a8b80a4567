package controlplane

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// Actors lists the actors that p sees, by id.
func (g *Gateway) Actors(ctx context.Context, p Principal) ([]ActorView, error) {
	if err := p.check(ScopeRead); err != nil {
		return nil, err
	}
	g.mu.Lock()
	var ids []host.Name
	for id := range g.actors {
		if p.Sees(id) {
			ids = append(ids, id)
		}
	}
	g.mu.Unlock()
	slices.Sort(ids)
	out := make([]ActorView, 0, len(ids))
	for _, id := range ids {
		v, err := g.actorView(&p, id)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Actor is the present view of one actor.
func (g *Gateway) Actor(ctx context.Context, p Principal, actor host.Name) (ActorView, error) {
	if err := g.known(&p, ScopeRead, actor); err != nil {
		return ActorView{}, err
	}
	return g.actorView(&p, actor)
}

// Observe is Actor for one that is online: what a submit's epoch and sequence are taken from.
func (g *Gateway) Observe(ctx context.Context, p Principal, actor host.Name) (ActorView, error) {
	v, err := g.Actor(ctx, p, actor)
	if err == nil && !v.Online {
		return v, offline(actor)
	}
	return v, err
}

func (g *Gateway) actorView(p *Principal, actor host.Name) (ActorView, error) {
	v := ActorView{ID: actor, Owner: g.opt.Owners[actor], GameTick: -1}
	err := g.view(func(tx store.Tx) (err error) {
		stop, _, err := store.StopsOf(tx).Get(actor)
		if err != nil {
			return err
		}
		if stop.Latched {
			v.Stop = &StopView{Why: stop.Why, By: stop.By, Since: stop.At}
		}
		v.Lease, err = leaseIn(tx, actor, p.ID, operation.InstantOf(g.now()))
		return err
	})
	if err != nil {
		return v, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.actors[actor]
	if a == nil || a.host == nil {
		return v, nil
	}
	v.Host, v.Authority, v.Mode, v.Account, v.Server = a.host.name, a.host.man.Authority, a.spec.Mode, a.spec.Account, a.spec.Server
	if v.Online = a.online(); v.Online {
		v.Ready, v.Server, v.World, v.Epoch = a.pub.Ready, a.pub.Server, a.pub.World, a.pub.Epoch
		v.Sequence, v.GameTick, v.State = a.pub.Sequence, a.pub.GameTick, a.pub.State
	}
	return v, nil
}

// Capabilities lists what an actor can be asked for, by name.
func (g *Gateway) Capabilities(ctx context.Context, p Principal, actor host.Name) ([]CapabilityView, error) {
	if err := g.known(&p, ScopeRead, actor); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.actors[actor]
	if a == nil || a.host == nil {
		return nil, offline(actor)
	}
	out := make([]CapabilityView, 0, len(a.caps))
	for _, c := range a.caps {
		out = append(out, CapabilityView{Capability: c.Capability, Digest: c.digest})
	}
	slices.SortFunc(out, func(a, b CapabilityView) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Read asks the host one of its reads and returns its output. World text in it is untrusted. Nothing is stored, and
// neither lease nor observation is needed.
func (g *Gateway) Read(ctx context.Context, p Principal, actor host.Name, action host.Action) (json.RawMessage, error) {
	if err := g.known(&p, ScopeRead, actor); err != nil {
		return nil, err
	}
	q, err := shape(p.ID, SubmitRequest{Actor: actor, Key: "read", Action: action})
	if err != nil {
		return nil, err
	}
	s, err := g.scene(actor, action.Capability)
	if err != nil {
		return nil, err
	}
	if err := s.offered(action.Capability, "", host.KindRead); err != nil {
		return nil, err
	}
	g.mu.Lock()
	k, err := g.ask(g.actors[actor], host.Gateway{Ask: host.AskRead, Actor: actor, Action: q.Action, Principal: p.ID, Epoch: s.pub.Epoch})
	g.mu.Unlock()
	if err != nil {
		return nil, err
	}
	a, err := g.answer(ctx, k)
	if err != nil {
		return nil, err
	}
	switch a.Code {
	case "":
	case "busy", "not_ready":
		return nil, Errorf(CodeUnavailable, "the host cannot answer now (%s): %s", a.Code, a.Message).with("host_code", a.Code)
	default:
		return nil, Errorf(CodeInvalid, "the host refuses the read (%s): %s", a.Code, a.Message).with("host_code", a.Code)
	}
	return a.Output, nil
}
