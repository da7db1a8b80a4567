package hosting

import (
	"encoding/json"

	"blockworld/bot/actor"
	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel"
)

// Revision names the code that turns bindings into packets.
const Revision = actor.AdapterRevision + "+" + builder.AdapterRevision

// manifest introduces the host with all its actors.
func (h *Host) manifest() host.Manifest {
	m := host.Manifest{Host: h.cfg.Name, Revision: Revision, Authority: host.ClientAdvisory}
	for _, r := range h.order {
		m.Actors = append(m.Actors, host.Actor{
			ID: r.cfg.ID, Server: r.cfg.Profile.Server.Identity, Account: r.cfg.Options.Username, Mode: "attached", Journal: r.journal.Fingerprint().String(),
			Capabilities: r.capabilities(),
		})
	}
	return m
}

// capabilities are what the actor can be asked for: every read, and the effects that both its policy and its server's
// profile offer, with the grades of the profile; the macro where blocks can be placed and walked to.
func (r *runner) capabilities() []host.Capability {
	policy := r.cfg.Policy
	if policy == 0 {
		policy = sentinel.Reads | sentinel.Effects
	}
	var out []host.Capability
	for _, c := range effects.Capabilities() {
		o, offered := r.cfg.Profile.Offer(c)
		if !policy.Has(c) || c.Effect() && !offered {
			continue
		}
		it := host.Capability{
			Name: c.String(), Kind: host.KindRead, Risk: c.Risk().String(), Cancellation: c.Cancellation().String(),
			BudgetMS: c.TimeBudget().Milliseconds(), Schema: effects.Schema(c), Rollback: c.Rollback("").Mode.String(),
		}
		if c.Effect() {
			it.Kind, it.Grade, it.LeastGrade = host.KindEffect, effects.Grade(o.Reachable).String(), effects.Grade(o.Least).String()
		}
		out = append(out, it)
	}
	if o, ok := r.cfg.Profile.Offer(effects.PlaceBlock); ok && policy.Has(effects.PlaceBlock) && policy.Has(effects.MoveTo) && policy.Has(effects.Equip) {
		out = append(out, host.Capability{
			Name: BuildStructure, Kind: host.KindMacro, Risk: "moderate", Cancellation: effects.CancelCooperative.String(),
			BudgetMS: macroBudget.Milliseconds(), Grade: effects.Grade(o.Reachable).String(), LeastGrade: effects.Grade(o.Least).String(),
			Schema: json.RawMessage(buildSchema), Rollback: effects.RollbackNotReversible.String(),
		})
	}
	return out
}
