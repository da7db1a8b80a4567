package policy

import "blockworld/effects/host"

// Facts is what a decision rests on: one bound action and the gateway's own context. The zero Facts is denied.
type Facts struct {
	Principal host.Name // who asks; subject of layer owner
	Actor     host.Name // subject of layer actor
	Task      host.Name // subject of layer task; empty for none
	Server    string    // identity as published, "ADDRESS (...)" or an address; either form is a subject of layer server
	World     string    // dimension name; subject of layer world
	Effects   []host.Preview
	Epoch     host.Epoch
	GameTick  int64 // of the host clock; negative when there is none, which denies where a budget has a window
	Confirmed bool  // a valid confirmation of exactly this action is in hand: confirm counts as allow
	// Approved is what the approver of its macro was shown, while that approval holds: confirm counts as allow for effects
	// that lie inside it.
	Approved []host.Preview
}

// Usage is what the budgets hold. It is asked only for budgets that match, with the window that Reservation names.
type Usage interface {
	// Used returns what is spent and what is reserved by actions not yet accepted; all at least 0.
	Used(budget string, window int64) (usedCount, usedQuantity, reservedCount, reservedQuantity int64)
}
