package bot

import (
	"context"
	"time"

	"blockworld/bot/egress"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Snapshot is the session at one moment, in plain values that belong to whoever asked.
type Snapshot struct {
	At        time.Time
	Protocol  registry.Protocol
	Identity  Identity
	Account   worldstate.UUID
	Name      string
	Brand     worldstate.Untrusted
	Epoch     worldstate.Epoch
	Sequence  worldstate.Sequence
	Self      worldstate.Self // the server's words
	Dimension string
	Position  geom.Vec3 // predicted by physics
	Rotation  geom.Rotation
	OnGround  bool
	Flying    bool
	Ready     bool // placed, loaded, alive, not riding
	Walking   bool
	Ticks     uint64
	Corrected uint64
	Sent      egress.Counts
}

// Snapshot reads the session from any goroutine. Errors as Do.
func (b *Bot) Snapshot(ctx context.Context) (Snapshot, error) {
	var s Snapshot
	err := b.Do(ctx, func(tx *Tx) { s = tx.Snapshot() })
	return s, err
}

// Snapshot is the session as it is now.
func (tx *Tx) Snapshot() Snapshot {
	b, view := tx.b, tx.View()
	id, name := b.machine.Identity()
	return Snapshot{
		At: tx.Now(), Protocol: b.Protocol(), Identity: b.identity, Account: id, Name: name, Brand: b.machine.Brand(),
		Epoch: view.Epoch(), Sequence: view.Sequence(), Self: view.Self(), Dimension: view.DimensionName(),
		Position: b.body.player.Pos, Rotation: b.body.rotation(), OnGround: b.body.player.OnGround,
		Flying: b.body.player.Flying, Ready: tx.Ready(), Walking: b.walk != nil,
		Ticks: b.ticks, Corrected: b.body.setback, Sent: b.out.Counts(),
	}
}
