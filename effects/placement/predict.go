package placement

import (
	"strings"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Predict works out what a use_item_on would do by vanilla's rule: the changed cells, the primary one first. A refusal is
// a *Rejection in the error. Neighbours that follow are not among the cells; Ripple tells them.
//
// What it knows is the clicked cell, the target and their neighbours; entities in the way, reach and permissions are
// the caller's business.
func Predict(reg *registry.Registry, w Cells, item registry.ItemID, click Click, look geom.Rotation, sneak bool) ([]CellChange, error) {
	cells, rej := predict(ctx{reg, w}, item, click, look, sneak)
	if rej != nil {
		return nil, rej
	}
	return masked(reg, cells), nil
}

func masked(reg *registry.Registry, cells []CellChange) []CellChange {
	for i := range cells {
		cells[i].Masked = Masks(reg, cells[i].To)
	}
	return cells
}

func predict(c ctx, item registry.ItemID, click Click, look geom.Rotation, sneak bool) ([]CellChange, *Rejection) {
	p, rej := prepare(c, item, click, look, sneak)
	if rej != nil {
		return nil, rej
	}
	s, rej := p.state()
	if rej != nil {
		return nil, rej
	}
	cells := make([]CellChange, 1, 2)
	cells[0] = CellChange{Pos: p.pos, From: p.there, To: s}
	second, rej := p.second(s)
	if rej != nil {
		return nil, rej
	}
	if second != nil {
		cells = append(cells, *second)
	}
	return cells, nil
}

// prepare finds the block and the cell that a click is about.
func prepare(c ctx, item registry.ItemID, click Click, look geom.Rotation, sneak bool) (*put, *Rejection) {
	if !click.Face.Valid() || !look.Finite() {
		return nil, reject(NoClick, "the click has no valid face or look")
	}
	for _, v := range click.Cursor {
		if !(v >= 0 && v <= 1) {
			return nil, reject(NoClick, "the cursor must lie inside the clicked cell, 0..1")
		}
	}
	block, ok := blockOfItem(c.reg, item)
	if !ok {
		return nil, reject(UnplaceableState, "item %d places no block", item)
	}
	clicked, ok := c.at(click.Pos)
	if !ok {
		return nil, reject(UnknownCell, "the clicked cell %v is not loaded", click.Pos)
	}
	p := &put{ctx: c, item: item, block: block, pos: click.Pos, there: clicked, face: click.Face,
		look: look.Horizontal(), yaw: look.Yaw, pitch: look.Pitch, order: nearest(look), sneak: sneak, inPlace: true}
	if !sneak && c.eats(clicked) && !(c.block(clicked) == block.Name && stackProperty(c.family(clicked)) != "") {
		return nil, reject(ClickEaten, "%s takes the click itself; sneak", c.block(clicked))
	}
	p.near = p.order[0]
	p.hit = click.Point().Sub(p.pos.Corner())
	if !p.replaces(clicked) {
		p.inPlace = false
		p.pos = click.Pos.Neighbour(click.Face)
		if p.there, ok = c.at(p.pos); !ok {
			return nil, reject(UnknownCell, "the cell %v is not loaded", p.pos)
		}
		p.hit = click.Point().Sub(p.pos.Corner())
		if !p.replaces(p.there) {
			return nil, reject(Occupied, "%s stands there", c.reg.FormatState(p.there))
		}
		opp := click.Face.Opposite()
		at := 0
		for p.order[at] != opp {
			at++
		}
		copy(p.order[1:at+1], p.order[:at])
		p.order[0] = opp
	}
	return p, nil
}

// replaces tells whether the item may go into a cell that holds s.
func (p *put) replaces(s registry.StateID) bool {
	if p.ctx.block(s) != p.block.Name {
		return p.reg.Replaceable(s)
	}
	switch f := p.family(s); f {
	case Slab:
		if p.is(s, "type", "double") {
			return false
		}
		if !p.inPlace {
			return true
		}
		high := p.hit[1] > 0.5
		if p.is(s, "type", "bottom") {
			return p.face == geom.Up || high && p.face.IsHorizontal()
		}
		return p.face == geom.Down || !high && p.face.IsHorizontal()
	case SnowLayer:
		return !p.is(s, "layers", "8") && (!p.inPlace || p.face == geom.Up)
	case Candle, SeaPickle, TurtleEgg, PinkPetals:
		return !p.sneak && !p.full(s, f)
	case Vine:
		n := 0
		for _, d := range geom.Faces {
			if p.is(s, d.String(), "true") {
				n++
			}
		}
		return n < 5
	case Multiface:
		for _, d := range geom.Faces {
			if p.is(s, d.String(), "false") {
				return true
			}
		}
		return false
	}
	return p.reg.Replaceable(s)
}

func (p *put) full(s registry.StateID, f Family) bool {
	for _, name := range []string{stackProperty(f), "segment_amount"} {
		if p.is(s, name, "4") {
			return true
		}
	}
	return false
}

// second returns the other cell of a door, bed or tall plant.
func (p *put) second(s registry.StateID) (*CellChange, *Rejection) {
	at, to := p.pos.Neighbour(geom.Up), s
	switch p.family(s) {
	case Door:
		to = p.with(s, "half", "upper")
	case DoublePlant:
		to = p.with(s, "half", "upper")
	case Dripleaf:
		if p.block.Name != "minecraft:small_dripleaf" {
			return nil, nil
		}
		to = p.withBool(p.with(s, "half", "upper"), "waterlogged", false)
		if there, ok := p.at(at); ok && p.water(there) {
			to = p.withBool(to, "waterlogged", true)
		}
	case Bed:
		at, to = p.pos.Neighbour(p.look), p.with(s, "part", "head")
	default:
		return nil, nil
	}
	there, ok := p.at(at)
	if !ok {
		return nil, reject(UnknownCell, "the second cell %v is not loaded", at)
	}
	if !p.reg.Replaceable(there) {
		return nil, reject(Occupied, "the second cell %v is taken by %s", at, p.reg.FormatState(there))
	}
	return &CellChange{Pos: at, From: there, To: to}, nil
}

// Interactive tells whether a block takes a click for itself unless the player sneaks.
func Interactive(reg *registry.Registry, s registry.StateID) bool { return ctx{reg: reg}.eats(s) }

func (c ctx) eats(s registry.StateID) bool {
	b := c.block(s)
	switch c.family(s) {
	case Door, Trapdoor:
		return b != "minecraft:iron_door" && b != "minecraft:iron_trapdoor"
	case FenceGate, Bed, RedstoneWire, Scaffolding, Hopper, NoteBlock, Cake, CandleCake, Candle, Anvil, Diode, Chest, FlowerPot,
		Potted, Bell, Grindstone, DecoratedPot, LeverButton, SignStanding, SignWall, SignHanging, SignWallHanging, Crafter,
		Jigsaw, Shelf, Statue, Cocoa:
		return true
	case SixwayOpposite:
		return !strings.HasSuffix(b, "piston")
	case FaceSixway:
		return strings.HasSuffix(b, "shulker_box")
	}
	return eaters[strings.TrimPrefix(b, "minecraft:")]
}

// eaters are the single blocks among other families that open, turn, light or swallow.
var eaters = map[string]bool{
	"furnace": true, "blast_furnace": true, "smoker": true, "crafting_table": true, "enchanting_table": true, "jukebox": true,
	"brewing_stand": true, "dragon_egg": true, "beacon": true, "lectern": true, "loom": true, "cartography_table": true,
	"smithing_table": true, "fletching_table": true, "stonecutter": true, "ender_chest": true, "daylight_detector": true,
	"composter": true, "chiseled_bookshelf": true, "sweet_berry_bush": true, "respawn_anchor": true, "redstone_ore": true,
	"deepslate_redstone_ore": true, "vault": true, "trial_spawner": true, "structure_block": true, "beehive": true,
	"bee_nest": true, "campfire": true, "soul_campfire": true, "cauldron": true, "water_cauldron": true,
	"lava_cauldron": true, "powder_snow_cauldron": true, "end_portal_frame": true, "pumpkin": true, "tnt": true,
	"test_block": true, "test_instance_block": true, "cave_vines": true, "cave_vines_plant": true, "lodestone": true,
}
