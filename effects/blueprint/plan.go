package blueprint

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Step is one block item placed or stacked by one click: the unit of exactly once.
type Step struct {
	Index   int                    `json:"index"`             // place in the plan, from 0
	Ordinal int                    `json:"ordinal"`           // n-th step on its primary cell, from 0
	Use     placement.Use          `json:"use"`               // the click, and the cells right after it
	Block   string                 `json:"block"`             // the wanted state in full, as this step leaves it
	Stand   geom.BlockPos          `json:"stand"`             // the cell for the feet
	Feet    geom.Vec3              `json:"feet"`              // the soles of the feet
	Flying  bool                   `json:"flying,omitempty"`  // the stand is in the air
	Hidden  bool                   `json:"hidden,omitempty"`  // the clicked face looks away from the stand
	Blocked bool                   `json:"blocked,omitempty"` // something stands between the eye and the clicked point
	Follow  []placement.CellChange `json:"follow,omitempty"`  // neighbours that change along
	OfCell  geom.BlockPos          `json:"of_cell"`           // the primary cell
	Landing geom.BlockPos          `json:"landing,omitempty"` // the other cell where the click could land
}

// FinalCell is a cell as the finished building has it.
type FinalCell struct {
	Pos    geom.BlockPos    `json:"pos"`
	State  registry.StateID `json:"state"`            // predicted when all steps are done
	Masked []string         `json:"masked,omitempty"` // properties that an inspection does not compare
	Block  string           `json:"block"`            // the blueprint's wish in full
	// Differs names properties that will not be as the blueprint wishes: what time or neighbours decide.
	Differs []string `json:"differs,omitempty"`
}

// Refusal is a cell of the blueprint that the plan leaves out, with the reason.
type Refusal struct {
	Pos    geom.BlockPos  `json:"pos"`
	Block  string         `json:"block"`
	Code   placement.Code `json:"code"`
	Detail string         `json:"detail"`
}

// Codes of refusals beyond those of effects/placement.
const (
	Unknown     placement.Code = "unknown_state" // the version does not have it
	Unreachable placement.Code = "unreachable"   // nobody can stand where it could be placed from
	OutOfWorld  placement.Code = "outside_world" // above or below the build height
)

// Material is how many of an item the steps use up.
type Material struct {
	Item  string          `json:"item"`
	ID    registry.ItemID `json:"id"`
	Count int             `json:"count"`
}

// Plan is everything a mission needs to know before it starts. It is pure data and can be written as JSON.
type Plan struct {
	Protocol    registry.Protocol `json:"protocol"`
	Name        string            `json:"name"`
	Bounds      geom.BlockBox     `json:"bounds"`
	Build       geom.BlockBox     `json:"build_box"`
	Click       geom.BlockBox     `json:"click_box"`
	Walk        geom.BlockBox     `json:"walk_box"`
	CanFly      bool              `json:"can_fly"`
	Steps       []Step            `json:"steps"`
	Final       []FinalCell       `json:"final"`                 // placed and present cells, in the order of BlockPos.Less
	Present     []geom.BlockPos   `json:"present,omitempty"`     // already right, nothing to do
	Materials   []Material        `json:"materials"`             // by item name
	Rejected    []Refusal         `json:"rejected,omitempty"`    // cannot be placed
	Unreachable []Refusal         `json:"unreachable,omitempty"` // nobody can stand where it could be placed from
	Standing    []Refusal         `json:"standing,omitempty"`    // blocks where the blueprint has air, at most maxStanding
	LeftOut     LeftOut           `json:"left_out"`
	Notes       []string          `json:"notes,omitempty"`
}

// LeftOut counts what a plan never builds.
type LeftOut struct {
	Entities      int `json:"entities"`
	BlockEntities int `json:"block_entities"` // contents of blocks with data of their own
	Air           int `json:"air"`            // cells
	Standing      int `json:"standing"`       // blocks that stand where the blueprint has air
}

const maxStanding = 1000

// Options say where, in which world and by whom a blueprint is built.
type Options struct {
	World      placement.Cells // nil: flat solid ground below the bounds, air everywhere else
	Build      geom.BlockBox   // cells that may change; zero: the blueprint's bounds
	Click      geom.BlockBox   // cells that may be clicked; zero: Build grown by 1
	Walk       geom.BlockBox   // cells for feet; zero: Build grown by 6
	MayReplace []string        // replaceable blocks that may be destroyed: "minecraft:short_grass"
	CanFly     bool            // creative flight
	Start      *geom.BlockPos  // the cell of the player's feet; nil: beside the building
	Strict     bool            // never click a face that looks away from the eye
	MinY, MaxY int32           // build height, both inclusive; both 0: no limit
	// Progress hears now and then how many of how many cells are worked out; nil: nobody asks. It must not block.
	Progress func(done, of int)
}

// MakePlan works out the steps. It fails only if the blueprint cannot be built at all: it does not fit into the build
// box, or is too large together with its surroundings. Everything less is listed in the plan. A large plan takes seconds:
// when ctx ends, MakePlan returns its error within moments.
func MakePlan(ctx context.Context, reg *registry.Registry, b *Blueprint, corner geom.BlockPos, o Options) (*Plan, error) {
	bounds := b.Bounds(corner)
	var none geom.BlockBox
	if o.Build == none {
		o.Build = bounds
	}
	if o.Click == none {
		o.Click = o.Build.Grow(1)
	}
	if o.Walk == none {
		o.Walk = o.Build.Grow(6)
	}
	if !o.Build.ContainsBox(bounds) {
		return nil, fmt.Errorf("%w: %s takes %v, the build box is %v", ErrOutsidePlot, b.Name, bounds, o.Build)
	}
	o.MayReplace = slices.Clone(o.MayReplace)
	for i := range o.MayReplace {
		o.MayReplace[i] = fullName(o.MayReplace[i])
	}
	p := &planner{ctx: ctx, progress: o.Progress, reg: reg, b: b, o: o, plan: &Plan{
		Protocol: reg.Protocol(), Name: b.Name, Bounds: bounds, Build: o.Build, Click: o.Click, Walk: o.Walk, CanFly: o.CanFly,
		LeftOut: LeftOut{Entities: b.Entities, BlockEntities: b.BlockEntities},
	}}
	if err := p.open(); err != nil {
		return nil, err
	}
	p.collect()
	p.order()
	p.run()
	if !p.over() {
		p.finish()
	}
	if p.over() {
		return nil, fmt.Errorf("planning %s: %w", b.Name, ctx.Err())
	}
	return p.plan, nil
}

// over tells whether the caller has given up.
func (p *planner) over() bool {
	p.ended = p.ended || p.ctx.Err() != nil
	return p.ended
}

// askEvery is how many jobs are tried between two looks at the caller.
const askEvery = 128

// stopped is over for loops: it looks at the caller now and then, and tells the progress.
func (p *planner) stopped() bool {
	if p.asked++; p.ended || p.asked%askEvery != 0 {
		return p.ended
	}
	if p.progress != nil {
		p.progress(p.done, len(p.jobs))
	}
	return p.over()
}

// maxArea bounds the cells of all boxes together that a plan keeps in memory.
const maxArea = 1 << 26

var errArea = errors.New("the walk box is too large")
