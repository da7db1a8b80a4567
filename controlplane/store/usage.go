package store

import (
	"encoding/binary"
	"fmt"

	"blockworld/controlplane/operation"
)

// Usage is what was taken from one window of one budget.
type Usage struct{ UsedCount, UsedQuantity, ReservedCount, ReservedQuantity int64 }

func (u Usage) encode() []byte {
	b := make([]byte, 0, 32)
	for _, n := range []int64{u.UsedCount, u.UsedQuantity, u.ReservedCount, u.ReservedQuantity} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func decodeUsage(b []byte) (u Usage, ok bool) {
	if len(b) != 32 {
		return u, false
	}
	for i, n := range []*int64{&u.UsedCount, &u.UsedQuantity, &u.ReservedCount, &u.ReservedQuantity} {
		*n = int64(binary.BigEndian.Uint64(b[8*i:]))
	}
	return u, u.valid()
}

// valid holds of everything that is stored: nothing is taken twice back, and no sum has run over.
func (u Usage) valid() bool {
	return u.UsedCount >= 0 && u.UsedQuantity >= 0 && u.ReservedCount >= 0 && u.ReservedQuantity >= 0
}

// UsageTx reads usage; Ops.Create and Ops.Step write it. It is what policy asks.
type UsageTx struct{ tx Tx }

// UsageIn returns the usage of a transaction.
func UsageIn(tx Tx) UsageTx { return UsageTx{tx} }

// Used returns what was used and what is reserved of a window of a budget. A damaged record counts as used up; the
// transaction fails for it anyway.
func (u UsageTx) Used(budget string, window int64) (usedCount, usedQty, reservedCount, reservedQty int64) {
	got, err := u.Get(budget, window)
	if err != nil {
		const most = 1<<62 - 1
		return most, most, 0, 0
	}
	return got.UsedCount, got.UsedQuantity, got.ReservedCount, got.ReservedQuantity
}

// Get returns the usage of a window of a budget. Errors wrap ErrCorrupt.
func (u UsageTx) Get(budget string, window int64) (Usage, error) {
	key := usageKey(budget, window)
	v := u.tx.Get(UsageOf, key)
	if v == nil {
		return Usage{}, nil
	}
	got, ok := decodeUsage(v)
	if !ok {
		return Usage{}, damaged(place(UsageOf, key), "it is no usage")
	}
	return got, nil
}

// Each calls f for every window of every budget until it returns false.
func (u UsageTx) Each(f func(budget string, window int64, usage Usage) bool) (err error) {
	u.tx.Scan(UsageOf, nil, nil, func(k, v []byte) bool {
		budget, window, ok := usageKeyOf(k)
		got, ok2 := decodeUsage(v)
		if !ok || !ok2 {
			err = damaged(place(UsageOf, k), "it is no usage")
			return false
		}
		return f(budget, window, got)
	})
	return err
}

func reserve(u *Usage, r operation.Reservation) {
	u.ReservedCount += r.Count
	u.ReservedQuantity += r.Quantity
}

func release(u *Usage, r operation.Reservation) {
	u.ReservedCount -= r.Count
	u.ReservedQuantity -= r.Quantity
}

func commit(u *Usage, r operation.Reservation) {
	release(u, r)
	u.UsedCount += r.Count
	u.UsedQuantity += r.Quantity
}

func (u UsageTx) change(all []operation.Reservation, how func(*Usage, operation.Reservation)) error {
	for _, r := range all {
		got, err := u.Get(r.Budget, r.Window)
		if err != nil {
			return err
		}
		how(&got, r)
		if r.Count < 0 || r.Quantity < 0 || !got.valid() {
			return fmt.Errorf("%w: budget %s, window %d would come to %+v", ErrInvalid, r.Budget, r.Window, got)
		}
		u.tx.Put(UsageOf, usageKey(r.Budget, r.Window), got.encode())
	}
	return nil
}
