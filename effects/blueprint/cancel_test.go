package blueprint

import (
	"context"
	"errors"
	"testing"
	"time"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// A large plan is given up as soon as its caller gives up, wherever it has come to, and tells how far it is.
func TestPlanIsGivenUp(t *testing.T) {
	reg := load(t, registry.V1_21_7)
	b := storeys(t, geom.BlockPos{X: 40, Y: 24, Z: 40})
	for _, share := range []float64{0, 0.1, 0.5} {
		ctx, cancel := context.WithCancel(t.Context())
		if share == 0 {
			cancel()
		}
		var at time.Time
		last := -1
		p, err := MakePlan(ctx, reg, b, corner, Options{CanFly: true, Progress: func(done, of int) {
			if done < last || done > of {
				t.Errorf("%d of %d after %d", done, of, last)
			}
			if last = done; at.IsZero() && float64(done) >= share*float64(of) {
				at = time.Now()
				cancel()
			}
		}})
		if p != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, %v", p, err)
		}
		if share > 0 && !raceEnabled && time.Since(at) > 200*time.Millisecond {
			t.Errorf("given up at %.0f %%: answered after %v", 100*share, time.Since(at))
		}
		cancel()
	}
}
