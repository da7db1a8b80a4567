package controlplane

import "blockworld/effects/host"

// Swap changes one part of what an operation's challenge is bound to, and returns what puts it back.
func (g *Gateway) Swap(op host.OpID, part string) (undo func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.challenges[op]
	old := c.bond
	switch part {
	case "controller":
		c.bond.lease = "another"
	case "actor":
		c.bond.actor = "bot2"
	case "principal":
		c.bond.principal = "bob"
	case "effect digest":
		c.bond.effect[0] ^= 1
	case "policy revision":
		c.bond.revision = "another"
	case "epoch":
		c.bond.epoch.World++
	}
	if c.bond == old {
		panic("nothing swapped: " + part)
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		c.bond = old
	}
}
