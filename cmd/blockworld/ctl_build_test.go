package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/effects/host"
	"blockworld/fixtures/blueprints"
)

// TestCtlBuildTogether: two bots share the steps of one structure, each with operations of its own.
func TestCtlBuildTogether(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy)
	data, err := os.ReadFile(st.config)
	if err == nil {
		err = os.WriteFile(st.config, append(data, "  - {id: builder-2, address: \""+st.world.Addr()+
			"\", username: Builder2, version: 1.21.8, view_distance: 2, plot: garden, owner: admin}\n"...), 0o600)
	}
	file := filepath.Join(t.TempDir(), "twelve.schem")
	if err == nil {
		err = os.WriteFile(file, blueprints.Twelve(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	st.serve()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	st.published(ctx, "builder-2")
	build := []string{"--json", "build", file, "builder-1", "--at", "6,-60,6", "--rate", "0"}
	t.Run("a bot that is not there is refused, and nobody keeps a lease", func(t *testing.T) {
		if o := st.ctl(append(build, "--with", "builder-9")...); o.code == exitDone || !strings.Contains(o.errs, "builder-9") {
			t.Errorf("%d: %s", o.code, o.errs)
		}
		if l, err := st.client().LeaseOf(t.Context(), "builder-1"); err != nil || l.ID != "" {
			t.Errorf("builder-1's lease is %+v, %v", l, err)
		}
	})
	t.Run("a build that is rejected leaves nobody's lease behind", func(t *testing.T) {
		if o := st.ctl(append(build, "--with", "builder-2", "--plot", "nowhere")...); o.code == exitDone || !strings.Contains(o.out, "rejected") {
			t.Errorf("%d: %s%s", o.code, o.out, o.errs)
		}
		for _, actor := range []host.Name{"builder-1", "builder-2"} {
			if l, err := st.client().LeaseOf(t.Context(), actor); err != nil || l.ID != "" {
				t.Errorf("%s's lease is %+v, %v", actor, l, err)
			}
		}
	})
	t.Run("CP-104_CP-105/each has its own operation on one mission", func(t *testing.T) {
		o := st.ctl(append(build, "--with", "builder-2")...)
		lines := strings.Split(strings.TrimSpace(o.out), "\n")
		var r struct {
			Operation operation.View `json:"operation"`
			Build     built          `json:"build"`
			With      []shiftResult  `json:"with"`
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || o.code != exitDone || len(r.With) != 1 {
			t.Fatalf("%d, %v: %s%s", o.code, err, o.out, o.errs)
		}
		other := r.With[0]
		if r.Operation.Actor != "builder-1" || other.Actor != "builder-2" || other.Operation.Actor != "builder-2" || r.Operation.ID == other.Operation.ID {
			t.Errorf("operations %s of %s and %s of %s", r.Operation.ID, r.Operation.Actor, other.Operation.ID, other.Operation.Actor)
		}
		if !r.Build.Done || !other.Build.Done || r.Build.Mission != other.Build.Mission || other.Build.Proven != 12 {
			t.Errorf("%+v and %+v", r.Build, other.Build)
		}
		placed := 0
		for _, id := range []string{r.Operation.ID.String(), other.Operation.ID.String()} {
			placed += strings.Count(st.ctl("ops", "list", "--parent", id, "--state", "succeeded").out, "place_block")
		}
		if placed != 12 {
			t.Errorf("%d placements for 12 steps", placed)
		}
	})
}
