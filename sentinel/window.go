package sentinel

// Window is a budget that renews itself: at most Limit within any stretch of Per milliseconds. The zero Window has
// nothing left. It belongs to one goroutine; time comes in as milliseconds since the Unix epoch.
type Window struct {
	Limit int64
	Per   int64

	spent []spending // oldest first
}

type spending struct{ at, amount int64 }

// Budget returns what is left of the window at a moment, beside what an action wants of it.
func (w *Window) Budget(now, want int64) Budget {
	left := w.Limit
	for _, s := range w.spent {
		if now-s.at < w.Per {
			left -= s.amount
		}
	}
	return Budget{Left: max(left, 0), Want: want}
}

// Spend takes from the window. Like every budget it is taken at the mark, whatever comes of the action.
func (w *Window) Spend(now, amount int64) {
	keep := w.spent[:0]
	for _, s := range w.spent {
		if now-s.at < w.Per {
			keep = append(keep, s)
		}
	}
	w.spent = append(keep, spending{now, amount})
}
