package blueprint

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// indexed is one entry of the real schematics' index.json.
type indexed struct {
	File           string
	Format         string
	DataVersion    int32    `json:"data_version"`
	Size           [3]int32 `json:"size_xyz"`
	NonAir         int      `json:"non_air"`
	DistinctStates int      `json:"distinct_states"`
	BlockEntities  int      `json:"block_entities"`
	Entities       int
	Samples        []struct {
		X, Y, Z int32
		State   string
	}
}

// realFiles reads the index of real schematics, or skips with a word.
func realFiles(t *testing.T) (string, []indexed) {
	t.Helper()
	dir := os.Getenv("BLOCKWORLD_TEST_DATA")
	if dir == "" {
		t.Skip("BLOCKWORLD_TEST_DATA is unset: real schematics are not read")
	}
	dir = filepath.Join(dir, "schematics")
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []indexed
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return dir, list
}

func TestRealSchematicsReadAsIndexed(t *testing.T) {
	dir, list := realFiles(t)
	samples := 0
	for _, e := range list {
		t.Run(e.File, func(t *testing.T) {
			b, err := ReadFile(filepath.Join(dir, e.File))
			if err != nil {
				t.Fatal(err)
			}
			blocks, states := b.Count()
			if b.Format != e.Format || b.DataVersion != e.DataVersion || b.Size != (geom.BlockPos{X: e.Size[0], Y: e.Size[1], Z: e.Size[2]}) {
				t.Errorf("%s, data version %d, size %v; the index says %s, %d, %v", b.Format, b.DataVersion, b.Size, e.Format, e.DataVersion, e.Size)
			}
			if blocks != e.NonAir || states != e.DistinctStates || b.BlockEntities != e.BlockEntities || b.Entities != e.Entities {
				t.Errorf("%d blocks, %d states, %d block entities, %d entities; the index says %d, %d, %d, %d",
					blocks, states, b.BlockEntities, b.Entities, e.NonAir, e.DistinctStates, e.BlockEntities, e.Entities)
			}
			for _, s := range e.Samples {
				samples++
				if got, ok := b.At(geom.BlockPos{X: s.X, Y: s.Y, Z: s.Z}); !ok || got.String() != s.State {
					t.Errorf("%d,%d,%d is %v (%v), the index says %s", s.X, s.Y, s.Z, got, ok, s.State)
				}
			}
		})
	}
	t.Logf("%d files, %d samples", len(list), samples)
}

func TestRealSchematicsPlanInTime(t *testing.T) {
	dir, list := realFiles(t)
	for _, e := range list {
		t.Run(e.File, func(t *testing.T) {
			b, err := ReadFile(filepath.Join(dir, e.File))
			if err != nil {
				t.Fatal(err)
			}
			for _, fly := range []bool{true, false} {
				p := registry.Latest
				if near, _ := registry.ByDataVersion(b.DataVersion); near.Known() {
					p = near
				}
				reg, err := registry.Load(p)
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				plan, err := MakePlan(context.Background(), reg, b, geom.BlockPos{X: 100, Y: 64, Z: -40}, Options{CanFly: fly})
				took := time.Since(begin)
				if err != nil {
					t.Fatal(err)
				}
				codes := map[string]int{}
				for _, r := range plan.Rejected {
					codes[string(r.Code)]++
				}
				t.Logf("fly=%v %v: %d steps, %d rejected %v, %d unreachable, %d final, %v", fly, p, len(plan.Steps), len(plan.Rejected), codes, len(plan.Unreachable), len(plan.Final), took)
				if took > 2*time.Second && !raceEnabled {
					t.Errorf("planning took %v", took)
				}
				checkPlan(t, reg, plan, nil)
			}
		})
	}
}
