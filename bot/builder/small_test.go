package builder_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/placement"
	"blockworld/fixtures/server"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// row is a blueprint of one line of blocks on the ground.
func row(t *testing.T, texts ...string) *blueprint.Blueprint {
	t.Helper()
	b, err := blueprint.New("row", geom.BlockPos{X: int32(len(texts)), Y: 1, Z: 1})
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = 3955
	for x, text := range texts {
		s, ok := blueprint.ParseState(text)
		if !ok {
			t.Fatalf("%q is no state", text)
		}
		if err := b.Set(geom.BlockPos{X: int32(x)}, s); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestStacksAndPairs builds what comes out otherwise when a click is a little different: candles are clicked onto themselves,
// and whether chests pair is a matter of the order and of the sneak key.
func TestStacksAndPairs(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][]string{
		"candles":          {"candle[candles=4]", "red_candle[candles=2]", "candle"},
		"two single":       {"chest[facing=north]", "chest[facing=north]"},
		"a pair":           {"chest[facing=north,type=left]", "chest[facing=north,type=right]"},
		"a pair, a single": {"chest[facing=south,type=right]", "chest[facing=south,type=left]", "chest[facing=south]"},
		"two pairs":        {"chest[facing=north,type=left]", "chest[facing=north,type=right]", "chest[facing=north,type=left]", "chest[facing=north,type=right]"},
	} {
		for _, p := range bothOrders {
			t.Run(name+"/"+p.Name(), func(t *testing.T) {
				t.Parallel()
				st := newStage(t, server.Config{Protocol: p})
				m, err := st.g.Start(name, row(t, texts...), corner, func(s *builder.Site) { s.Options.Pipeline = 4 })
				if err != nil {
					t.Fatal(err)
				}
				st.done(m, st.work(m))
				st.once()
				receipts, err := m.Receipts()
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range receipts {
					cells := r.Outcome.Postcondition.(effects.CellsBecome).Cells
					i := int(r.Outcome.Step.Index)
					if want := m.Plan.Steps[i].Use.Cells[0].Masked; !slices.Equal(cells[0].Masked, want) {
						t.Errorf("step %d masks %v in its receipt, %v in the plan", i, cells[0].Masked, want)
					}
				}
				for _, c := range m.Plan.Final {
					if slices.Contains(c.Masked, placement.PairMask) {
						t.Errorf("the inspection does not compare the type at %v", c.Pos)
					}
				}
			})
		}
	}
}

// unfenced makes terms of a server that answers no request-stats.
func unfenced(slots bool) func(*builder.Site) {
	return func(s *builder.Site) {
		s.Terms.Offered = sentinel.CapabilitySet(effects.MoveTo, effects.Equip, effects.PlaceBlock)
		s.Terms.Fence, s.Terms.Slots, s.Terms.Least = false, slots, effects.Observed
	}
}

// TestWithoutFence builds where nothing brackets a use: one at a time, each proven by its block alone.
func TestWithoutFence(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]worldstate.GameMode{"inventory told whole": worldstate.Creative, "slots told one by one": worldstate.Survival} {
		for _, p := range bothOrders {
			t.Run(name+"/"+p.Name(), func(t *testing.T) {
				t.Parallel()
				st := newStage(t, server.Config{Protocol: p, GameMode: mode})
				slots := mode == worldstate.Survival // what is handed to it, the server tells slot by slot
				m := st.start(func(s *builder.Site) {
					unfenced(slots)(s)
					s.Options.Stay = slots
				})
				if slots {
					st.stock(m.Site.Plan)
				}
				r := st.work(m)
				st.done(m, r)
				st.once()
				receipts, _ := m.Receipts()
				for _, r := range receipts {
					if r.Outcome.Grade != effects.Observed || r.Outcome.Attribution != effects.AttributionNone {
						t.Errorf("grade %s, attribution %v", r.Outcome.Grade, r.Outcome.Attribution)
					}
				}
			})
		}
	}
}

// TestSilence gives a server up that answers no fence although it was said to: not before three sessions have seen nothing.
func TestSilence(t *testing.T) {
	t.Parallel()
	st := newStage(t, server.Config{Protocol: registry.Latest, Faults: faults(t, "drop:award_stats")})
	st.g.Options.Tick = 2 * time.Millisecond
	m := st.start(func(s *builder.Site) {
		unfenced(false)(s)
		s.Terms.Fence, s.Terms.Least = true, effects.Attributed
	})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	_, err := m.Work(ctx)
	if !errors.Is(err, builder.ErrSilent) {
		t.Fatalf("%v, want %v", err, builder.ErrSilent)
	}
	rejoins := 0
	for _, e := range m.Events {
		if _, ok := e.(builder.Rejoining); ok {
			rejoins++
		}
	}
	if _, all := st.executed(); rejoins != 2 || all != 0 {
		t.Errorf("%d rejoins, %d uses", rejoins, all)
	}
}
