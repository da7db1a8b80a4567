package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
)

// TestApprovedBuild: a build on somebody else's plot, with a bot that joins anew to begin it.
func TestApprovedBuild(t *testing.T) {
	t.Parallel()
	st := set(t, "policy: {profile: guarded}\n")
	data, err := os.ReadFile(st.config)
	if err == nil { // the plot is not the caller's
		err = os.WriteFile(st.config, []byte(strings.Replace(string(data), `"-3,-60,-3:20,-40,20", owner: admin`, `"-3,-60,-3:20,-40,20", owner: neighbour`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	file := schematic(t)
	st.serve()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := st.client()
	ended := make(chan outcome, 1)
	go func() { ended <- st.ctl("--json", "build", file, "builder-1", "--at", "6,-60,6", "--rate", "0") }()

	t.Run("CP-105/one yes covers every block of the build that it showed", func(t *testing.T) {
		asked := func() (ids []string) {
			page, err := c.Operations(ctx, controlplane.Filter{State: operation.AwaitingConfirmation})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range page.Operations {
				ids = append(ids, v.ID.String())
			}
			return ids
		}
		var build []string
		for len(build) == 0 {
			build = asked()
		}
		if o := st.ctl("confirm", build[0], "--approve"); o.code != exitDone {
			t.Fatalf("%d: %s%s", o.code, o.out, o.errs)
		}
		for {
			select {
			case o := <-ended:
				if o.code != exitDone {
					t.Errorf("%d: %s%s", o.code, o.out, o.errs)
				}
				return
			default:
			}
			if again := asked(); len(again) > 0 {
				t.Fatalf("asked again: %v", again)
			}
		}
	})
}
