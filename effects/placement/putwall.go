package placement

import (
	"strconv"
	"strings"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// floorOrWall is for items with a standing and a wall form: the look's directions are tried in turn, the clicked block
// first.
func (p *put) floorOrWall(s registry.StateID, f Family) (registry.StateID, *Rejection) {
	base := geom.Down
	if f == SignHanging {
		base = geom.Up
	}
	wall := wallForm(p.reg, p.block.Name)
	for _, d := range p.order {
		switch {
		case d == base:
			if n := p.standing(s, f); p.holds(n) {
				return n, nil
			}
		case d != base.Opposite() && wall != "":
			if n, ok := p.wallOf(wall, f); ok {
				return n, nil
			}
		}
	}
	need, _ := p.survives(p.pos, s)
	return 0, reject(NoSupport, "%s needs %s, or its wall form something to hang on", p.block.Name, need)
}

func (p *put) standing(s registry.StateID, f Family) registry.StateID {
	switch f {
	case SignStanding, Banner:
		return p.with(s, "rotation", strconv.Itoa(segment(p.yaw+180)))
	case Skull:
		return p.with(s, "rotation", strconv.Itoa(segment(p.yaw)))
	case SignHanging:
		return p.hangingSign(s)
	}
	return s
}

func (p *put) hangingSign(s registry.StateID) registry.StateID {
	above, ok := p.side(p.pos, geom.Up)
	angled := p.sneak || !ok || !p.reg.FaceFull(above, geom.Down)
	if ok && !p.sneak {
		switch p.family(above) {
		case SignWallHanging:
			if f, _ := p.facing(above); axisOf(f) == axisOf(p.look) {
				angled = false
			}
		case SignHanging:
			if r := p.number(above, "rotation"); r%4 == 0 && (r%8 == 0) == (axisOf(p.look) == "z") {
				angled = false
			}
		}
	}
	rotation := segment(p.yaw + 180)
	if !angled {
		rotation = segment(p.look.Opposite().Yaw())
	}
	return p.withBool(p.with(s, "rotation", strconv.Itoa(rotation)), "attached", angled)
}

func (p *put) wallOf(wall string, f Family) (registry.StateID, bool) {
	b, ok := p.reg.Block(wall)
	if !ok {
		return 0, false
	}
	s := p.withBool(b.Default, "waterlogged", p.water(p.there))
	for _, d := range p.order {
		if !d.IsHorizontal() {
			continue
		}
		n := p.with(s, "facing", d.Opposite().String())
		switch f {
		case Skull:
			if behind, ok := p.side(p.pos, d); ok && !p.reg.Replaceable(behind) {
				return n, true
			}
		case SignHanging:
			if axisOf(d) != axisOf(p.face) && p.holds(n) {
				return n, true
			}
		default:
			if p.holds(n) {
				return n, true
			}
		}
	}
	return 0, false
}

func (p *put) attached(s registry.StateID) (registry.StateID, *Rejection) {
	for _, d := range p.order {
		n := p.with(p.with(s, "face", "wall"), "facing", d.Opposite().String())
		switch d {
		case geom.Up:
			n = p.with(p.with(s, "face", "ceiling"), "facing", p.look.String())
		case geom.Down:
			n = p.with(p.with(s, "face", "floor"), "facing", p.look.String())
		}
		if p.holds(n) {
			return n, nil
		}
	}
	return 0, reject(NoSupport, "%s needs a full face of the block it hangs on", p.block.Name)
}

func (p *put) bell(s registry.StateID) (registry.StateID, *Rejection) {
	var n registry.StateID
	if p.face.IsHorizontal() {
		n = p.bellWalls(p.pos, p.with(p.with(s, "facing", p.face.Opposite().String()), "attachment", "single_wall"))
	} else {
		at := "floor"
		if p.face == geom.Down {
			at = "ceiling"
		}
		n = p.with(p.with(s, "facing", p.look.String()), "attachment", at)
	}
	if !p.holds(n) {
		return 0, reject(NoSupport, "a bell needs a full face of the block it hangs on")
	}
	return n, nil
}

func (p *put) onWall(s registry.StateID, f Family) (registry.StateID, *Rejection) {
	for _, d := range p.order {
		if !d.IsHorizontal() {
			continue
		}
		to := d.Opposite()
		if f == Cocoa {
			to = d
		}
		if n := p.with(s, "facing", to.String()); p.holds(n) {
			return n, nil
		}
	}
	need, _ := p.survives(p.pos, s)
	return 0, reject(NoSupport, "%s needs %s", p.block.Name, need)
}

func (p *put) dripstonePlaced(s registry.StateID) (registry.StateID, *Rejection) {
	dir := geom.Down // somebody who looks up hangs it
	if p.pitch > 0 {
		dir = geom.Up
	}
	for _, d := range []geom.Face{dir, dir.Opposite()} {
		if n := p.with(s, "vertical_direction", d.String()); p.holds(n) {
			return n, nil
		}
	}
	return 0, reject(NoSupport, "pointed dripstone needs a full face or dripstone above or below")
}

// cling adds one side to a vine or lichen, or starts a new one.
func (p *put) cling(s registry.StateID, f Family) (registry.StateID, *Rejection) {
	again := p.ctx.block(p.there) == p.block.Name
	base := s
	if again {
		base = p.there
	}
	for _, d := range p.order {
		if f == Vine && d == geom.Down || again && p.is(base, d.String(), "true") {
			continue
		}
		if p.clings(p.pos, d, f) {
			return p.withBool(base, d.String(), true), nil
		}
	}
	return 0, reject(NoSupport, "%s needs a full face beside the cell that it does not cover yet", p.block.Name)
}

func (p *put) column(s registry.StateID) (registry.StateID, *Rejection) {
	below, ok := p.side(p.pos, geom.Down)
	if p.block.Name == "minecraft:bamboo" {
		if p.water(p.there) || p.reg.IsFluid(p.there) {
			return 0, reject(NoSupport, "bamboo does not grow in water")
		}
		if soil := p.ctx.block(below); !ok || soil != "minecraft:bamboo" && soil != "minecraft:bamboo_sapling" {
			if b, ok := p.reg.Block("minecraft:bamboo_sapling"); ok {
				return b.Default, nil
			}
		}
	}
	return s, nil
}

// falling refuses what would not stay as placed: sand over air, powder beside water.
func (p *put) falling(s registry.StateID) (registry.StateID, *Rejection) {
	below, ok := p.side(p.pos, geom.Down)
	if !ok || p.reg.IsAir(below) || p.reg.IsFluid(below) || p.reg.Replaceable(below) {
		return 0, reject(NoSupport, "%s would fall: nothing below holds it", p.block.Name)
	}
	if strings.HasSuffix(p.block.Name, "_concrete_powder") {
		if p.water(p.there) || p.wet(p.pos, geom.Up, geom.North, geom.South, geom.West, geom.East) {
			return 0, reject(WouldChange, "%s beside water hardens to concrete", p.block.Name)
		}
	}
	return s, nil
}
