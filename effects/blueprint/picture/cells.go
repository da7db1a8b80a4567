package picture

import (
	"image/png"
	"io"

	"blockworld/effects/blueprint"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// OfPlan lists the finished cells of a plan.
func OfPlan(p *blueprint.Plan) []Cell {
	out := make([]Cell, len(p.Final))
	for i, f := range p.Final {
		out[i] = Cell{f.Pos, f.State}
	}
	return out
}

// OfBlueprint lists the cells of a blueprint as a protocol has them; states that it does not know are left out.
func OfBlueprint(reg *registry.Registry, b *blueprint.Blueprint) []Cell {
	known := map[string]registry.StateID{}
	var out []Cell
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
			out = append(out, Cell{p, id})
		}
	})
	return out
}

// WritePNG draws cells and writes the image as PNG.
func WritePNG(w io.Writer, reg *registry.Registry, cells []Cell, o Options) error {
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	return enc.Encode(w, Render(reg, cells, o))
}
