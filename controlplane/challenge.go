package controlplane

import (
	"crypto/subtle"
	"encoding/hex"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// bond is everything that a challenge stands for. If one part differs, the challenge is for something else.
type bond struct {
	lease     string // the controller
	actor     host.Name
	principal host.Name
	effect    effects.Digest
	revision  string // of the policy
	epoch     host.Epoch
}

// challenge is one single-use question to an approver. It lives in memory only and dies with the gateway.
type challenge struct {
	id      string
	bond    bond
	expires int64 // tick of the actor's clock at which it is over
	servers bool  // whose clock that is
}

func bondOf(op *operation.Operation, revision string) bond {
	return bond{op.Lease, op.Actor, op.Principal, op.Bound.EffectDigest(), revision, op.Bound.Epoch}
}

// differs names the first part in which two bonds differ; empty: none.
func (b *bond) differs(o *bond) string {
	switch {
	case b.lease != o.lease:
		return "controller"
	case b.actor != o.actor:
		return "actor"
	case b.principal != o.principal:
		return "principal"
	case b.effect != o.effect:
		return "effect_digest"
	case b.revision != o.revision:
		return "policy_revision"
	case b.epoch != o.epoch:
		return "epoch"
	}
	return ""
}

// challenge returns the challenge of a waiting operation, making one if there is none for the policy in force. It returns
// nil while the actor's clock is not known.
func (g *Gateway) challenge(op *operation.Operation) *challenge {
	var raw [16]byte
	if g.random(raw[:]) != nil {
		return nil
	}
	want := bondOf(op, g.policy.Load().Revision())
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.challenges[op.ID]; c != nil && c.bond.revision == want.revision {
		return c
	}
	o, a := g.open[op.ID], g.actors[op.Actor]
	if o == nil || o.state != operation.AwaitingConfirmation || !a.online() {
		return nil
	}
	tick, servers := g.clock(a)
	c := &challenge{id: hex.EncodeToString(raw[:]), bond: want, expires: tick + g.opt.ConfirmTicks, servers: servers}
	if until := op.Bound.ValidUntil; until >= 0 {
		c.expires = min(c.expires, until)
	}
	g.challenges[op.ID] = c
	return c
}

// answers says whether a request may answer this challenge of op now. Under mu, on the writer.
func (g *Gateway) answers(c *challenge, r *ConfirmRequest, op *operation.Operation, revision string) error {
	if c == nil || subtle.ConstantTimeCompare([]byte(c.id), []byte(r.Challenge)) != 1 {
		return Errorf(CodeConfirmationInvalid, "this is not the operation's challenge: look the operation up for the one that is open")
	}
	now := bondOf(op, revision)
	switch d := c.bond.differs(&now); {
	case d == "epoch":
		return Errorf(CodeStale, "the challenge is of another epoch: look the operation up for what has become of it").with("predicate", d)
	case d != "":
		return Errorf(CodeConfirmationChanged, "%s is another by now than when the challenge was made: look the operation up again", d).with("differs", d)
	case r.Digest != now.effect:
		return Errorf(CodeConfirmationChanged, "the effect digest is not the operation's: look at what it would do once more").with("differs", "effect_digest")
	}
	tick, servers := g.clock(g.actors[op.Actor])
	if servers != c.servers || tick >= c.expires {
		return Errorf(CodeConfirmationExpired, "the challenge was good until tick %d, it is %d: submit the action anew, with a new key", c.expires, tick)
	}
	return nil
}

// show is an operation as p may see it.
func (g *Gateway) show(p *Principal, op operation.Operation) operation.View {
	v := operation.ViewOf(op)
	if op.State == operation.AwaitingConfirmation && p.Scopes.Has(ScopeConfirm) {
		if c := g.challenge(&op); c != nil {
			v.Challenge = &operation.Challenge{ID: c.id, Digest: c.bond.effect, Policy: c.bond.revision, Expires: c.expires}
		}
	}
	return v
}
