package host_test

import (
	"testing"

	"blockworld/effects/host"
)

func TestSame(t *testing.T) {
	of := func(journals ...string) *host.Manifest {
		m := &host.Manifest{Host: "bots"}
		for _, j := range journals {
			m.Actors = append(m.Actors, host.Actor{Journal: j})
		}
		return m
	}
	for _, c := range []struct {
		a, b *host.Manifest
		want bool
	}{
		{of("x"), of("x"), true},
		{of("x", "y"), of("y", "z"), true}, // a bot was taken out, another one added
		{of("x"), of("y"), false},
		{of("x"), of(""), false}, // whoever leaves it out is not the one who says it
		{of(""), of("x"), false},
		{of(""), of(""), true},
		{of("x", ""), of("x"), true},
		{of("x", ""), of("", "y"), false},
	} {
		if got := c.a.Same(c.b); got != c.want {
			t.Errorf("%+v, %+v: %v", c.a.Actors, c.b.Actors, got)
		}
	}
}
