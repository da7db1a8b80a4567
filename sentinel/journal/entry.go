package journal

import (
	"encoding/binary"
	"fmt"
)

// Entries of the play phase are counted because the server raises leave_game once for each that ends. An entry is
// stored BEFORE the finish_configuration reply goes out and confirmed at play login; start_configuration in the middle
// of play leads to an entry of its own.

// BeginEntry stores an unconfirmed play entry of an account at an address and returns its number, from 1.
func (j *Journal) BeginEntry(scope string) (uint64, error) {
	var n uint64
	err := j.update(func(t *txn) error {
		last, _, err := t.lastEntry(scope)
		if err != nil {
			return err
		}
		n = last + 1
		return t.putEntry(scope, n, false)
	})
	return n, err
}

// ConfirmEntry stores that the entry reached play.
func (j *Journal) ConfirmEntry(scope string, number uint64) error {
	return j.update(func(t *txn) error {
		record, err := t.get(entriesBucket, entryKey(scope, number))
		if err != nil {
			return err
		}
		if record == nil {
			return fmt.Errorf("%w: number %d of %s", ErrUnknownEntry, number, scope)
		}
		return t.putEntry(scope, number, true)
	})
}

// EntriesSince counts the play entries behind the given one. After a reconnect a server that lived on shows leave_game
// between L+confirmed and L+confirmed+unconfirmed, where L and the entry are the newest mark's.
func (j *Journal) EntriesSince(scope string, entry uint64) (confirmed, unconfirmed int, err error) {
	_, err = read(j, func(t *txn) (struct{}, error) {
		return struct{}{}, t.each(entriesBucket, entryScope(scope), func(key, record []byte) error {
			d := newDecoder(record)
			yes := d.flag()
			if err := d.close(); err != nil {
				return err
			}
			switch n := binary.BigEndian.Uint64(key[len(key)-8:]); {
			case n <= entry:
			case yes:
				confirmed++
			default:
				unconfirmed++
			}
			return nil
		})
	})
	return confirmed, unconfirmed, err
}

func entryScope(scope string) []byte {
	e := encoder{}
	e.text(scope)
	return e.b
}

func entryKey(scope string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(entryScope(scope), n)
}

func (t *txn) putEntry(scope string, n uint64, confirmed bool) error {
	e := newEncoder()
	e.flag(confirmed)
	return t.put(entriesBucket, entryKey(scope, n), e.b)
}

// lastEntry returns the newest entry's number, 0 when there is none.
func (t *txn) lastEntry(scope string) (n uint64, confirmed bool, err error) {
	key, record, err := t.last(entriesBucket, entryScope(scope))
	if key == nil || err != nil {
		return 0, false, err
	}
	d := newDecoder(record)
	confirmed = d.flag()
	return binary.BigEndian.Uint64(key[len(key)-8:]), confirmed, d.close()
}
