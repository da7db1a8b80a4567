package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"blockworld/effects"
)

// The chain is a list of signed entries: the first names the first key, each receipt is one entry, and a rotation is an
// entry of the old key that names the new one. An entry's bytes name its place, the hash of the entry before and the
// key that signs it, so nothing can be taken out, put in, swapped or signed anew without it showing.

type chainKind uint8

// Persisted: do not reorder.
const (
	chainKey     chainKind = iota + 1 // body: public key of who signs from the next entry on, and its proof
	chainReceipt                      // body: canonical receipt
)

// What signatures are made over begins with one of these, so none can stand for another.
const (
	entryContext = "blockworld receipt chain entry 1\x00"
	headContext  = "blockworld receipt chain head 1\x00"
	proofContext = "blockworld receipt key proof 1\x00"
)

// chainHead is where the chain stands.
type chainHead struct {
	entries, receipts uint64
	hash              effects.Digest // of the last entry
	key               KeyID          // who signs the next one
}

// chainEntry is one link. Its hash covers every field but the signature.
type chainEntry struct {
	number    uint64 // from 1
	previous  effects.Digest
	key       KeyID // who signs this entry
	kind      chainKind
	unixMilli int64
	body      []byte
	signature [ed25519.SignatureSize]byte
}

func (c *chainEntry) content() []byte {
	e := newEncoder()
	e.u64(c.number)
	e.raw(c.previous[:])
	e.raw(c.key[:])
	e.u8(uint8(c.kind))
	e.u64(uint64(c.unixMilli))
	e.blob(c.body)
	return e.b
}

func (c *chainEntry) hash() effects.Digest { return sha256.Sum256(c.content()) }

func (c *chainEntry) signed() []byte {
	h := c.hash()
	return append([]byte(entryContext), h[:]...)
}

func decodeChainEntry(content []byte) (chainEntry, error) {
	d := newDecoder(content)
	var c chainEntry
	c.number = d.u64()
	d.fill(c.previous[:])
	d.fill(c.key[:])
	c.kind = chainKind(d.enum(uint8(chainReceipt)))
	c.unixMilli = int64(d.u64())
	c.body = d.blob()
	if d.err == nil && c.kind == 0 {
		d.err = errValue
	}
	return c, d.close()
}

// record is the entry as stored: content with the signature behind it.
func (c *chainEntry) record() []byte { return append(c.content(), c.signature[:]...) }

func decodeChainRecord(record []byte) (chainEntry, error) {
	if len(record) < ed25519.SignatureSize {
		return chainEntry{}, errShort
	}
	at := len(record) - ed25519.SignatureSize
	c, err := decodeChainEntry(record[:at])
	copy(c.signature[:], record[at:])
	return c, err
}

// proof is what a new key signs to show that somebody holds it.
func proof(previous effects.Digest, public ed25519.PublicKey) []byte {
	b := append([]byte(proofContext), previous[:]...)
	return append(b, public...)
}

// keyBody is the body of a key entry.
func keyBody(previous effects.Digest, key ed25519.PrivateKey) []byte {
	p := public(key)
	return append(append([]byte(nil), p...), ed25519.Sign(key, proof(previous, p))...)
}

// keyOf reads a key entry and checks the new key's proof.
func (c *chainEntry) keyOf() (ed25519.PublicKey, error) {
	if len(c.body) != ed25519.PublicKeySize+ed25519.SignatureSize {
		return nil, errValue
	}
	p := ed25519.PublicKey(c.body[:ed25519.PublicKeySize])
	if !ed25519.Verify(p, proof(c.previous, p), c.body[ed25519.PublicKeySize:]) {
		return nil, fmt.Errorf("key %s does not prove itself", KeyIDOf(p))
	}
	return p, nil
}

// receipt reads a receipt entry.
func (c *chainEntry) receipt() (effects.Receipt, error) { return whole(effects.ParseReceipt(c.body)) }

// append signs an entry with the key and stores it as the chain's last.
func (t *txn) append(kind chainKind, body []byte, key ed25519.PrivateKey) error {
	c := chainEntry{
		number: t.head.entries + 1, previous: t.head.hash, key: KeyIDOf(public(key)), kind: kind, unixMilli: t.now, body: body,
	}
	copy(c.signature[:], ed25519.Sign(key, c.signed()))
	if err := t.put(chainBucket, number(c.number), c.record()); err != nil {
		return err
	}
	t.head.entries, t.head.hash = c.number, c.hash()
	if kind == chainReceipt {
		t.head.receipts++
	}
	return nil
}

// addKey names the key that signs from here on; old signs the entry, or the new key itself when it is the first.
func (t *txn) addKey(old, key ed25519.PrivateKey) error {
	if old == nil {
		old = key
	}
	if err := t.append(chainKey, keyBody(t.head.hash, key), old); err != nil {
		return err
	}
	t.head.key, t.key = KeyIDOf(public(key)), key
	return t.putHead()
}

// addReceipt puts a receipt on the chain, once per action.
func (t *txn) addReceipt(r effects.Receipt) error {
	id := r.Outcome.Action
	if old, err := t.get(receiptsBucket, id[:]); err != nil || old != nil {
		return anyOf(err, ErrSettled)
	}
	if err := t.append(chainReceipt, r.Canonical(), t.key); err != nil {
		return err
	}
	e := newEncoder()
	e.u64(t.head.entries)
	if err := t.put(receiptsBucket, id[:], e.b); err != nil {
		return err
	}
	return t.putHead()
}

// putHead stores the head's own record; the last entry must agree with it.
func (t *txn) putHead() error {
	e := newEncoder()
	e.u64(t.head.entries)
	e.u64(t.head.receipts)
	e.raw(t.head.hash[:])
	e.raw(t.head.key[:])
	return t.put(counterBucket, []byte("chain"), e.b)
}

func decodeHead(record []byte) (chainHead, error) {
	d := newDecoder(record)
	h := chainHead{entries: d.u64(), receipts: d.u64()}
	d.fill(h.hash[:])
	d.fill(h.key[:])
	return h, d.close()
}

// loadHead reads the head and checks it against the last entry.
func (t *txn) loadHead() (chainHead, error) {
	record, err := t.get(counterBucket, []byte("chain"))
	if err != nil || record == nil {
		return chainHead{}, anyOf(err, damaged("bucket counters, key chain", "the chain's head is missing"))
	}
	h, err := decodeHead(record)
	if err != nil {
		return chainHead{}, damaged("bucket counters, key chain", "%v", err)
	}
	key, record, err := t.last(chainBucket, nil)
	if err != nil {
		return chainHead{}, err
	}
	last, err := decodeChainRecord(record)
	if err != nil || key == nil || binary.BigEndian.Uint64(key) != h.entries || last.number != h.entries || last.hash() != h.hash {
		return chainHead{}, damaged("bucket chain", "its last entry is not the one the head names")
	}
	return h, nil
}
