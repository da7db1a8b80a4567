package main

import (
	"strings"
	"testing"

	"blockworld/fixtures/server"
	"blockworld/worldstate/geom"
)

// TestAcceptedIsNoSuccess: what an owner accepts ends with 4, inspect shows it as it is, and a plain repair opens it again.
func TestAcceptedIsNoSuccess(t *testing.T) {
	s, data := creative(t), t.TempDir()
	if got := ran(t.Context(), "probe", s.Addr(), "--data", data); got.code != exitDone {
		t.Fatal(got)
	}
	if got := ran(t.Context(), "build", schematic(t), "--server", s.Addr(), "--data", data, "--at", "2,-60,2"); got.code != exitDone {
		t.Fatal(got)
	}
	s.Do(func(w *server.World) {
		w.SetBlock(geom.BlockPos{X: 2, Y: -60, Z: 2}, 0)
	})
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"repair", "--accept"}, exitUnverified, "accepted without proof"},
		{[]string{"inspect"}, exitFailed, "steps disturbed"},
		{[]string{"repair"}, exitDone, "open again"},
		{[]string{"inspect"}, exitDone, "cells as planned"},
	} {
		if got := ran(t.Context(), append(c.args, "--data", data)...); got.code != c.code || !strings.Contains(got.out, c.says) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
}
