package blueprint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// job is one cell of the blueprint that is still to be built, in one or several uses.
type job struct {
	pos    geom.BlockPos
	want   registry.StateID
	item   registry.ItemID
	stages [][]registry.StateID // ways to get there; once begun only one is left
	done   int                  // stages done
	key    uint64               // order
	phase  uint8
	state  jobState
	ready  bool                 // it is in the planner's ready queue
	tried  int32                // how many changes of this sweep were made when it was tried last, -1 not yet
	why    *placement.Rejection // why it could not be done the last time
}

type jobState uint8

const (
	jobNew     jobState = iota
	jobWaiting          // for a neighbour
	jobNoStand          // for a place to stand
	jobDone
	jobFailed
)

type planner struct {
	reg  *registry.Registry
	b    *Blueprint
	o    Options
	plan *Plan

	area     *area
	walker   walker
	escape   walker        // for the question whether a way leads out
	near     walker        // for stands with a free line of sight
	offset   geom.BlockPos // blueprint cell -> world cell
	palette  []resolved
	jobs     []job
	final    map[geom.BlockPos]registry.StateID // wanted, of cells placed or present
	wishes   map[geom.BlockPos]State
	waiting  map[geom.BlockPos][]int32
	ready    queue
	buckets  buckets
	ways     ways
	progress func(done, of int)
	ctx      context.Context
	done     int  // jobs done
	asked    int  // how often stopped was asked
	ended    bool // ctx has ended
	nth      map[geom.BlockPos]int
	here     placement.Spot
	swept    geom.BlockPos // the stand that was swept last
	hereOnly bool          // whether only the stand of now is good enough
	inReach  []int32
	changes  []geom.BlockPos // cells changed in this sweep
	hidden   bool            // whether faces seen from behind are good enough now
	differs  map[string]int
}

// open copies the world and finds where the builder starts.
func (p *planner) open() error {
	world := p.o.World
	if world == nil {
		stone, ok := p.reg.Block("minecraft:stone")
		if !ok {
			return fmt.Errorf("%w: minecraft:stone", ErrUnknown)
		}
		world = flat{p.plan.Bounds.Min.Y, stone.Default}
	}
	all := p.o.Walk.Union(p.o.Click).Union(p.o.Build).Grow(2)
	var err error
	if p.area, err = newArea(p.ctx, p.reg, all, p.o.Walk, p.o.CanFly, world); err != nil {
		return err
	}
	p.walker = walker{a: p.area, seen: make([]uint32, len(p.area.cells))}
	p.escape = walker{a: p.area, seen: make([]uint32, len(p.area.cells)), from: make([]int32, len(p.area.cells))}
	p.near = walker{a: p.area, seen: make([]uint32, len(p.area.cells))}
	p.walker.stop, p.escape.stop, p.near.stop = p.over, p.over, p.over
	p.ways = ways{a: p.area, rank: make([]int32, len(p.area.cells))}
	p.offset = p.plan.Bounds.Min
	p.final = map[geom.BlockPos]registry.StateID{}
	p.wishes = map[geom.BlockPos]State{}
	p.waiting = map[geom.BlockPos][]int32{}
	p.nth = map[geom.BlockPos]int{}
	p.differs = map[string]int{}
	return nil
}

// collect makes jobs of the blueprint's cells and lists what can never be placed.
func (p *planner) collect() {
	p.palette = make([]resolved, len(p.b.Palette))
	for i, s := range p.b.Palette {
		p.palette[i] = resolve(p.reg, p.b.DataVersion, s)
		for _, n := range p.palette[i].notes {
			p.note("%s: %s is written differently in %s; the neighbours decide it", s.Name, n, p.reg.Protocol())
		}
	}
	i := 0
	for y := range p.b.Size.Y {
		for z := range p.b.Size.Z {
			if p.over() {
				return
			}
			for x := range p.b.Size.X {
				if v := p.b.cells[i]; v != 0 && !p.b.Palette[v-1].Void() {
					p.cell(geom.BlockPos{X: x, Y: y, Z: z}, int(v-1))
				}
				i++
			}
		}
	}
}

func (p *planner) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); len(p.plan.Notes) < 200 && !slices.Contains(p.plan.Notes, n) {
		p.plan.Notes = append(p.plan.Notes, n)
	}
}

func (p *planner) reject(pos geom.BlockPos, block string, code placement.Code, format string, args ...any) {
	p.plan.Rejected = append(p.plan.Rejected, Refusal{pos, block, code, fmt.Sprintf(format, args...)})
}

func (p *planner) cell(local geom.BlockPos, entry int) {
	wish, r := p.b.Palette[entry], p.palette[entry]
	pos := local.Add(p.offset)
	there, known := p.area.Block(pos)
	if r.skip {
		p.plan.LeftOut.Air++
		if known && !p.reg.IsAir(there) {
			if p.plan.LeftOut.Standing++; len(p.plan.Standing) < maxStanding {
				p.plan.Standing = append(p.plan.Standing, Refusal{pos, p.reg.FormatState(there), placement.Occupied, "stands where the blueprint has air"})
			}
		}
		return
	}
	block := wish.String()
	if r.err == nil {
		block = p.reg.FormatState(r.state)
	}
	switch {
	case r.err != nil:
		p.reject(pos, block, Unknown, "%v", r.err)
	case (p.o.MinY != 0 || p.o.MaxY != 0) && (pos.Y < p.o.MinY || pos.Y > p.o.MaxY):
		p.reject(pos, block, OutOfWorld, "y %d is outside the build height %d to %d", pos.Y, p.o.MinY, p.o.MaxY)
	case !known:
		p.reject(pos, block, placement.UnknownCell, "the cell is not loaded")
	case placement.Same(p.reg, r.state, there, placement.Masks(p.reg, r.state)):
		p.plan.Present = append(p.plan.Present, pos)
		p.final[pos], p.wishes[pos] = r.state, wish
	default:
		p.newJob(local, pos, wish, r.state, there, block)
	}
}

func (p *planner) newJob(local, pos geom.BlockPos, wish State, want, there registry.StateID, block string) {
	if p.otherHalf(local, want) {
		return // the step of the first half makes it
	}
	if rej := p.check(local, want); rej != nil {
		p.reject(pos, block, rej.Code, "%s", rej.Detail)
		return
	}
	if rej := p.blocked(want, there); rej != nil {
		p.reject(pos, block, rej.Code, "%s", rej.Detail)
		return
	}
	if second, ok := p.second(local, want); ok {
		at := second.Add(p.offset)
		there, known := p.area.Block(at)
		rej := p.blocked(want, there)
		if !known || rej != nil {
			p.reject(pos, block, placement.Occupied, "its second cell %v is taken or not loaded", at)
			return
		}
	}
	item, _ := placement.ItemFor(p.reg, p.reg.BlockOf(want).Name)
	p.wishes[pos] = wish
	p.jobs = append(p.jobs, job{pos: pos, want: want, item: item, stages: placement.Stages(p.reg, want)})
}

// blocked tells what is in the way of a block.
func (p *planner) blocked(want, there registry.StateID) *placement.Rejection {
	if p.reg.IsAir(there) {
		return nil
	}
	name := p.reg.FormatState(there)
	if !p.reg.Replaceable(there) {
		return &placement.Rejection{Code: placement.Occupied, Detail: name + " stands there"}
	}
	if v, _ := p.reg.Prop(want, "waterlogged"); p.reg.IsWaterSource(there) && (v == "true" || placement.FamilyOf(p.reg.BlockOf(want).Name) == placement.WaterPlant) {
		return nil
	}
	if !slices.Contains(p.o.MayReplace, p.reg.BlockOf(there).Name) {
		return &placement.Rejection{Code: placement.Occupied, Detail: name + " would be destroyed; may_replace does not name it"}
	}
	return nil
}

// second returns the blueprint cell that a door, bed or tall plant fills besides its own.
func (p *planner) second(local geom.BlockPos, want registry.StateID) (geom.BlockPos, bool) {
	b := p.reg.BlockOf(want)
	switch placement.FamilyOf(b.Name) {
	case placement.Door, placement.DoublePlant:
		return local.Neighbour(geom.Up), true
	case placement.Dripleaf:
		return local.Neighbour(geom.Up), b.Name == "minecraft:small_dripleaf"
	case placement.Bed:
		v, _ := p.reg.Prop(want, "facing")
		f, _ := geom.ParseFace(v)
		return local.Neighbour(f), true
	}
	return local, false
}

// stateAt is the wanted state of a blueprint cell.
func (p *planner) stateAt(local geom.BlockPos) (registry.StateID, bool) {
	if !p.b.inside(local) {
		return 0, false
	}
	v := p.b.cells[p.b.index(local)]
	if v == 0 || p.palette[v-1].skip || p.palette[v-1].err != nil {
		return 0, false
	}
	return p.palette[v-1].state, true
}

// otherHalf tells whether a cell is the second half of something whose first half the blueprint has in its place.
func (p *planner) otherHalf(local geom.BlockPos, want registry.StateID) bool {
	b := p.reg.BlockOf(want)
	f := placement.FamilyOf(b.Name)
	first := local.Neighbour(geom.Down)
	switch {
	case f == placement.Bed && p.is(want, "part", "head"):
		v, _ := p.reg.Prop(want, "facing")
		face, _ := geom.ParseFace(v)
		first = local.Neighbour(face.Opposite())
	case (f == placement.Door || f == placement.DoublePlant || f == placement.Dripleaf) && p.is(want, "half", "upper"):
	default:
		return false
	}
	s, ok := p.stateAt(first)
	if !ok || p.reg.BlockOf(s) != b || p.is(s, "part", "head") || p.is(s, "half", "upper") {
		return false
	}
	va, _ := p.reg.Prop(s, "facing")
	vb, _ := p.reg.Prop(want, "facing")
	ha, _ := p.reg.Prop(s, "hinge")
	hb, _ := p.reg.Prop(want, "hinge")
	return va == vb && ha == hb
}

func (p *planner) is(s registry.StateID, name, value string) bool {
	v, ok := p.reg.Prop(s, name)
	return ok && v == value
}

// check rejects what no surroundings allow, and what the blueprint's own surroundings do not.
func (p *planner) check(local geom.BlockPos, want registry.StateID) *placement.Rejection {
	if rej := placement.Unplaceable(p.reg, want); rej != nil {
		return rej
	}
	b := p.reg.BlockOf(want)
	switch f := placement.FamilyOf(b.Name); f {
	case placement.Chest:
		return p.checkChest(local, want, b)
	case placement.MushroomBlock:
		for _, d := range geom.Faces {
			n, ok := p.stateAt(local.Neighbour(d))
			same := ok && p.reg.BlockOf(n) == b
			if p.is(want, d.String(), "true") == same {
				return &placement.Rejection{Code: placement.UnplaceableState,
					Detail: "a placed mushroom block closes its faces only towards another one: " + d.String()}
			}
		}
	case placement.Door, placement.DoublePlant, placement.Bed:
		second, _ := p.second(local, want)
		if n, ok := p.stateAt(second); !ok || p.reg.BlockOf(n) != b {
			return &placement.Rejection{Code: placement.UnplaceableState, Detail: "one half of " + b.Name + " is never placed alone"}
		}
	}
	return nil
}

func (p *planner) checkChest(local geom.BlockPos, want registry.StateID, b *registry.Block) *placement.Rejection {
	kind, _ := p.reg.Prop(want, "type")
	if kind == "single" {
		return nil
	}
	v, _ := p.reg.Prop(want, "facing")
	f, _ := geom.ParseFace(v)
	to, other := f.Clockwise(), "right"
	if kind == "right" {
		to, other = f.CounterClockwise(), "left"
	}
	n, ok := p.stateAt(local.Neighbour(to))
	if !ok || p.reg.BlockOf(n) != b || !p.is(n, "type", other) || !p.is(n, "facing", v) {
		return &placement.Rejection{Code: placement.UnplaceableState, Detail: "half a chest without its other half beside it"}
	}
	return nil
}

// order sorts the jobs: layers from below, small areas within a layer, one item after the other within an area. Power,
// doors and what drinks or explodes come last.
func (p *planner) order() {
	for i := range p.jobs {
		j := &p.jobs[i]
		f := placement.FamilyOf(p.reg.BlockOf(j.want).Name)
		d := j.pos.Sub(p.offset)
		j.phase = phaseOf(p.reg.BlockOf(j.want).Name, f)
		const tile = 6
		tx, tz := uint64(d.X/tile), uint64(d.Z/tile)
		if tz%2 == 1 {
			tx = uint64(p.b.Size.X/tile) - tx
		}
		x, z := uint64(d.X%tile), uint64(d.Z%tile)
		if z%2 == 1 {
			x = tile - 1 - x
		}
		key := uint64(j.phase)<<60 | uint64(d.Y)<<47 | (tz*uint64(p.b.Size.X/tile+1)+tx)<<24
		j.key = key | uint64(rankOf(f))<<21 | uint64(j.item&0x7ff)<<8 | z*tile + x
	}
	slices.SortStableFunc(p.jobs, func(a, b job) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return 0
	})
	p.buckets = buckets{}
	for i := range p.jobs {
		p.buckets.add(p.jobs[i].pos, int32(i))
	}
}

// phaseOf puts off what disturbs the rest: doors close ways, power moves things, sponges drink.
func phaseOf(name string, f placement.Family) uint8 {
	switch {
	case name == "minecraft:tnt" || f == placement.Sponge:
		return 4
	case f == placement.Observer:
		return 3
	case name == "minecraft:redstone_block" || name == "minecraft:lever" || strings.HasPrefix(name, "minecraft:redstone_") && f == placement.Torch:
		return 2
	case f == placement.Door || f == placement.FenceGate:
		return 1
	}
	return 0
}

// rankOf lets within a layer the carrying blocks go first.
func rankOf(f placement.Family) int {
	switch f {
	case placement.Cube, placement.Pillar, placement.Stairs, placement.Slab, placement.SnowySoil, placement.Leaves, placement.HorizOpposite,
		placement.DefaultStateCube, placement.Falling, placement.CoralBlock:
		return 0
	case placement.Fence, placement.PaneBars, placement.Wall, placement.Chest, placement.SixwayOpposite:
		return 1
	case placement.Rail:
		return 3
	}
	return 2
}
