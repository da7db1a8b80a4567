package hosting_test

import (
	"strings"
	"testing"

	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// TestShutInWords: who asks for a walk or a place to stand hears what keeps the bot in, and what somebody else can do.
func TestShutInWords(t *testing.T) {
	t.Parallel()
	st := set(t, server.Config{GameMode: worldstate.Survival})
	put := func(x, y, z int32, text string) {
		s, err := st.s.Registry().ParseState(text)
		if err != nil {
			t.Fatal(err)
		}
		st.s.Do(func(w *server.World) { w.PutBlock(geom.BlockPos{X: x, Y: y, Z: z}, s) })
	}
	for i := range int32(27) {
		if x, y, z := i%3-1, i/9-60, i/3%3-1; x != 0 || z != 0 || y == -58 {
			put(x, y, z, "stone")
		}
	}
	st.start()
	walk := action("move_to", map[string]any{"pos": []int{6, -60, 0}})
	refused := func(want ...string) {
		t.Helper()
		var a host.Answer
		until(st, func() bool { // what was built comes to the bot in a moment
			_, a = st.bind(walk)
			return a.Bound == nil && strings.Contains(a.Message, want[0])
		})
		for _, w := range want {
			if !strings.Contains(a.Message, w) {
				t.Errorf("%s: %q does not say %q", a.Code, a.Message, w)
			}
		}
	}
	refused("there is no way out of 0,-60,0", "the way east of it is barred", "let somebody make a way there")
	put(1, -60, 0, "oak_door[facing=west,half=lower]")
	put(1, -59, 0, "oak_door[facing=west,half=upper]")
	refused("oak_door at 1,-60,0", "let somebody open one")
	put(1, -60, 0, "air")
	put(1, -59, 0, "air")
	until(st, func() bool { _, a := st.bind(walk); return a.Bound != nil })
	if _, o := st.done(walk); o.Status != host.Succeeded {
		t.Errorf("let out: %+v", o)
	}
}

// TestBuiltOver: a walk begins although somebody has built into the cell that the bot's feet are in while it stood at the
// edge, and dug away what lay around.
func TestBuiltOver(t *testing.T) {
	t.Parallel()
	st := set(t, server.Config{GameMode: worldstate.Survival, Spawn: &geom.Vec3{0.3, -60, 0.075}})
	fence, err := st.s.Registry().ParseState("oak_fence")
	if err != nil {
		t.Fatal(err)
	}
	st.s.Do(func(w *server.World) {
		w.PutBlock(geom.BlockPos{Y: -60}, fence)
		for i := range int32(25) {
			if pos := (geom.BlockPos{X: i%5 - 2, Y: -61, Z: i/5 - 2}); pos.X != 0 || pos.Z != 0 {
				w.PutBlock(pos, 0)
			}
		}
	})
	st.start()
	walk := action("move_to", map[string]any{"pos": []int{4, -60, 4}})
	op, a := st.bind(walk)
	if a.Bound == nil {
		t.Fatalf("%s: %s", a.Code, a.Message)
	}
	st.d.deliver(op)
	if o := st.outcome(op); o.Status != host.Succeeded {
		t.Errorf("%+v", o)
	}
}
