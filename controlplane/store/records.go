package store

import (
	"crypto/sha256"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// get reads a record of a bucket of JSON records.
func get[T any](tx Tx, b Bucket, key []byte) (record T, ok bool, err error) {
	v := tx.Get(b, key)
	if v == nil {
		return record, false, nil
	}
	err = decode(b, key, v, &record)
	return record, err == nil, err
}

func put(tx Tx, b Bucket, key []byte, record any) error {
	v, err := encode(record)
	if err == nil {
		tx.Put(b, key, v)
	}
	return err
}

func each[T any](tx Tx, b Bucket, from, to []byte, f func(key []byte, record T) bool) (err error) {
	tx.Scan(b, from, to, func(k, v []byte) bool {
		var record T
		err = decode(b, k, v, &record)
		return err == nil && f(k, record)
	})
	return err
}

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

// Get returns an actor's lease, also one that has expired; false: there is none. Errors wrap ErrCorrupt.
func (l LeasesTx) Get(actor host.Name) (Lease, bool, error) {
	return get[Lease](l.tx, Leases, []byte(actor))
}

// Put stores a lease in place of the actor's last one.
func (l LeasesTx) Put(lease Lease) error { return put(l.tx, Leases, []byte(lease.Actor), lease) }

// Delete removes an actor's lease.
func (l LeasesTx) Delete(actor host.Name) { l.tx.Delete(Leases, []byte(actor)) }

// Each calls f for every lease, by actor, until it returns false.
func (l LeasesTx) Each(f func(Lease) bool) error {
	return each(l.tx, Leases, nil, nil, func(_ []byte, lease Lease) bool { return f(lease) })
}

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

// Get returns an actor's stop, also one that was cleared; false: it was never stopped. Errors wrap ErrCorrupt.
func (s StopsTx) Get(actor host.Name) (Stop, bool, error) {
	return get[Stop](s.tx, Stops, []byte(actor))
}

// Put stores a stop in place of the actor's last one.
func (s StopsTx) Put(stop Stop) error { return put(s.tx, Stops, []byte(stop.Actor), stop) }

// Each calls f for every stop, by actor, until it returns false.
func (s StopsTx) Each(f func(Stop) bool) error {
	return each(s.tx, Stops, nil, nil, func(_ []byte, stop Stop) bool { return f(stop) })
}

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

// Get returns the token with a hash, also one that was revoked; false: there is none. Errors wrap ErrCorrupt.
func (t TokensTx) Get(hash effects.Digest) (Token, bool, error) {
	return get[Token](t.tx, Tokens, hash[:])
}

// Put stores a token by its hash.
func (t TokensTx) Put(token Token) error { return put(t.tx, Tokens, token.Hash[:], token) }

// Each calls f for every token until it returns false.
func (t TokensTx) Each(f func(Token) bool) error {
	return each(t.tx, Tokens, nil, nil, func(_ []byte, token Token) bool { return f(token) })
}

// BlueprintsTx reads and writes blueprints.
type BlueprintsTx struct{ tx Tx }

// BlueprintsOf returns the blueprints of a transaction.
func BlueprintsOf(tx Tx) BlueprintsTx { return BlueprintsTx{tx} }

// Put stores a blueprint's bytes, once per content, and lets name stand for it. It returns the digest.
func (b BlueprintsTx) Put(name host.Name, data []byte) effects.Digest {
	d := effects.Digest(sha256.Sum256(data))
	if b.tx.Get(Blueprints, d[:]) == nil {
		b.tx.Put(Blueprints, d[:], data)
	}
	b.tx.Put(Names, []byte(name), d[:])
	return d
}

// Get returns a blueprint's bytes, valid until the transaction ends; nil: there is none.
func (b BlueprintsTx) Get(d effects.Digest) []byte { return b.tx.Get(Blueprints, d[:]) }

// Each calls f for every name until it returns false.
func (b BlueprintsTx) Each(f func(name host.Name, d effects.Digest) bool) {
	b.tx.Scan(Names, nil, nil, func(k, v []byte) bool {
		var d effects.Digest
		copy(d[:], v)
		return f(host.Name(k), d)
	})
}
