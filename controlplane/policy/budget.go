package policy

import (
	"fmt"
	"math"

	"blockworld/effects/host"
)

// reserve asks every budget that counts the action. The first, by id, that has no room refuses; otherwise an allowed action
// takes its part of each. An action that waits for its confirmation takes nothing: it is asked again when confirmed.
func (e *Engine) reserve(f *Facts, views []effect, u Usage, d *Decision) {
	var whoWords, allWords [MaxBudgets / 64]uint64
	var effectWords [host.MaxEffects][MaxBudgets / 64]uint64
	words := e.budgetIndex.words
	who, all := bitset(whoWords[:words]), bitset(allWords[:words])
	e.budgetIndex.who(f, who)
	for i := range views {
		one := bitset(effectWords[i][:words])
		e.budgetIndex.what(who, &views[i], f.Effects[i].Tags, one)
		all.or(one)
	}
	n := all.count()
	if n == 0 {
		return
	}
	taken := make([]Reservation, 0, n)
	for k := all.next(0); k >= 0; k = all.next(k + 1) {
		b := &e.budgets[k]
		r := Reservation{Budget: string(b.ID), Window: b.window(f.GameTick), Count: 1}
		for i := range views {
			if bitset(effectWords[i][:words]).has(k) {
				r.Quantity = add(r.Quantity, f.Effects[i].Quantity)
			}
		}
		if code, why := b.refuses(f, u, &r); code != "" {
			*d = Decision{Code: code, Reason: why, Revision: d.Revision, Rules: d.Rules, Matched: d.Matched, Budget: string(b.ID)}
			return
		}
		taken = append(taken, r)
	}
	if d.Result == Allow {
		d.Reservations = taken
	}
}

// window is the number of the window that a tick lies in.
func (b *Budget) window(tick int64) int64 {
	if b.WindowTicks <= 0 || tick < 0 {
		return 0
	}
	return tick / b.WindowTicks
}

// refuses tells whether the budget has no room for r, with code and reason; an empty code means that it has.
func (b *Budget) refuses(f *Facts, u Usage, r *Reservation) (Code, string) {
	if b.WindowTicks > 0 && f.GameTick < 0 {
		return CodeClockUnknown, fmt.Sprintf("budget %s counts per window and the host's clock is not known; wait until the host has published a game tick", b.ID)
	}
	left, ok := b.left(u, r.Window)
	if !ok {
		return CodeUsageUnknown, fmt.Sprintf("nobody can say what is spent of budget %s; check the store", b.ID)
	}
	if b.MaxCount > 0 && r.Count > left.Count {
		return CodeBudgetExceeded, fmt.Sprintf("budget %s has room for %d of %d actions; %s", b.ID, left.Count, b.MaxCount, b.advice(false))
	}
	if b.MaxQuantity > 0 && r.Quantity > left.Quantity {
		return CodeBudgetExceeded, fmt.Sprintf("budget %s has %d of %d left and this would take %d; %s", b.ID, left.Quantity, b.MaxQuantity, r.Quantity, b.advice(r.Quantity > b.MaxQuantity))
	}
	return "", ""
}

func (b *Budget) advice(never bool) string {
	if never {
		return "take less at once or raise the budget"
	}
	if b.WindowTicks > 0 {
		return fmt.Sprintf("wait for the next window (%d ticks each) or raise the budget", b.WindowTicks)
	}
	return "raise the budget"
}

// left returns what is left of a window; -1 where there is no limit. What is reserved counts as spent. A usage that
// cannot be is not believed.
func (b *Budget) left(u Usage, window int64) (Left, bool) {
	if u == nil {
		return Left{}, false
	}
	uc, uq, rc, rq := u.Used(string(b.ID), window)
	if uc < 0 || uq < 0 || rc < 0 || rq < 0 {
		return Left{}, false
	}
	return Left{Window: window, Count: room(b.MaxCount, uc, rc), Quantity: room(b.MaxQuantity, uq, rq)}, true
}

func room(limit, used, reserved int64) int64 {
	if limit <= 0 {
		return -1
	}
	return max(0, limit-min(limit, add(used, reserved)))
}

// add is the sum of two numbers that are at least 0, or the largest number there is.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
