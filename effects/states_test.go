package effects_test

import (
	"testing"

	"blockworld/effects"
	"blockworld/effects/placement"
	"blockworld/worldstate/registry"
)

func load(t *testing.T) *registry.Registry {
	t.Helper()
	r, err := registry.Load(registry.Latest)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parse(t *testing.T, r *registry.Registry, s string) registry.StateID {
	t.Helper()
	id, err := r.ParseState(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRegistryStates(t *testing.T) {
	r := load(t)
	s := effects.RegistryStates{Registry: r}
	same := []struct {
		want, got string
		masked    []string
		same      bool
	}{
		{"oak_fence[north=true]", "oak_fence[north=true]", nil, true},
		{"oak_fence[north=true]", "oak_fence[north=false]", nil, false},
		{"oak_fence[north=true]", "oak_fence[north=false]", []string{"north"}, true},
		{"oak_fence[north=true]", "oak_fence[north=false,waterlogged=true]", []string{"north"}, false},
		{"oak_fence", "spruce_fence", []string{"north", "south", "east", "west", "waterlogged"}, false},
		{"kelp", "kelp_plant", nil, false},
		{"kelp", "kelp_plant", []string{effects.FormMask}, true},
		{"kelp", "stone", []string{effects.FormMask}, false},
		{"stone", "air", []string{"x"}, false},
	}
	for _, c := range same {
		a, b := parse(t, r, c.want), parse(t, r, c.got)
		if got := s.Same(a, b, c.masked); got != c.same {
			t.Errorf("%s beside %s under %v: %v", c.want, c.got, c.masked, got)
		}
		if got := placement.Same(r, a, b, c.masked); got != c.same {
			t.Errorf("the planner compares %s with %s under %v otherwise: %v", c.want, c.got, c.masked, got)
		}
	}
	landed := []struct {
		before, after, placed string
		landed                bool
	}{
		{"stone", "stone", "stone", false},
		{"short_grass", "stone", "stone", true},
		{"dirt", "grass_block", "stone", false},
		{"oak_slab[type=bottom]", "oak_slab[type=double]", "oak_slab[type=bottom]", true},
		{"oak_fence", "oak_fence[east=true]", "oak_fence", false},
		{"oak_stairs", "oak_stairs[shape=inner_left]", "oak_stairs", false},
		{"chest", "chest[type=left]", "chest", false},
		{"candle[candles=1]", "candle[candles=2]", "candle[candles=1]", true},
		{"candle[candles=2]", "candle[candles=1]", "candle[candles=1]", false},
		{"air", "torch", "wall_torch[facing=north]", true},
		{"vine[north=true]", "vine[north=true,east=true]", "vine[east=true]", true},
		{"snow[layers=1]", "snow[layers=2]", "snow[layers=1]", true},
		{"stone", "air", "stone", false},
	}
	for _, c := range landed {
		if got := s.Landed(parse(t, r, c.before), parse(t, r, c.after), parse(t, r, c.placed)); got != c.landed {
			t.Errorf("%s turned %s while placing %s: landed %v", c.before, c.after, c.placed, got)
		}
	}
	if !s.Landed(parse(t, r, "stone"), 65535, parse(t, r, "stone")) {
		t.Error("an unknown state is harmless")
	}
}
