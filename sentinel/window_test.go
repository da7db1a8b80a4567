package sentinel

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWindow(t *testing.T) {
	if !new(Window).Budget(0, 1).refuses() {
		t.Error("the zero window has something left")
	}
	w := Window{Limit: 100, Per: 1000}
	for _, c := range []struct{ now, want, left int64 }{{0, 60, 100}, {10, 40, 40}, {500, 1, 0}, {999, 1, 0}, {1000, 60, 60}, {1500, 1, 40}} {
		b := w.Budget(c.now, c.want)
		if b.Left != c.left {
			t.Errorf("at %d: %+v, want %d left", c.now, b, c.left)
		}
		if !b.refuses() {
			w.Spend(c.now, c.want)
		}
	}
	// Whatever is admitted, no stretch of the window's length holds more than its limit.
	rapid.Check(t, func(t *rapid.T) {
		w := Window{Limit: rapid.Int64Range(1, 50).Draw(t, "limit"), Per: rapid.Int64Range(1, 50).Draw(t, "per")}
		var all []spending
		now := int64(0)
		for range 40 {
			now += rapid.Int64Range(0, 20).Draw(t, "later")
			if b := w.Budget(now, rapid.Int64Range(1, 30).Draw(t, "want")); !b.refuses() {
				w.Spend(now, b.Want)
				all = append(all, spending{now, b.Want})
			}
		}
		for i := range all {
			sum := int64(0)
			for _, s := range all[i:] {
				if s.at-all[i].at < w.Per {
					sum += s.amount
				}
			}
			if sum > w.Limit {
				t.Fatalf("%d within one window of %d", sum, w.Limit)
			}
		}
	})
}
