package journal

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"

	"blockworld/effects"
)

// Summary is what Check found in a sound journal.
type Summary struct {
	Records  int
	Missions int
	Actions  int
	Open     int // unresolved actions
	Receipts int
	Entries  uint64 // of the chain
}

// Check reads every page and record of a data directory's journal, decodes each, verifies the whole chain and that the
// records agree with each other. It changes nothing and needs no key; a journal that a bot uses is ErrLocked.
func Check(dir string) (Summary, error) {
	path := filepath.Join(dir, FileName)
	if err := exists(path); err != nil {
		return Summary{}, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return Summary{}, err
	}
	defer lock.Close()
	c := checker{keys: map[KeyID]ed25519.PublicKey{}, open: map[effects.ActionID]bool{}, receipts: map[effects.ActionID]uint64{}}
	if err := checkFile(path, c.record); err != nil {
		return c.sum, fmt.Errorf("journal %s: %w", path, err)
	}
	if err := c.agree(); err != nil {
		return c.sum, fmt.Errorf("journal %s: %w", path, err)
	}
	return c.sum, nil
}

type checker struct {
	sum      Summary
	actions  []Action
	keys     map[KeyID]ed25519.PublicKey
	last     chainEntry
	signer   KeyID
	head     chainHead
	open     map[effects.ActionID]bool
	receipts map[effects.ActionID]uint64 // as the index says
	onChain  []effects.ActionID
}

// record decodes one record of any bucket.
func (c *checker) record(bucket, key, record []byte) error {
	c.sum.Records++
	var err error
	switch {
	case bytes.Equal(bucket, missionsBucket):
		c.sum.Missions++
		_, err = decodeMission(record)
	case bytes.Equal(bucket, actionsBucket):
		var a Action
		a, err = decodeAction(record)
		c.actions = append(c.actions, a)
		if err == nil && !bytes.Equal(key, a.ID[:]) {
			err = errValue
		}
	case bytes.Equal(bucket, marksBucket):
		_, err = decodeMark(record)
	case bytes.Equal(bucket, stepsBucket):
		_, err = decodeStepRecord(record)
	case bytes.Equal(bucket, openBucket):
		c.sum.Open++
		c.open[effects.ActionID(record[1:])] = true
	case bytes.Equal(bucket, receiptsBucket):
		c.receipts[effects.ActionID(key)] = numberOf(record[1:])
	case bytes.Equal(bucket, chainBucket):
		err = c.chain(record)
	case bytes.Equal(bucket, counterBucket) && string(key) == "chain":
		c.head, err = decodeHead(record)
	}
	if err != nil {
		return damaged(place(bucket, key), "%v", err)
	}
	return nil
}

// chain verifies one entry; they come in their order.
func (c *checker) chain(record []byte) error {
	e, err := decodeChainRecord(record)
	if err != nil {
		return err
	}
	if e.number != c.last.number+1 || c.last.number > 0 && e.previous != c.last.hash() {
		return errors.New("the chain is broken")
	}
	if e.kind == chainKey {
		p, err := e.keyOf()
		if err != nil {
			return err
		}
		c.keys[KeyIDOf(p)] = bytes.Clone(p)
		if e.number == 1 {
			c.signer = e.key
		}
	}
	if e.key != c.signer || len(c.keys[e.key]) == 0 || !ed25519.Verify(c.keys[e.key], e.signed(), e.signature[:]) {
		return errors.New("signature")
	}
	if e.kind == chainKey {
		c.signer = KeyIDOf(ed25519.PublicKey(e.body[:ed25519.PublicKeySize]))
	} else {
		r, err := e.receipt()
		if err != nil {
			return err
		}
		c.sum.Receipts++
		c.onChain = append(c.onChain, r.Outcome.Action)
		e.body = bytes.Clone(e.body)
	}
	c.last, c.sum.Entries = e, e.number
	return nil
}

// agree checks what no single record can show.
func (c *checker) agree() error {
	if c.head.entries != c.last.number || c.head.hash != c.last.hash() || c.head.receipts != uint64(c.sum.Receipts) || c.head.key != c.signer {
		return damaged("bucket chain", "its last entry is not the one the head names")
	}
	if len(c.receipts) != len(c.onChain) {
		return damaged("bucket receipts", "%d are listed, %d are on the chain", len(c.receipts), len(c.onChain))
	}
	for _, id := range c.onChain {
		if c.receipts[id] == 0 {
			return damaged("bucket receipts", "action %s is on the chain only", id)
		}
	}
	c.sum.Actions = len(c.actions)
	unresolved := 0
	for _, a := range c.actions {
		if a.Status.Unresolved() {
			unresolved++
			if !c.open[a.ID] {
				return damaged("bucket open", "action %s is unresolved and not listed", a.ID)
			}
		}
	}
	if unresolved != c.sum.Open {
		return damaged("bucket open", "%d are listed, %d are unresolved", c.sum.Open, unresolved)
	}
	return nil
}
