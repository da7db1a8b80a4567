package controlplane_test

import (
	"testing"

	"blockworld/controlplane/operation"
)

func TestSmoke(t *testing.T) {
	w := newWorld(t)
	v := w.queued(ann, "bot1")
	d := w.next()
	w.ok(w.h.Perform(w.ctx, d))
	w.is(w.look(ann, v.ID), operation.Succeeded)
}
