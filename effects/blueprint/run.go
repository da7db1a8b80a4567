package blueprint

import (
	"cmp"
	"slices"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// run turns jobs into steps until nothing more can be done.
func (p *planner) run() {
	p.start()
	for phase := uint8(0); phase <= 4; phase++ {
		for i := range p.jobs {
			if p.stopped() {
				return
			}
			if p.jobs[i].phase == phase && p.jobs[i].state == jobNew {
				p.work(int32(i))
				p.drain()
				p.sweep(i)
			}
		}
	}
	p.rounds()
	if !p.o.Strict {
		// A server asks for distance only, so what is left may be clicked at faces that look away.
		p.hidden = true
		p.rounds()
	}
}

// sweep does what else of the layer can be done from a new stand before leaving it, one item after the other.
func (p *planner) sweep(from int) {
	if p.swept == p.here.Cell {
		return
	}
	p.swept, p.hereOnly = p.here.Cell, true
	defer func() { p.hereOnly = false }()
	first := &p.jobs[from]
	layers := int32(0) // who walks needs the layers in order to climb
	if p.o.CanFly {
		layers = sweepLayers
	}
	eye := p.here.Feet.Add(geom.Vec3{0, geom.EyeStanding, 0})
	const far = placement.Reach + 1.5
	near := p.inReach[:0]
	p.buckets.each(geom.BlockBox{Min: geom.BlockAt(eye.Sub(geom.Vec3{far, far, far})), Max: geom.BlockAt(eye.Add(geom.Vec3{far, far, far}))}, func(k int32) {
		j := &p.jobs[k]
		if int(k) > from && j.state == jobNew && j.phase == first.phase && j.pos.Y <= first.pos.Y+layers && j.pos.Centre().Sub(eye).LenSqr() < far*far {
			near = append(near, k)
		}
	})
	slices.Sort(near)
	p.inReach = near
	slices.SortStableFunc(near, func(a, b int32) int { return cmp.Compare(p.sweepKey(a), p.sweepKey(b)) })
	p.changes = p.changes[:0]
	for _, k := range near {
		p.jobs[k].tried = -1
	}
	for progress := true; progress; {
		progress = false
		for _, k := range near {
			if p.jobs[k].state == jobNew && p.hopeful(&p.jobs[k]) && p.work(k) {
				progress = true
			}
		}
	}
}

// hopeful tells whether a job of the sweep was not tried yet, or something beside it has changed since.
func (p *planner) hopeful(j *job) bool {
	since := j.tried
	j.tried = int32(len(p.changes))
	if since < 0 {
		return true
	}
	for _, q := range p.changes[since:] {
		if d := q.Sub(j.pos); max(abs(d.X), abs(d.Y), abs(d.Z)) <= 1 {
			return true
		}
	}
	return false
}

func (p *planner) sweepKey(k int32) uint64 {
	j := &p.jobs[k]
	key := uint64(uint32(j.item)) + 1
	if n := len(p.plan.Steps); n > 0 && p.plan.Steps[n-1].Use.Item == j.item {
		key = 0
	}
	return key
}

// rounds tries what is left until a whole round brings nothing.
func (p *planner) rounds() {
	for progress := true; progress; {
		progress = false
		for i := range p.jobs {
			if s := p.jobs[i].state; s == jobDone || s == jobFailed {
				continue
			}
			if p.stopped() {
				return
			}
			if p.work(int32(i)) {
				progress = true
				p.drain()
			}
		}
	}
}

// drain does the jobs whose wait is over.
func (p *planner) drain() {
	for len(p.ready) > 0 && !p.stopped() {
		i := p.ready.pop() // the lowest comes first, as in the plain order
		p.jobs[i].ready = false
		if p.jobs[i].state == jobWaiting {
			p.work(i)
		}
	}
}

// work does one job as far as it goes; true if it made a step.
func (p *planner) work(i int32) bool {
	j := &p.jobs[i]
	made := false
	if p.stopped() {
		return false
	}
	for j.done < len(j.stages[0]) {
		if !p.stage(i, j) {
			return made
		}
		made = true
	}
	j.state = jobDone
	p.done++
	p.final[j.pos] = j.want
	return true
}

// stage tries the next use of a job.
func (p *planner) stage(i int32, j *job) bool {
	for k, list := range j.stages {
		uses, rej := placement.Candidates(p.reg, p.area, j.pos, list[j.done])
		if rej != nil {
			j.why = rej
			continue
		}
		uses = p.clickable(uses)
		if len(uses) == 0 {
			j.why = &placement.Rejection{Code: placement.NoClick, Detail: "what could be clicked lies outside the click box"}
			continue
		}
		if p.hereOnly {
			s, u, ok := p.usable(uses, p.here.Cell, p.area.at(p.here.Cell), true)
			if !ok || !p.commit(j, u, s, list[j.done]) {
				return false
			}
			j.stages = j.stages[k : k+1]
			j.done++
			return true
		}
		if p.place(j, uses, list[j.done]) {
			j.stages = j.stages[k : k+1]
			j.done++
			return true
		}
		j.state = jobNoStand
		j.why = &placement.Rejection{Code: Unreachable, Detail: "nobody can stand where this could be placed from"}
		return false
	}
	if p.hereOnly {
		return false
	}
	if j.state != jobWaiting {
		j.state = jobWaiting
		for _, f := range geom.Faces {
			q := j.pos.Neighbour(f)
			p.waiting[q] = append(p.waiting[q], i)
		}
	}
	return false
}

// clickable drops uses whose clicked cell or changed cells lie outside their boxes.
func (p *planner) clickable(uses []placement.Use) []placement.Use {
	return slices.DeleteFunc(uses, func(u placement.Use) bool {
		if !p.o.Click.Contains(u.Click.Pos) {
			return true
		}
		for _, c := range u.Cells {
			if !p.o.Build.Contains(c.Pos) {
				return true
			}
		}
		return false
	})
}

// start chooses where the builder stands at first.
func (p *planner) start() {
	from := p.plan.Bounds.Min.Add(geom.BlockPos{X: -2, Z: -2})
	if p.o.Start != nil {
		from = *p.o.Start
	}
	if v := p.area.at(from); v != feetNone {
		p.here = p.area.spot(from, v)
		return
	}
	// The nearest place to be, ring by ring.
	best, found := from, false
	for r := int32(0); r <= 24 && !found; r++ {
		b := geom.BlockBox{Min: from, Max: from}.Grow(r)
		for y := b.Min.Y; y <= b.Max.Y && !found; y++ {
			for z := b.Min.Z; z <= b.Max.Z && !found; z++ {
				for x := b.Min.X; x <= b.Max.X && !found; x++ {
					q := geom.BlockPos{X: x, Y: y, Z: z}
					if p.area.at(q) != feetNone {
						best, found = q, true
					}
				}
			}
		}
	}
	p.here = p.area.spot(best, max(p.area.at(best), 0))
}

// place finds a stand for one of the uses and makes the step.
func (p *planner) place(j *job, uses []placement.Use, want registry.StateID) bool {
	// With a free line of sight first: where one stands, then not far away; then anyhow.
	if s, u, ok := p.usable(uses, p.here.Cell, p.area.at(p.here.Cell), true); ok && p.commit(j, u, s, want) {
		return true
	}
	if p.walker.full != 0 && !p.anyReached(uses, j.pos) {
		return false
	}
	if !p.hidden {
		if s, u, ok := p.look(&p.near, uses, j.pos, lookAround, true); ok && p.commit(j, u, s, want) {
			return true
		}
	}
	if s, u, ok := p.usable(uses, p.here.Cell, p.area.at(p.here.Cell), false); ok && p.commit(j, u, s, want) {
		return true
	}
	s, u, ok := p.look(&p.walker, uses, j.pos, 0, false)
	return ok && p.commit(j, u, s, want)
}

// lookAround is how many cells are searched for a stand with a free line of sight.
const (
	sweepLayers = 2 // layers above the present one that a hovering builder takes along
	lookAround  = 300
	nearby      = 3.5 // blocks from the feet to the clicked point
)

// look searches for the nearest stand for one of the uses that does not trap the builder.
func (p *planner) look(w *walker, uses []placement.Use, at geom.BlockPos, limit int, free bool) (placement.Spot, placement.Use, bool) {
	tries := 0
	var spot placement.Spot
	var use placement.Use
	accept := func(q geom.BlockPos, v float32) bool {
		s, u, ok := p.usable(uses, q, v, free)
		if free && ok && s.Feet.Sub(u.Click.Point()).LenSqr() > nearby*nearby {
			return false // from nearer by more of the neighbourhood is in reach
		}
		if !ok || tries > 6 {
			return false
		}
		if p.traps(s, u, false) {
			tries++
			return false
		}
		spot, use = s, u
		return true
	}
	_, ok := w.search(p.here.Cell, at, limit, accept)
	return spot, use, ok
}

// anyReached tells whether the last complete search saw a place near enough for one of the uses.
func (p *planner) anyReached(uses []placement.Use, at geom.BlockPos) bool {
	for y := at.Y - 7; y <= at.Y+6; y++ {
		for z := at.Z - 6; z <= at.Z+6; z++ {
			for x := at.X - 6; x <= at.X+6; x++ {
				q := geom.BlockPos{X: x, Y: y, Z: z}
				if !p.walker.reached(q) {
					continue
				}
				if _, _, ok := p.usable(uses, q, p.area.at(q), false); ok {
					return true
				}
			}
		}
	}
	return false
}

// usable picks the first use that can be made from a cell; free asks for a free line of sight.
func (p *planner) usable(uses []placement.Use, cell geom.BlockPos, v float32, free bool) (placement.Spot, placement.Use, bool) {
	if v == feetNone {
		return placement.Spot{}, placement.Use{}, false
	}
	s := p.area.spot(cell, v)
	for _, u := range uses {
		hidden, ok := placement.FromStand(p.reg, u, s.Feet)
		if ok && (!hidden || p.hidden) && (!free || !hidden && placement.Sees(p.reg, p.area, u, placement.Eye(u, s.Feet))) {
			s.Hidden = hidden
			return s, u, true
		}
	}
	return s, placement.Use{}, false
}

// traps tells whether the use would shut its own maker in: after it no way leads out of the building. Made says that the
// use is made at once if it does not: then the ways that are remembered hold with it.
func (p *planner) traps(s placement.Spot, u placement.Use, made bool) bool {
	if p.outside(s.Cell) {
		return false
	}
	var old [2]registry.StateID
	moved, broken := false, int32(anyRank)
	for i, c := range u.Cells {
		old[i%2], _ = p.area.Block(c.Pos)
		moved = p.area.set(c.Pos, c.To) || moved
		broken = min(broken, p.ways.near(c.Pos))
	}
	trapped := moved && !p.escapes(s.Cell, broken)
	for i, c := range u.Cells {
		p.area.set(c.Pos, old[i%2])
		if trapped || !made {
			p.ways.changed(c.Pos)
		}
	}
	return trapped
}

// outside tells whether a cell lies beside or above the building.
func (p *planner) outside(q geom.BlockPos) bool {
	b := p.plan.Bounds
	return q.X < b.Min.X || q.X > b.Max.X || q.Z < b.Min.Z || q.Z > b.Max.Z
}

func abs(v int32) int32 { return max(v, -v) }

// commit makes the step, unless the look from there changes what comes out or it would trap the builder.
func (p *planner) commit(j *job, u placement.Use, s placement.Spot, want registry.StateID) bool {
	asked := s.Cell == p.here.Cell && !p.outside(s.Cell)
	if asked && p.traps(s, u, true) {
		return false
	}
	u.Look = p.lookFrom(u, s)
	blocked := s.Hidden || !placement.Sees(p.reg, p.area, u, placement.Eye(u, s.Feet))
	follow := placement.Ripple(p.reg, p.area, u.Cells)
	moved := false
	for k, list := range [][]placement.CellChange{u.Cells, follow} {
		for _, c := range list {
			if p.area.set(c.Pos, c.To) {
				moved = true
				if k > 0 || !asked {
					p.ways.changed(c.Pos)
				}
			}
			p.changes = append(p.changes, c.Pos)
			p.wake(c.Pos)
		}
	}
	if moved {
		p.walker.full = 0
	}
	for _, d := range u.Differs {
		p.differs[p.reg.BlockOf(want).Name+" "+d]++
	}
	if len(u.Cells) > 1 {
		p.final[u.Cells[1].Pos] = u.Cells[1].To
	}
	landing := u.Click.Pos
	if landing == j.pos {
		landing = u.Click.Pos.Neighbour(u.Click.Face)
	}
	p.here = s
	p.plan.Steps = append(p.plan.Steps, Step{
		Index: len(p.plan.Steps), Ordinal: p.nth[j.pos], Use: u, Block: p.reg.FormatState(want), Stand: s.Cell, Feet: s.Feet,
		Flying: s.Flying, Hidden: s.Hidden, Blocked: blocked, Follow: follow, OfCell: j.pos, Landing: landing,
	})
	p.nth[j.pos]++
	return true
}

// lookFrom is the natural look where it gives the same cells, else the canonical one.
func (p *planner) lookFrom(u placement.Use, s placement.Spot) geom.Rotation {
	look := placement.LookFrom(p.reg, p.area, u, s.Feet)
	if look == u.Look {
		return look
	}
	cells, err := placement.Predict(p.reg, p.area, u.Item, u.Click, look, u.Sneak == placement.SneakMust)
	if err != nil || len(cells) != len(u.Cells) {
		return u.Look
	}
	for i := range cells {
		if cells[i].Pos != u.Cells[i].Pos || cells[i].To != u.Cells[i].To {
			return u.Look
		}
	}
	return look
}

// wake makes the jobs ready that waited for a cell.
func (p *planner) wake(q geom.BlockPos) {
	list, ok := p.waiting[q]
	if !ok {
		return
	}
	kept := list[:0]
	for _, i := range list {
		if p.jobs[i].state == jobWaiting {
			kept = append(kept, i)
			if !p.jobs[i].ready {
				p.jobs[i].ready = true
				p.ready.push(i)
			}
		}
	}
	p.waiting[q] = kept
}
