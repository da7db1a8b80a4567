package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// TestProbeTries: a try is a journaled mission of one action, and what it finds goes into the profile.
func TestProbeTries(t *testing.T) {
	t.Parallel()
	s, err := server.Start(server.Config{Protocol: registry.Latest, GameMode: worldstate.Creative, Tick: 8 * time.Millisecond, ViewDistance: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	data := t.TempDir()
	probe := func(args ...string) (int, probeReport, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"probe", s.Addr(), "--data", data, "--json"}, args...), strings.NewReader(""), &out, &errs)
		var r probeReport
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); code == exitDone {
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
				t.Fatal(err, out.String())
			}
		}
		return code, r, errs.String()
	}
	code, r, errs := probe("--try", "say", "--try", "place=7,-60,4")
	if code != exitDone || len(r.Tried) != 2 {
		t.Fatalf("code %d, tried %+v\n%s", code, r.Tried, errs)
	}
	for _, tried := range r.Tried {
		if tried.Verdict != "proven" || !tried.Receipt {
			t.Errorf("%+v", *tried)
		}
	}
	prof, err := profile.Load(r.Profile)
	if err != nil || prof.Used != profile.UsedCounted || prof.Offers["say"].Least.String() != "acknowledged" {
		t.Errorf("%v, used %v, say %+v", err, prof.Used, prof.Offers["say"])
	}
	s.Do(func(w *server.World) {
		if got := s.Registry().FormatState(w.Block(geom.BlockPos{X: 7, Y: -60, Z: 4})); got != "minecraft:stone" {
			t.Errorf("the server has %s there", got)
		}
	})
	j, err := journal.Open(data, journal.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	missions, err := j.Missions()
	if err != nil || len(missions) != 2 || missions[0].State != journal.MissionComplete || missions[1].State != journal.MissionComplete {
		t.Errorf("%v, %+v", err, missions)
	}
	if open, err := openMissions(j); err != nil || len(open) != 0 {
		t.Errorf("%d missions are open, %v", len(open), err)
	}
	j.Close()
	if code, _, errs := probe("--try", "place=7,-60,4"); code != exitFailed || !strings.Contains(errs, "occupied") {
		t.Errorf("a taken cell: code %d, %s", code, errs)
	}
	for _, bad := range []string{"dig", "place=1,2", "place", "say=x"} {
		if code, _, errs := probe("--try", bad); code != exitUsage || errs == "" {
			t.Errorf("--try %s: code %d, %s", bad, code, errs)
		}
	}
}
