package mission

import (
	"testing"

	"blockworld/effects"
)

// A step ahead of the first one is taken when that needs a walk, as far ahead and as many layers up as the bot may look.
func TestLookAhead(t *testing.T) {
	for name, c := range map[string]struct {
		ahead  int
		layers int32
		up     int32 // layers between the first step and the one in reach
		want   Action
	}{
		"none":             {ahead: 0, up: 1, want: Walk{0, pos(0, 64)}},
		"too far":          {ahead: 2, up: 1, want: Walk{0, pos(0, 64)}},
		"any layer":        {ahead: 3, up: 7, want: Place{3}},
		"within layers":    {ahead: 3, layers: 3, up: 3, want: Place{3}},
		"above the layers": {ahead: 3, layers: 3, up: 4, want: Walk{0, pos(0, 64)}},
	} {
		t.Run(name, func(t *testing.T) {
			p, w := row(3), ground()
			p.Steps = append(p.Steps, Step{Item: item, Clicked: pos(9, 63+c.up), Stand: pos(9, 64),
				Cells: []effects.Cell{{Pos: pos(9, 64+c.up), From: air, To: brick}}})
			m := start(t, p, Options{})
			f := able(w)
			f.LookAhead, f.Layers = c.ahead, c.layers
			f.Reach = func(s *Step) bool { return s == m.Step(3) }
			if got := m.Next("a", f).Do; got != c.want {
				t.Errorf("%#v, want %#v", got, c.want)
			}
		})
	}
}
