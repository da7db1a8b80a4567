package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// finish lists materials, final cells and what could not be done.
func (p *planner) finish() {
	p.pairs()
	p.leftovers()
	p.materials()
	p.finals()
	hidden := 0
	for i := range p.plan.Steps {
		if p.plan.Steps[i].Hidden {
			hidden++
		}
	}
	if hidden > 0 {
		p.note("%d steps click a face that looks away from where one can stand; a server that traces looks may refuse them", hidden)
	}
	names := make([]string, 0, len(p.differs))
	for n := range p.differs {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		p.note("%s: time, power or chance decides it; %d placed otherwise than the file says", n, p.differs[n])
	}
	slices.SortFunc(p.plan.Rejected, byPos)
	slices.SortFunc(p.plan.Unreachable, byPos)
	slices.SortFunc(p.plan.Present, comparePos)
}

// pairs narrows the masks of chests: whether one stands alone or is half of a pair is decided when it is placed, unless a
// later step of the plan pairs with it.
func (p *planner) pairs() {
	later := map[geom.BlockPos]bool{} // cells that steps behind the present one change along
	for i := len(p.plan.Steps) - 1; i >= 0; i-- {
		s := &p.plan.Steps[i]
		for k := range s.Use.Cells {
			c := &s.Use.Cells[k]
			if placement.FamilyOf(p.reg.BlockOf(c.To).Name) == placement.Chest && !later[c.Pos] {
				c.Masked = slices.DeleteFunc(slices.Clone(c.Masked), func(n string) bool { return n == placement.PairMask })
			}
		}
		for _, f := range s.Follow {
			later[f.Pos] = true
		}
	}
}

func byPos(a, b Refusal) int { return comparePos(a.Pos, b.Pos) }

func comparePos(a, b geom.BlockPos) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

func (p *planner) leftovers() {
	hanging := 0
	for i := range p.jobs {
		j := &p.jobs[i]
		if j.state == jobDone {
			continue
		}
		r := Refusal{Pos: j.pos, Block: p.reg.FormatState(j.want), Code: Unreachable, Detail: "never tried"}
		if j.why != nil {
			r.Code, r.Detail = j.why.Code, j.why.Detail
		}
		if j.done > 0 {
			r.Detail = fmt.Sprintf("only %d of %d uses: %s", j.done, len(j.stages[0]), r.Detail)
		}
		if r.Code == Unreachable {
			p.plan.Unreachable = append(p.plan.Unreachable, r)
		} else {
			p.plan.Rejected = append(p.plan.Rejected, r)
			if r.Code == placement.NoClick {
				hanging++
			}
		}
		if j.done > 0 {
			// What the first uses left is part of the building.
			p.final[j.pos] = j.stages[0][j.done-1]
		}
	}
	if hanging > 0 {
		p.note("%d cells have nothing beside them to click: no chain of blocks that can be placed joins them to the ground", hanging)
	}
}

func (p *planner) materials() {
	count := map[registry.ItemID]int{}
	for i := range p.plan.Steps {
		count[p.plan.Steps[i].Use.Item]++
	}
	for id, n := range count {
		p.plan.Materials = append(p.plan.Materials, Material{p.reg.ItemByID(id).Name, id, n})
	}
	slices.SortFunc(p.plan.Materials, func(a, b Material) int { return strings.Compare(a.Item, b.Item) })
}

// finals lists the finished cells as the hypothetical world has them.
func (p *planner) finals() {
	all := make([]geom.BlockPos, 0, len(p.final))
	for q := range p.final {
		all = append(all, q)
	}
	slices.SortFunc(all, comparePos)
	for _, q := range all {
		s, ok := p.area.Block(q)
		if !ok {
			continue
		}
		wish := p.final[q]
		f := FinalCell{Pos: q, State: s, Masked: placement.FinalMasks(p.reg, s), Block: p.reg.FormatState(wish)}
		if w, ok := p.stateAt(q.Sub(p.offset)); ok {
			f.Block = p.reg.FormatState(w)
			f.Differs = p.difference(w, s)
		}
		if !p.surrounded(q) {
			f.Masked = placement.Masks(p.reg, s)
		}
		p.plan.Final = append(p.plan.Final, f)
	}
	p.followNotes()
}

// difference names the properties in which a finished cell is not as the blueprint wishes.
func (p *planner) difference(want, got registry.StateID) []string {
	if want == got {
		return nil
	}
	b := p.reg.BlockOf(want)
	if b != p.reg.BlockOf(got) {
		return []string{placement.FormMask}
	}
	var out []string
	for _, prop := range b.Props {
		v, _ := p.reg.Prop(want, prop.Name)
		if g, _ := p.reg.Prop(got, prop.Name); v != g {
			out = append(out, prop.Name)
		}
	}
	return out
}

// surrounded tells whether all neighbours of a cell are known.
func (p *planner) surrounded(q geom.BlockPos) bool {
	for _, f := range geom.Faces {
		if _, ok := p.area.Block(q.Neighbour(f)); !ok {
			return false
		}
	}
	return true
}

func (p *planner) followNotes() {
	count := map[string]int{}
	for i := range p.plan.Final {
		f := &p.plan.Final[i]
		name, _, _ := strings.Cut(f.Block, "[")
		for _, d := range f.Differs {
			if placement.ClassOf(name, d) == placement.Follows {
				count[name]++
				break
			}
		}
	}
	names := make([]string, 0, len(count))
	for n := range count {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		p.note("%s: %d join their neighbours otherwise than the file says", n, count[n])
	}
}
