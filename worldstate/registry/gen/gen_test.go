package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"blockworld/fixtures/peers"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// data returns minecraft-data's folder.
func data(t *testing.T) string {
	t.Helper()
	return filepath.Join(peers.Need(t, "minecraft-data"), "node_modules", "minecraft-data", "minecraft-data", "data")
}

func TestTablesAreCurrent(t *testing.T) {
	out := filepath.Join(t.TempDir(), "tables.bin")
	if err := run(data(t), out); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("../zz_tables.bin")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fresh, committed) {
		t.Error("zz_tables.bin is not what the generator writes: run make generate")
	}
}

// TestTablesAgainstSource compares what the program answers with the JSON, version by version.
func TestTablesAgainstSource(t *testing.T) {
	dir := data(t)
	for _, s := range sources {
		v, err := readVersion(dir, s.version)
		if err != nil {
			t.Fatal(err)
		}
		r, err := registry.Load(registry.Protocol(s.protocol))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range v.blocks {
			got, ok := r.Block(b.Name)
			if !ok || int(got.Min) != b.MinStateID || int(got.Max) != b.MaxStateID || int(got.Default) != b.DefaultState ||
				got.Hardness != float32(*b.Hardness) || got.Solid != (b.BoundingBox == "block") || int(got.ID) != b.ID || len(got.Props) != len(b.States) {
				t.Fatalf("%s: %s is %+v, want %+v", s.version, b.Name, got, b)
			}
			compareShapes(t, r, got, v.shapes)
		}
		for _, it := range v.items {
			if got := r.ItemByID(registry.ItemID(it.ID)); got == nil || got.Name != "minecraft:"+it.Name || uint64(got.StackSize) != it.StackSize {
				t.Fatalf("%s: item %d is %+v, want %+v", s.version, it.ID, got, it)
			}
		}
		for _, e := range v.entities {
			if got := r.EntityTypeByID(registry.EntityTypeID(e.ID)); got == nil || got.Name != "minecraft:"+e.Name || got.Width != float32(e.Width) || got.Height != float32(e.Height) {
				t.Fatalf("%s: entity %d is %+v, want %+v", s.version, e.ID, got, e)
			}
		}
	}
}

func compareShapes(t *testing.T, r *registry.Registry, b *registry.Block, shapes shapesJSON) {
	t.Helper()
	var list []int
	var one int
	raw := shapes.Blocks[b.Name[len("minecraft:"):]]
	if json.Unmarshal(raw, &one) != nil {
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
	}
	for s := b.Min; s <= b.Max; s++ {
		if list != nil {
			one = list[min(int(s-b.Min), len(list)-1)]
		}
		want, got := shapes.Shapes[strconv.Itoa(one)], r.Shape(s)
		if len(want) != len(got) {
			t.Fatalf("%s: %s has %d boxes, want %d", r.Protocol(), r.FormatState(s), len(got), len(want))
		}
		for i, w := range want {
			if got[i] != (geom.Box{Min: geom.Vec3{w[0], w[1], w[2]}, Max: geom.Vec3{w[3], w[4], w[5]}}) {
				t.Fatalf("%s: %s has the box %v, want %v", r.Protocol(), r.FormatState(s), got[i], w)
			}
		}
	}
}
