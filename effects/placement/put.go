package placement

import (
	"strconv"
	"strings"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// put is one placement while its state is worked out: what the game calls the placement context.
type put struct {
	ctx
	item    registry.ItemID
	block   *registry.Block
	pos     geom.BlockPos // the cell that changes
	there   registry.StateID
	face    geom.Face
	hit     geom.Vec3 // the clicked point relative to pos
	look    geom.Face // horizontal
	yaw     float32
	pitch   float32
	order   [6]geom.Face // directions to try, the clicked block first
	near    geom.Face    // the look's largest component
	sneak   bool
	inPlace bool // the clicked block itself is replaced
}

// state returns the state that the game would set; nil rejection means it would set it.
func (p *put) state() (registry.StateID, *Rejection) {
	if s, ok, rej := p.stacked(); ok || rej != nil {
		return s, rej
	}
	s, rej := p.fresh()
	if rej != nil {
		return 0, rej
	}
	s = p.refresh(p.pos, s)
	if need, ok := p.survives(p.pos, s); !ok {
		return 0, reject(NoSupport, "%s needs %s", p.block.Name, need)
	}
	return s, nil
}

// stacked handles items that grow what already lies in the cell.
func (p *put) stacked() (registry.StateID, bool, *Rejection) {
	if p.ctx.block(p.there) != p.block.Name {
		return 0, false, nil
	}
	name := stackProperty(p.family(p.there))
	if name == "" {
		return 0, false, nil
	}
	if name == "type" {
		return p.with(p.with(p.there, "type", "double"), "waterlogged", "false"), true, nil
	}
	if p.is(p.there, "segment_amount", p.prop(p.there, "segment_amount")) && p.prop(p.there, "segment_amount") != "" {
		name = "segment_amount"
	}
	n, ok := p.reg.With(p.there, name, strconv.Itoa(p.number(p.there, name)+1))
	if !ok {
		return 0, false, reject(Occupied, "%s is full already", p.reg.FormatState(p.there))
	}
	return n, true, nil
}

// stackProperty names the property that counts stacked items of a family, "" for families that do not stack.
func stackProperty(f Family) string {
	switch f {
	case Slab:
		return "type"
	case SnowLayer:
		return "layers"
	case Candle:
		return "candles"
	case SeaPickle:
		return "pickles"
	case TurtleEgg:
		return "eggs"
	case PinkPetals:
		return "flower_amount"
	}
	return ""
}

// fresh returns the state before neighbours are looked at.
func (p *put) fresh() (registry.StateID, *Rejection) {
	s := p.block.Default
	wet := p.water(p.there)
	s = p.withBool(s, "waterlogged", wet)
	facing := func(f geom.Face) registry.StateID { return p.with(s, "facing", f.String()) }
	switch f := FamilyOf(p.block.Name); f {
	case Stairs:
		return p.with(facing(p.look), "half", p.half("top", "bottom")), nil
	case Slab:
		return p.with(s, "type", p.half("top", "bottom")), nil
	case Trapdoor:
		return p.trapdoor(s), nil
	case Door:
		return p.door(s)
	case FenceGate:
		on := p.powered(p.pos)
		return p.withBool(p.withBool(facing(p.look), "open", on), "powered", on), nil
	case Bed, DecoratedPot:
		return facing(p.look), nil
	case HorizOpposite, Diode, Shelf, Statue, DriedGhast:
		return facing(p.look.Opposite()), nil
	case HorizSame:
		return p.withBool(facing(p.look), "lit", !wet), nil
	case Anvil:
		return facing(p.look.Clockwise()), nil
	case Chest:
		return p.chest(s), nil
	case SixwayOpposite:
		return facing(p.near.Opposite()), nil
	case Observer:
		return facing(p.near), nil
	case Crafter:
		return p.with(s, "orientation", p.crafter()), nil
	case Jigsaw:
		top := geom.Up
		if !p.face.IsHorizontal() {
			top = p.look.Opposite()
		}
		return p.with(s, "orientation", p.face.String()+"_"+top.String()), nil
	case Pillar, Chain:
		return p.with(s, "axis", axisOf(p.face)), nil
	case FaceSixway:
		return facing(p.sixway()), nil
	case AmethystBud:
		return facing(p.face), nil
	case Hopper:
		d := p.face.Opposite()
		if !d.IsHorizontal() {
			d = geom.Down
		}
		return facing(d), nil
	case Torch, Coral, SignStanding, SignHanging, Banner, Skull:
		return p.floorOrWall(s, f)
	case LeverButton, Grindstone:
		return p.attached(s)
	case Bell:
		return p.bell(s)
	case Ladder, TripwireHook, Cocoa:
		return p.onWall(s, f)
	case Lantern:
		for _, d := range p.order {
			if n := p.withBool(s, "hanging", d == geom.Up); !d.IsHorizontal() && p.holds(n) {
				return n, nil
			}
		}
		return 0, reject(NoSupport, "%s needs a block with a solid middle above or below", p.block.Name)
	case PointedDripstone:
		return p.dripstonePlaced(s)
	case Vine, Multiface:
		return p.cling(s, f)
	}
	return p.freshRest(s, wet)
}

// freshRest is fresh for families that barely depend on the click.
func (p *put) freshRest(s registry.StateID, wet bool) (registry.StateID, *Rejection) {
	switch FamilyOf(p.block.Name) {
	case RedstoneWire:
		for _, d := range geom.HorizontalFaces {
			s = p.with(s, d.String(), "side")
		}
		return s, nil
	case Rail:
		shape := "north_south"
		if p.look == geom.East || p.look == geom.West {
			shape = "east_west"
		}
		return p.railPlaced(p.pos, p.with(s, "shape", shape)), nil
	case MushroomBlock:
		return s, nil
	case Leaves:
		return p.withBool(s, "persistent", true), nil
	case PinkPetals:
		return p.with(s, "facing", p.look.Opposite().String()), nil
	case Dripleaf:
		f := p.look.Opposite()
		if below, ok := p.side(p.pos, geom.Down); ok && effects.FirstForm(p.ctx.block(below)) == "minecraft:big_dripleaf" && p.block.Name == "minecraft:big_dripleaf" {
			f, _ = p.facing(below)
		}
		return p.with(s, "facing", f.String()), nil
	case ColumnPlant, VineColumn:
		return p.column(s)
	case DoublePlant, SmallPlant, Sapling, Crop:
		return s, nil
	case WaterPlant:
		if !wet {
			return 0, reject(NoSupport, "%s needs source water in the cell", p.block.Name)
		}
		return s, nil
	case Falling:
		return p.falling(s)
	case Sponge:
		if p.block.Name == "minecraft:sponge" && p.wet(p.pos, geom.Faces[:]...) {
			return 0, reject(WouldChange, "a sponge beside water drinks it and becomes wet")
		}
	case DefaultStateCube:
		if p.block.Name == "minecraft:tnt" && p.powered(p.pos) {
			return 0, reject(WouldChange, "powered TNT explodes")
		}
		if strings.HasSuffix(p.block.Name, "copper_bulb") || p.block.Name == "minecraft:redstone_lamp" {
			on := p.powered(p.pos)
			return p.withBool(p.withBool(s, "lit", on), "powered", on), nil
		}
	}
	return s, nil
}

// half picks by the clicked face, and at the sides by the clicked height.
func (p *put) half(top, bottom string) string {
	if p.face == geom.Down || p.face != geom.Up && p.hit[1] > 0.5 {
		return top
	}
	return bottom
}

func axisOf(f geom.Face) string { return [...]string{"y", "y", "z", "z", "x", "x"}[f] }

func (p *put) trapdoor(s registry.StateID) registry.StateID {
	if !p.inPlace && p.face.IsHorizontal() {
		half := "bottom"
		if p.hit[1] > 0.5 {
			half = "top"
		}
		s = p.with(p.with(s, "facing", p.face.String()), "half", half)
	} else {
		half := "top"
		if p.face == geom.Up {
			half = "bottom"
		}
		s = p.with(p.with(s, "facing", p.look.Opposite().String()), "half", half)
	}
	on := p.powered(p.pos)
	return p.withBool(p.withBool(s, "open", on), "powered", on)
}

func (p *put) door(s registry.StateID) (registry.StateID, *Rejection) {
	above, ok := p.side(p.pos, geom.Up)
	if !ok {
		return 0, reject(UnknownCell, "the cell above the door is not loaded")
	}
	if !p.reg.Replaceable(above) {
		return 0, reject(Occupied, "the upper half of the door is taken by %s", p.reg.FormatState(above))
	}
	on := p.powered(p.pos) || p.powered(p.pos.Neighbour(geom.Up))
	s = p.with(p.with(p.with(s, "facing", p.look.String()), "half", "lower"), "hinge", p.hinge())
	return p.withBool(p.withBool(s, "open", on), "powered", on), nil
}

func (p *put) hinge() string {
	left, right := p.look.CounterClockwise(), p.look.Clockwise()
	up := p.pos.Neighbour(geom.Up)
	full := func(at geom.BlockPos, f geom.Face) int {
		if s, ok := p.side(at, f); ok && p.reg.FullCube(s) {
			return 1
		}
		return 0
	}
	door := func(f geom.Face) bool {
		s, ok := p.side(p.pos, f)
		return ok && p.family(s) == Door && p.is(s, "half", "lower")
	}
	sum := full(p.pos, right) + full(up, right) - full(p.pos, left) - full(up, left)
	l, r := door(left), door(right)
	switch {
	case l && !r || sum > 0:
		return "right"
	case r && !l || sum < 0:
		return "left"
	}
	x, z := p.hit[0], p.hit[2]
	wrong := p.look == geom.West && z < 0.5 || p.look == geom.East && z > 0.5 || p.look == geom.North && x > 0.5 || p.look == geom.South && x < 0.5
	if wrong {
		return "right"
	}
	return "left"
}

// partner returns the facing of a single chest of the same kind on that side.
func (p *put) partner(f geom.Face) (geom.Face, bool) {
	s, ok := p.side(p.pos, f)
	if !ok || p.ctx.block(s) != p.block.Name || !p.is(s, "type", "single") {
		return 0, false
	}
	return p.facing(s)
}

func (p *put) chest(s registry.StateID) registry.StateID {
	facing, kind := p.look.Opposite(), "single"
	if p.face.IsHorizontal() && p.sneak {
		if d, ok := p.partner(p.face.Opposite()); ok && axisOf(d) != axisOf(p.face) {
			facing, kind = d, "left"
			if d.CounterClockwise() == p.face.Opposite() {
				kind = "right"
			}
		}
	}
	if kind == "single" && !p.sneak {
		if d, ok := p.partner(facing.Clockwise()); ok && d == facing {
			kind = "left"
		} else if d, ok := p.partner(facing.CounterClockwise()); ok && d == facing {
			kind = "right"
		}
	}
	return p.with(p.with(s, "facing", facing.String()), "type", kind)
}

func (p *put) crafter() string {
	front := p.near.Opposite()
	top := geom.Up
	switch front {
	case geom.Up:
		top = p.look
	case geom.Down:
		top = p.look.Opposite()
	}
	return front.String() + "_" + top.String()
}

func (p *put) sixway() geom.Face {
	if p.block.Name == "minecraft:end_rod" {
		if s, ok := p.side(p.pos, p.face.Opposite()); ok && p.ctx.block(s) == p.block.Name {
			if f, _ := p.facing(s); f == p.face {
				return p.face.Opposite()
			}
		}
	}
	return p.face
}

// holds tells whether a state would stay in the cell.
func (p *put) holds(s registry.StateID) bool {
	_, ok := p.survives(p.pos, s)
	return ok
}
