package picture_test

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"testing"

	"blockworld/effects/blueprint"
	"blockworld/effects/blueprint/picture"
	"blockworld/fixtures/blueprints"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// cellsOf lists the cells of a blueprint as a protocol has them; states that it does not know are left out.
func cellsOf(reg *registry.Registry, b *blueprint.Blueprint) []picture.Cell {
	known := map[string]registry.StateID{}
	var out []picture.Cell
	b.Each(func(p geom.BlockPos, s blueprint.State) {
		if s.Air() {
			return
		}
		text := s.String()
		id, ok := known[text]
		if !ok {
			var err error
			if id, err = blueprint.Resolve(reg, b.DataVersion, s); err != nil {
				id = 0
			}
			known[text] = id
		}
		if id != 0 {
			out = append(out, picture.Cell{Pos: p, State: id})
		}
	})
	return out
}

func TestHousePicture(t *testing.T) {
	reg, err := registry.Load(registry.Latest)
	if err != nil {
		t.Fatal(err)
	}
	b, err := blueprints.Load("house", blueprints.House())
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	cells := cellsOf(reg, b)
	o := picture.Options{MaxSide: 320, Ground: true}
	if err := png.Encode(&first, picture.Render(reg, cells, o)); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&second, picture.Render(reg, cells, o)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same cells give two pictures")
	}
	if path := os.Getenv("BLOCKWORLD_PICTURE"); path != "" {
		if err := os.WriteFile(path, first.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	img, err := png.Decode(&first)
	if err != nil {
		t.Fatal(err)
	}
	if s := img.Bounds().Size(); s.X > 320 || s.Y > 320 || s.X < 200 {
		t.Errorf("size %v", s)
	}
	seen := map[color.Color]bool{}
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			seen[img.At(x, y)] = true
		}
	}
	if len(seen) < 200 {
		t.Errorf("only %d colours", len(seen))
	}
}

func TestEveryStateCanBeDrawn(t *testing.T) {
	reg, err := registry.Load(registry.Latest)
	if err != nil {
		t.Fatal(err)
	}
	var cells []picture.Cell
	for _, b := range reg.Blocks() {
		cells = append(cells, picture.Cell{Pos: geom.BlockPos{X: b.ID % 40, Z: b.ID / 40}, State: b.Max})
	}
	if s := picture.Render(reg, cells, picture.Options{MaxSide: 300}).Bounds().Size(); s.X > 300 {
		t.Errorf("size %v", s)
	}
	for _, bad := range [][]picture.Cell{nil, {{State: 0}}} {
		if s := picture.Render(reg, bad, picture.Options{}).Bounds().Size(); s.X != 1 {
			t.Errorf("nothing to draw gives %v", s)
		}
	}
	_ = picture.Render(reg, []picture.Cell{{State: 65535}}, picture.Options{Turn: 3, MaxSide: 100})
	_ = blueprint.MirrorX
}
