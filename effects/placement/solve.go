package placement

import (
	"slices"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Solve returns the clicks that make the wanted state in the target cell, the best first: clicks onto plain full blocks
// before clicks that need sneaking. Each is verified by Predict: its first cell is the target and equals the wanted
// state but for properties that neighbours, time or power decide. Without any, the Rejection says why.
//
// A state that needs several uses (Stages) is solved stage by stage; for the whole Solve answers with what the next use
// needs: the former stage in the cell.
func Solve(reg *registry.Registry, w Cells, target geom.BlockPos, want registry.StateID) ([]Use, *Rejection) {
	if rej := Unplaceable(reg, want); rej != nil {
		return nil, rej
	}
	return Candidates(reg, w, target, want)
}

// Candidates is Solve for a state that Unplaceable has let pass.
func Candidates(reg *registry.Registry, w Cells, target geom.BlockPos, want registry.StateID) ([]Use, *Rejection) {
	c := ctx{reg, w}
	there, ok := c.at(target)
	if !ok {
		return nil, reject(UnknownCell, "the cell %v is not loaded", target)
	}
	b := reg.BlockOf(want)
	item, ok := ItemFor(reg, b.Name)
	if !ok {
		return nil, reject(UnplaceableState, "%s has no item", b.Name)
	}
	if !reg.Replaceable(there) && c.block(there) != b.Name {
		return nil, reject(Occupied, "%s stands at %v", reg.FormatState(there), target)
	}
	if rej := c.former(there, want); rej != nil {
		return nil, rej
	}
	s := solver{ctx: c, target: target, want: want, there: there, item: item, hint: c.hintFor(want, there)}
	s.masks = solveMasks(reg, want, b)
	for _, face := range s.hint.faces {
		s.face(face)
	}
	if len(s.uses) == 0 {
		if s.why == nil {
			s.why = reject(NoClick, "nothing beside %v can be clicked so that %s comes out", target, reg.FormatState(want))
		}
		return nil, s.why
	}
	slices.SortStableFunc(s.uses, func(a, b scored) int { return a.cost - b.cost })
	out := make([]Use, len(s.uses))
	for i, u := range s.uses {
		out[i] = u.use
		out[i].Cells = masked(reg, out[i].Cells)
		out[i].Differs = s.differs(u.use.Cells[0].To)
	}
	return out, nil
}

// former rejects a state of several uses whose stage before is not there.
func (c ctx) former(there, want registry.StateID) *Rejection {
	var need registry.StateID
	for _, list := range Stages(c.reg, want) {
		if len(list) < 2 {
			return nil
		}
		need = list[len(list)-2]
		if Same(c.reg, there, need, Masks(c.reg, need)) {
			return nil
		}
	}
	if f := c.family(want); (f == Vine || f == Multiface) && c.block(there) == c.block(want) {
		return nil // the sides may come in any order
	}
	return reject(NeedsStage, "%s takes several uses; the one before leaves %s", c.reg.FormatState(want), c.reg.FormatState(need))
}

// solveMasks lists the properties in which a candidate may differ from the wanted state.
func solveMasks(reg *registry.Registry, want registry.StateID, b *registry.Block) []string {
	m := Masks(reg, want)
	if v, ok := reg.Prop(want, "powered"); ok && v != "true" {
		m = slices.DeleteFunc(m, func(n string) bool { return n == "open" })
	}
	return m
}

type scored struct {
	use  Use
	cost int
}

type solver struct {
	ctx
	target      geom.BlockPos
	want, there registry.StateID
	item        registry.ItemID
	hint        hint
	masks       []string
	uses        []scored
	why         *Rejection
}

// face tries the clicks on one face; the first that works is enough.
func (s *solver) face(f geom.Face) {
	at := s.target
	if !s.hint.onto {
		at = s.target.Neighbour(f.Opposite())
	}
	clicked, ok := s.at(at)
	if !ok || !s.hint.onto && s.reg.Replaceable(clicked) {
		return
	}
	for _, cursor := range s.cursors(clicked, f) {
		looks := append([]geom.Rotation{s.hint.look}, s.hint.also...)
		if s.hint.need == LookNone {
			looks[0] = along(f.Opposite())
		}
		found := false
		for _, look := range looks {
			for _, sneak := range s.sneaks(clicked) {
				found = s.try(Click{Pos: at, Face: f, Cursor: cursor}, look, sneak, clicked) || found
			}
		}
		if found {
			return
		}
	}
}

// sneaks lists how to hold the sneak key; a family that does not care follows the clicked block's need.
func (s *solver) sneaks(clicked registry.StateID) []bool {
	if s.hint.sneak != nil {
		return s.hint.sneak
	}
	return []bool{!s.hint.onto && s.eats(clicked)}
}

func (s *solver) try(click Click, look geom.Rotation, sneak bool, clicked registry.StateID) bool {
	cells, rej := predict(s.ctx, s.item, click, look, sneak)
	if rej != nil {
		s.blame(rej)
		return false
	}
	to := cells[0].To
	if cells[0].Pos != s.target || !Same(s.reg, s.want, to, s.masks) || s.wrongHalf(to) {
		s.mismatch(cells[0])
		return false
	}
	u := Use{Item: s.item, Click: click, Look: look, LookMatters: s.hint.need, Cells: cells}
	cost := s.misses(to) * 8
	if s.hint.sneak != nil {
		u.Sneak = SneakMustNot
	}
	if sneak {
		u.Sneak = SneakMust
	}
	if s.eats(clicked) {
		cost += 3
	}
	if !s.reg.FullCube(clicked) {
		cost++
	}
	s.uses = append(s.uses, scored{u, cost})
	return true
}

// wrongHalf tells whether a chest would pair with a neighbour that is not its other half. Staying single is no harm: the
// other half pairs with it later.
func (s *solver) wrongHalf(to registry.StateID) bool {
	if s.family(to) != Chest {
		return false
	}
	kind := s.prop(to, "type")
	return kind != "single" && kind != s.prop(s.want, "type")
}

// misses counts the masked properties that already come out otherwise than wanted.
func (s *solver) misses(to registry.StateID) int {
	if to == s.want {
		return 0
	}
	n := 0
	b := s.reg.BlockOf(s.want)
	for _, p := range b.Props {
		if v, ok := s.reg.Prop(to, p.Name); ok && v != s.prop(s.want, p.Name) && classOf(FamilyOf(b.Name), b.Name, p.Name) == Follows {
			n++
		}
	}
	return n
}

// blame keeps the most telling refusal.
func (s *solver) blame(rej *Rejection) {
	rank := func(r *Rejection) int {
		switch r.Code {
		case WouldChange:
			return 5
		case NoSupport:
			return 4
		case Occupied:
			return 3
		case UnplaceableState:
			return 2
		}
		return 1
	}
	if s.why == nil || rank(rej) > rank(s.why) {
		s.why = rej
	}
}

func (s *solver) mismatch(got CellChange) {
	if got.Pos != s.target {
		return
	}
	if s.is(s.want, "waterlogged", "true") && s.is(got.To, "waterlogged", "false") {
		s.blame(reject(NeedsInteraction, "%s needs source water in the cell first", s.reg.FormatState(s.want)))
		return
	}
	s.blame(reject(UnplaceableState, "beside these neighbours a click makes %s, not %s", s.reg.FormatState(got.To), s.reg.FormatState(s.want)))
}

// differs names the undecided properties in which the placed state is not the wanted one.
func (s *solver) differs(to registry.StateID) []string {
	if to == s.want {
		return nil
	}
	var out []string
	b := s.reg.BlockOf(to)
	for _, p := range b.Props {
		v, ok := s.reg.Prop(s.want, p.Name)
		if got := s.prop(to, p.Name); ok && v != got && classOf(FamilyOf(b.Name), b.Name, p.Name) == Undecided {
			out = append(out, p.Name)
		}
	}
	return out
}

// cursors lists points of a face that lie on the clicked block's shape. Blocks without a collision shape (petals, vines,
// one layer of snow) can only be clicked onto, at a point inside their outline.
func (s *solver) cursors(clicked registry.StateID, f geom.Face) [][3]float32 {
	shape := s.reg.Shape(clicked)
	if len(shape) == 0 {
		switch {
		case s.hint.onto:
			return [][3]float32{{0.5, 0.0625, 0.5}}
		case f == geom.Up && sameForm(s.block(clicked), s.block(s.want)):
			return [][3]float32{{0.5, 0.75, 0.5}} // cane on cane: no collision, but an outline
		case f == geom.Down && sameForm(s.block(clicked), s.block(s.want)):
			return [][3]float32{{0.5, 0.25, 0.5}}
		}
		return nil
	}
	var out [][3]float32
	if f.IsHorizontal() {
		ys := s.hint.ys
		if s.hint.onto {
			ys = []float64{0.125}
		}
		for _, y := range ys {
			if p, ok := facePoint(shape, f, 0.5, y); ok {
				out = append(out, p)
			}
		}
		return out
	}
	for _, uv := range s.hint.spots {
		if p, ok := facePoint(shape, f, uv[0], uv[1]); ok {
			out = append(out, p)
		}
	}
	return out
}

// facePoint finds the outermost point of a shape seen through one face, at u (x, or z for west and east) and v (y for the
// sides, z for up and down).
func facePoint(shape []geom.Box, f geom.Face, u, v float64) ([3]float32, bool) {
	axis, ua, va := 1, 0, 2
	switch f {
	case geom.North, geom.South:
		axis, ua, va = 2, 0, 1
	case geom.West, geom.East:
		axis, ua, va = 0, 2, 1
	}
	n := f.Normal()
	outward := n.X+n.Y+n.Z > 0
	found, best := false, 0.0
	for _, b := range shape {
		if u < b.Min[ua] || u > b.Max[ua] || v < b.Min[va] || v > b.Max[va] {
			continue
		}
		at := b.Min[axis]
		if outward {
			at = min(b.Max[axis], 1)
		}
		if !found || outward && at > best || !outward && at < best {
			found, best = true, at
		}
	}
	var p [3]float32
	p[axis], p[ua], p[va] = float32(max(best, 0)), float32(u), float32(v)
	return p, found
}
