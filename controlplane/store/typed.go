package store

import (
	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// OpsTx reads and writes operations with all their indexes.
type OpsTx struct{ tx Tx }

// Ops returns the operations of a transaction.
func Ops(tx Tx) OpsTx { return OpsTx{tx} }

// Get returns an operation. Errors wrap ErrNotFound or ErrCorrupt.
func (o OpsTx) Get(id host.OpID) (operation.Operation, error) {
	return operation.Operation{}, ErrNotFound
}

// Create makes op with the event operation.Created, reserves what it reserves, counts it, and stores it with its key.
// The error wraps ErrExists if id or key are taken.
func (o OpsTx) Create(op operation.Operation, ev operation.Created, at operation.Instant) (operation.Operation, []operation.Effect, error) {
	return op, nil, ErrExists
}

// Step applies an event to a stored operation, carries out what it does to budgets, and stores it; the effects that are
// left are the caller's. A repeat writes nothing.
func (o OpsTx) Step(id host.OpID, ev operation.Event, at operation.Instant) (operation.Operation, []operation.Effect, error) {
	return operation.Operation{}, nil, ErrNotFound
}

// Open calls f for each operation that is not terminal, in the order of their ids, until it returns false.
func (o OpsTx) Open(f func(operation.Operation) bool) error { return nil }

// Place is where a listing goes on; the zero Place is its beginning.
type Place struct {
	Created operation.Instant
	ID      host.OpID
}

// ByActor calls f for the operations of an actor, newest first, behind a place, until it returns false.
func (o OpsTx) ByActor(actor host.Name, after Place, f func(operation.Operation) bool) error {
	return nil
}

// ByTask calls f for the operations of a task, newest first, behind a place, until it returns false.
func (o OpsTx) ByTask(task host.Name, after Place, f func(operation.Operation) bool) error {
	return nil
}

// ByParent calls f for the children of a macro, oldest first, until it returns false.
func (o OpsTx) ByParent(parent host.OpID, f func(operation.Operation) bool) error { return nil }

// All calls f for all operations, newest ids first, behind an id (zero: the beginning), until it returns false.
func (o OpsTx) All(after host.OpID, f func(operation.Operation) bool) error { return nil }

// Remains is what is kept of an operation that was pruned.
type Remains struct {
	ID      host.OpID         `json:"id"`
	Actor   host.Name         `json:"actor"`
	State   operation.State   `json:"state"`
	Closure string            `json:"closure,omitempty"`
	Ended   effects.Digest    `json:"ended,omitzero"`
	Receipt *host.Receipt     `json:"receipt,omitempty"`
	Updated operation.Instant `json:"updated"`
}

// Pruned returns what is kept of a pruned operation. Errors wrap ErrNotFound.
func (o OpsTx) Pruned(id host.OpID) (Remains, error) { return Remains{}, ErrNotFound }

// Prune removes operations that ended before an instant, at most limit of them, and keeps their keys and receipts. An
// operation stays while its macro is open. It returns how many it removed.
func Prune(e Engine, before operation.Instant, limit int) (int, error) { return 0, nil }

// KeysTx reads idempotency keys; Ops.Create writes them.
type KeysTx struct{ tx Tx }

// KeysOf returns the keys of a transaction.
func KeysOf(tx Tx) KeysTx { return KeysTx{tx} }

// Key is what a principal's key stands for.
type Key struct {
	Op      host.OpID
	Payload effects.Digest
	Pruned  bool // the operation is gone; Ops.Pruned tells how it ended
}

// Get returns what a key stands for; false: it is free.
func (k KeysTx) Get(principal host.Name, key string) (Key, bool) { return Key{}, false }

// Lease is the exclusive right of one principal to drive an actor.
type Lease struct {
	ID       string            `json:"id"`
	Actor    host.Name         `json:"actor"`
	Holder   host.Name         `json:"holder"`
	Acquired operation.Instant `json:"acquired"`
	Renewed  operation.Instant `json:"renewed"`
	Expires  operation.Instant `json:"expires"`
}

// LeasesTx reads and writes leases.
type LeasesTx struct{ tx Tx }

// LeasesOf returns the leases of a transaction.
func LeasesOf(tx Tx) LeasesTx { return LeasesTx{tx} }

// Get returns an actor's lease, also one that has expired; false: there is none.
func (l LeasesTx) Get(actor host.Name) (Lease, bool, error) { return Lease{}, false, nil }

// Put stores a lease in place of the actor's last one.
func (l LeasesTx) Put(Lease) error { return nil }

// Delete removes an actor's lease.
func (l LeasesTx) Delete(actor host.Name) {}

// Each calls f for every lease, by actor, until it returns false.
func (l LeasesTx) Each(f func(Lease) bool) error { return nil }

// Stop is an actor's emergency stop: latched, or cleared and what it was cleared at.
type Stop struct {
	Actor     host.Name         `json:"actor"`
	Latched   bool              `json:"latched"`
	By        host.Name         `json:"by"`
	Why       string            `json:"why"`
	At        operation.Instant `json:"at"`
	ClearedBy host.Name         `json:"cleared_by,omitempty"`
	ClearedAt operation.Instant `json:"cleared_at,omitzero"` // leases acquired before are void
	Epoch     host.Epoch        `json:"epoch,omitzero"`      // of the last publication before the clear
	Sequence  uint64            `json:"sequence,omitzero"`
}

// StopsTx reads and writes stops.
type StopsTx struct{ tx Tx }

// StopsOf returns the stops of a transaction.
func StopsOf(tx Tx) StopsTx { return StopsTx{tx} }

// Get returns an actor's stop, also one that was cleared; false: it was never stopped.
func (s StopsTx) Get(actor host.Name) (Stop, bool, error) { return Stop{}, false, nil }

// Put stores a stop in place of the actor's last one.
func (s StopsTx) Put(Stop) error { return nil }

// Each calls f for every stop, by actor, until it returns false.
func (s StopsTx) Each(f func(Stop) bool) error { return nil }

// Usage is what was taken from one window of one budget.
type Usage struct{ UsedCount, UsedQuantity, ReservedCount, ReservedQuantity int64 }

// UsageTx reads usage; Ops.Create and Ops.Step write it. It is what policy asks.
type UsageTx struct{ tx Tx }

// UsageIn returns the usage of a transaction.
func UsageIn(tx Tx) UsageTx { return UsageTx{tx} }

// Used returns what was used and what is reserved of a window of a budget.
func (u UsageTx) Used(budget string, window int64) (usedCount, usedQty, reservedCount, reservedQty int64) {
	return 0, 0, 0, 0
}

// Each calls f for every window of every budget until it returns false.
func (u UsageTx) Each(f func(budget string, window int64, usage Usage) bool) error { return nil }

// Token is a bearer token as stored: its hash, never itself.
type Token struct {
	ID        string            `json:"id"` // names it for people
	Hash      effects.Digest    `json:"hash"`
	Principal host.Name         `json:"principal"`
	Kind      string            `json:"kind"` // user or host
	Scopes    []string          `json:"scopes,omitempty"`
	Actors    []string          `json:"actors,omitempty"` // patterns
	Created   operation.Instant `json:"created"`
	Expires   operation.Instant `json:"expires,omitzero"` // zero: never
	Revoked   operation.Instant `json:"revoked,omitzero"` // zero: not
}

// TokensTx reads and writes tokens.
type TokensTx struct{ tx Tx }

// TokensOf returns the tokens of a transaction.
func TokensOf(tx Tx) TokensTx { return TokensTx{tx} }

// Get returns the token with a hash, also one that was revoked; false: there is none.
func (t TokensTx) Get(hash effects.Digest) (Token, bool, error) { return Token{}, false, nil }

// Put stores a token by its hash.
func (t TokensTx) Put(Token) error { return nil }

// Each calls f for every token until it returns false.
func (t TokensTx) Each(f func(Token) bool) error { return nil }

// BlueprintsTx reads and writes blueprints.
type BlueprintsTx struct{ tx Tx }

// BlueprintsOf returns the blueprints of a transaction.
func BlueprintsOf(tx Tx) BlueprintsTx { return BlueprintsTx{tx} }

// Put stores a blueprint's bytes, once per content, and lets name stand for it. It returns the digest.
func (b BlueprintsTx) Put(name host.Name, data []byte) effects.Digest { return effects.Digest{} }

// Get returns a blueprint's bytes; nil: there is none.
func (b BlueprintsTx) Get(d effects.Digest) []byte { return nil }

// Named returns what a name stands for; false: nothing.
func (b BlueprintsTx) Named(name host.Name) (effects.Digest, bool) { return effects.Digest{}, false }

// Each calls f for every name until it returns false.
func (b BlueprintsTx) Each(f func(name host.Name, d effects.Digest) bool) {}

// Counter gives out numbers that rise by one and survive restarts.
type Counter struct {
	tx   Tx
	name string
}

// CounterOf returns a counter of a transaction.
func CounterOf(tx Tx, name string) Counter { return Counter{tx, name} }

// Last returns the last number given out, 0 if none was.
func (c Counter) Last() uint64 { return 0 }

// Next gives out a number, from 1.
func (c Counter) Next() uint64 { return 0 }

// OutboxTx keeps words for hosts that are not there to hear them.
type OutboxTx struct{ tx Tx }

// OutboxOf returns the outbox of a transaction.
func OutboxOf(tx Tx) OutboxTx { return OutboxTx{tx} }

// Add stores a cancellation for a host and returns its number, by which it is dropped.
func (o OutboxTx) Add(to host.Name, c host.Cancellation) (uint64, error) { return 0, nil }

// Each calls f for a host's cancellations, oldest first, until it returns false.
func (o OutboxTx) Each(to host.Name, f func(number uint64, c host.Cancellation) bool) error {
	return nil
}

// Drop removes one; a number that is not there is no error.
func (o OutboxTx) Drop(to host.Name, number uint64) {}
