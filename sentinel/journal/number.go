package journal

import "blockworld/effects"

// ReceiptNumber returns the place of an action's receipt in the chain; ok is false when there is none.
func (j *Journal) ReceiptNumber(id effects.ActionID) (n uint64, ok bool, err error) {
	n, err = read(j, func(t *txn) (uint64, error) {
		record, err := t.get(receiptsBucket, id[:])
		if err != nil || record == nil {
			return 0, err
		}
		d := newDecoder(record)
		n := d.u64()
		return n, d.close()
	})
	return n, n > 0 && err == nil, err
}
