package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blockworld/effects/host"
)

func blocks(n int64) host.Preview {
	v := placing()
	v.Quantity = n
	return v
}

func TestBudgetsCountActionsAndQuantity(t *testing.T) {
	subjects := map[Layer]string{LayerServer: "play.example", LayerWorld: "minecraft:overworld", LayerOwner: "alice", LayerActor: "bot-1", LayerTask: "house"}
	elsewhere := map[Layer]func(*Facts){
		LayerServer: func(f *Facts) { f.Server = "other.example" }, LayerWorld: func(f *Facts) { f.World = "minecraft:the_end" },
		LayerOwner: func(f *Facts) { f.Principal = "bob" }, LayerActor: func(f *Facts) { f.Actor = "bot-2" }, LayerTask: func(f *Facts) { f.Task = "" },
	}
	for l := LayerServer; l < layerCount; l++ {
		t.Run(fmt.Sprintf("CP-41/at most two actions, layer %s: the third is denied", l), func(t *testing.T) {
			e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "two", Layer: l, Subject: subjects[l], MaxCount: 2}}})
			book := ledger{}
			for range 2 {
				d := e.Decide(asks(placing()), book)
				wants(t, d, Allow, CodeProfileAllowed)
				book.reserve(d.Reservations)
			}
			d := e.Decide(asks(placing()), book)
			wants(t, d, Deny, CodeBudgetExceeded)
			if d.Budget != "two" || !strings.Contains(d.Reason, "budget two ") || d.Reservations != nil {
				t.Errorf("budget %q, reason %q, reservations %v", d.Budget, d.Reason, d.Reservations)
			}
			f := asks(placing())
			elsewhere[l](f)
			wants(t, e.Decide(f, book), Allow, CodeProfileAllowed)
		})
		t.Run(fmt.Sprintf("CP-42/64 blocks, layer %s: 60 and 5 are too many, 60 and 4 fit", l), func(t *testing.T) {
			e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "stack", Layer: l, Subject: subjects[l], MaxQuantity: 64}}})
			book := ledger{}
			d := e.Decide(asks(blocks(60)), book)
			wants(t, d, Allow, CodeProfileAllowed)
			book.reserve(d.Reservations)
			book.commit(d.Reservations)
			wants(t, e.Decide(asks(blocks(5)), book), Deny, CodeBudgetExceeded)
			wants(t, e.Decide(asks(blocks(4)), book), Allow, CodeProfileAllowed)
			wants(t, e.Decide(asks(blocks(2), blocks(3)), book), Deny, CodeBudgetExceeded)
			wants(t, e.Decide(asks(blocks(2), blocks(2)), book), Allow, CodeProfileAllowed)
		})
	}
	t.Run("CP-41/an action counts once however many of its effects match", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "one", Layer: LayerServer, MaxCount: 1}}})
		d := e.Decide(asks(blocks(2), blocks(3)), ledger{})
		if len(d.Reservations) != 1 || d.Reservations[0] != (Reservation{Budget: "one", Count: 1, Quantity: 5}) {
			t.Errorf("reservations %v", d.Reservations)
		}
	})
	t.Run("CP-42/only matching effects are counted", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "places", Layer: LayerServer, Match: Match{Kinds: []Kind{KindWorldPlace}}, MaxQuantity: 10}}})
		d := e.Decide(asks(blocks(4), saying("a line of more than ten characters")), ledger{})
		wants(t, d, Allow, CodeProfileAllowed)
		if len(d.Reservations) != 1 || d.Reservations[0].Quantity != 4 {
			t.Errorf("reservations %v", d.Reservations)
		}
		if d := e.Decide(asks(saying("hi")), nil); d.Reservations != nil {
			t.Errorf("reservations %v", d.Reservations)
		}
	})
	t.Run("CP-42/sums beyond all numbers are too many", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "b", Layer: LayerServer, MaxQuantity: math.MaxInt64 - 1}}})
		wants(t, e.Decide(asks(blocks(math.MaxInt64), blocks(math.MaxInt64)), ledger{}), Deny, CodeBudgetExceeded)
		wants(t, e.Decide(asks(blocks(1)), ledger{"b/0": {0, math.MaxInt64, 0, math.MaxInt64}}), Deny, CodeBudgetExceeded)
	})
	t.Run("CP-41/what nobody can count is denied", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "b", Layer: LayerServer, MaxCount: 5}}})
		wants(t, e.Decide(asks(placing()), nil), Deny, CodeUsageUnknown)
		wants(t, e.Decide(asks(placing()), ledger{"b/0": {-1, 0, 0, 0}}), Deny, CodeUsageUnknown)
	})
	t.Run("CP-41/the first budget without room is told, by id", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "c", Layer: LayerServer, MaxCount: 1}, {ID: "b", Layer: LayerTask, Subject: "house", MaxCount: 1}, {ID: "a", Layer: LayerServer, MaxCount: 9}}})
		d := e.Decide(asks(placing()), ledger{"b/0": {1}, "c/0": {1}})
		if d.Budget != "b" {
			t.Errorf("budget %s", d.Budget)
		}
	})
}

func TestBudgetsWithAWindow(t *testing.T) {
	e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "minute", Layer: LayerActor, Subject: "bot-1", MaxCount: 1, WindowTicks: 1200}}})
	at := func(tick int64, u Usage) Decision {
		f := asks(placing())
		f.GameTick = tick
		return e.Decide(f, u)
	}
	book := ledger{}
	first := at(1200, book)
	book.reserve(first.Reservations)
	book.commit(first.Reservations)
	t.Run("CP-43/the last tick of a window is still in it", func(t *testing.T) {
		wants(t, first, Allow, CodeProfileAllowed)
		if first.Reservations[0].Window != 1 {
			t.Errorf("window %d", first.Reservations[0].Window)
		}
		wants(t, at(2399, book), Deny, CodeBudgetExceeded)
	})
	t.Run("CP-43/the next tick is in the next", func(t *testing.T) {
		d := at(2400, book)
		wants(t, d, Allow, CodeProfileAllowed)
		if d.Reservations[0].Window != 2 {
			t.Errorf("window %d", d.Reservations[0].Window)
		}
	})
	t.Run("CP-43/tick 0 is a tick", func(t *testing.T) { wants(t, at(0, book), Allow, CodeProfileAllowed) })
	t.Run("CP-43/a tick that jumps back comes with a new epoch and gives nothing back", func(t *testing.T) {
		f := asks(placing())
		f.GameTick, f.Epoch.Timeline = 1300, 2
		wants(t, e.Decide(f, book), Deny, CodeBudgetExceeded)
		f.Epoch.Timeline = 0
		wants(t, e.Decide(f, ledger{}), Deny, CodeInvalidEpoch)
	})
	t.Run("CP-43/without a clock a window cannot be told", func(t *testing.T) {
		wants(t, at(-1, ledger{}), Deny, CodeClockUnknown)
	})
	t.Run("CP-43/without a window no clock is needed", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Budgets: []Budget{{ID: "ever", Layer: LayerServer, MaxCount: 1}}})
		f := asks(placing())
		for _, tick := range []int64{-1, 0, math.MaxInt64} {
			f.GameTick = tick
			if d := e.Decide(f, ledger{}); d.Result != Allow || d.Reservations[0].Window != 0 {
				t.Errorf("tick %d: %s, %v", tick, d.Code, d.Reservations)
			}
		}
	})
}

func TestAllowReservesFirst(t *testing.T) {
	one := Config{Profile: Open, Budgets: []Budget{{ID: "one", Layer: LayerServer, MaxCount: 1}}}
	e := compiled(t, one)
	t.Run("CP-44/two submits, one after the other on one writer: one allow", func(t *testing.T) {
		book := ledger{}
		allowed := 0
		for range 2 {
			if d := e.Decide(asks(placing()), book); d.Result == Allow {
				allowed++
				book.reserve(d.Reservations)
			}
		}
		if allowed != 1 {
			t.Errorf("%d allowed", allowed)
		}
	})
	t.Run("CP-44/a refused action leaves its room free", func(t *testing.T) {
		book := ledger{}
		d := e.Decide(asks(placing()), book)
		book.reserve(d.Reservations)
		book.release(d.Reservations)
		wants(t, e.Decide(asks(placing()), book), Allow, CodeProfileAllowed)
	})
	t.Run("CP-44/an accepted one does not, whatever becomes of it", func(t *testing.T) {
		book := ledger{}
		d := e.Decide(asks(placing()), book)
		book.reserve(d.Reservations)
		book.commit(d.Reservations)
		wants(t, e.Decide(asks(placing()), book), Deny, CodeBudgetExceeded)
	})
	t.Run("CP-44/what waits for its confirmation takes no room, and is not asked for without room", func(t *testing.T) {
		e := compiled(t, Config{Budgets: one.Budgets})
		book := ledger{}
		d := e.Decide(asks(placing()), book)
		wants(t, d, Confirm, CodeProfileConfirms)
		if d.Reservations != nil {
			t.Errorf("reservations %v", d.Reservations)
		}
		f := asks(placing())
		f.Confirmed = true
		d = e.Decide(f, book)
		wants(t, d, Allow, CodeConfirmed)
		if len(d.Reservations) != 1 {
			t.Errorf("reservations %v", d.Reservations)
		}
		book.reserve(d.Reservations)
		wants(t, e.Decide(f, book), Deny, CodeBudgetExceeded)
		wants(t, e.Decide(asks(placing()), book), Deny, CodeBudgetExceeded)
	})
	t.Run("CP-44/what is denied takes no room", func(t *testing.T) {
		c := one
		c.Rules = []Rule{{ID: "no", Layer: LayerServer, Result: Deny}}
		if d := compiled(t, c).Decide(asks(placing()), ledger{}); d.Reservations != nil {
			t.Errorf("reservations %v", d.Reservations)
		}
	})
}

// TestBudgetsAreNeverOverrun plays sequences of submits, acceptances and refusals against a plain count of its own.
func TestBudgetsAreNeverOverrun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Profile: rapid.SampledFrom(everyProfile).Draw(t, "profile")}
		for i := range rapid.IntRange(1, 5).Draw(t, "budgets") {
			b := Budget{ID: host.Name(fmt.Sprintf("b%d", i)), Layer: LayerServer,
				MaxCount:    rapid.Int64Range(0, 5).Draw(t, "max count"),
				MaxQuantity: rapid.Int64Range(1, 20).Draw(t, "max quantity"),
				WindowTicks: rapid.SampledFrom([]int64{0, 1, 10}).Draw(t, "window")}
			if rapid.Bool().Draw(t, "places only") {
				b.Kinds = []Kind{KindWorldPlace}
			}
			if rapid.Bool().Draw(t, "one bot's") {
				b.Layer, b.Subject = LayerActor, "bot-1"
			}
			c.Budgets = append(c.Budgets, b)
		}
		e := compiled(t, c)
		book := ledger{}
		var pending [][]Reservation
		type spent struct{ count, quantity int64 }
		held := map[string]spent{} // by budget and window, counted here from the effects that were allowed
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			f := asks()
			f.Confirmed = true
			f.Actor = rapid.SampledFrom([]host.Name{"bot-1", "bot-2"}).Draw(t, "actor")
			f.GameTick = rapid.Int64Range(0, 40).Draw(t, "tick")
			for range rapid.IntRange(1, 3).Draw(t, "effects") {
				v := rapid.SampledFrom([]host.Preview{placing(), saying("hi")}).Draw(t, "effect")
				v.Quantity = rapid.Int64Range(0, 8).Draw(t, "quantity")
				f.Effects = append(f.Effects, v)
			}
			switch rapid.SampledFrom([]string{"submit", "submit", "accept", "refuse"}).Draw(t, "step") {
			case "submit":
				d := e.Decide(f, book)
				if d.Result != Allow {
					continue
				}
				book.reserve(d.Reservations)
				pending = append(pending, d.Reservations)
				for i := range c.Budgets {
					b := &c.Budgets[i]
					n, q := int64(0), int64(0)
					for _, v := range f.Effects {
						if (b.Layer == LayerServer || f.Actor == "bot-1") && (b.Kinds == nil || v.Kind == "world.place") {
							n, q = 1, q+v.Quantity
						}
					}
					w := int64(0)
					if b.WindowTicks > 0 {
						w = f.GameTick / b.WindowTicks
					}
					key := book.key(string(b.ID), w)
					held[key] = spent{held[key].count + n, held[key].quantity + q}
				}
			case "accept":
				if len(pending) > 0 {
					book.commit(pending[0])
					pending = pending[1:]
				}
			case "refuse":
				if len(pending) > 0 {
					book.release(pending[0])
					for _, r := range pending[0] {
						key := book.key(r.Budget, r.Window)
						held[key] = spent{held[key].count - r.Count, held[key].quantity - r.Quantity}
					}
					pending = pending[1:]
				}
			}
			for i := range c.Budgets {
				b := &c.Budgets[i]
				for w := range int64(41) {
					key := book.key(string(b.ID), w)
					s, v := held[key], book[key]
					if v[0]+v[2] != s.count || v[1]+v[3] != s.quantity {
						t.Fatalf("%s: booked %v, counted %+v", key, v, s)
					}
					if b.MaxCount > 0 && s.count > b.MaxCount || s.quantity > b.MaxQuantity {
						t.Fatalf("%s: %+v is more than %d and %d", key, s, b.MaxCount, b.MaxQuantity)
					}
				}
			}
		}
	})
}
