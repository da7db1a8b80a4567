package placement

import (
	"fmt"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Cells is a world to read blocks from; false means that the cell is not known.
type Cells interface {
	Block(pos geom.BlockPos) (registry.StateID, bool)
}

// Click is what a use_item_on packet says about the clicked block.
type Click struct {
	Pos    geom.BlockPos `json:"pos"`
	Face   geom.Face     `json:"face"`
	Cursor [3]float32    `json:"cursor"` // 0..1 inside the clicked cell
	Inside bool          `json:"inside,omitempty"`
}

// Point returns the clicked point in the world.
func (c Click) Point() geom.Vec3 {
	return c.Pos.Corner().Add(geom.Vec3{float64(c.Cursor[0]), float64(c.Cursor[1]), float64(c.Cursor[2])})
}

// CellChange is one cell that a placement changes. Masked names the properties of To that neighbours or time may
// change later; FormMask among them means that the block itself may turn into another form of its family.
type CellChange struct {
	Pos    geom.BlockPos    `json:"pos"`
	From   registry.StateID `json:"from"`
	To     registry.StateID `json:"to"`
	Masked []string         `json:"masked,omitempty"`
}

// FormMask in CellChange.Masked allows the other form of a growing block: bamboo and its sapling, kelp and kelp_plant.
const FormMask = effects.FormMask

// PairMask in CellChange.Masked allows a chest to become half of a pair, or to cease to be one.
const PairMask = "type"

// LookNeed says which part of the look decides the placed state. The zero value is the careful answer: everything
// matters, a tick earlier.
type LookNeed uint8

// The needs.
const (
	LookNear6 LookNeed = iota // the look's largest component decides; send it at least one tick before the click
	LookYaw                   // the horizontal facing (or exact yaw) decides at once
	LookNone                  // any look gives the same state
)

// String names the need.
func (l LookNeed) String() string {
	switch l {
	case LookNear6:
		return "near6"
	case LookYaw:
		return "yaw"
	case LookNone:
		return "none"
	}
	return fmt.Sprintf("look(%d)", uint8(l))
}

// MarshalText writes the name.
func (l LookNeed) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a name that MarshalText wrote.
func (l *LookNeed) UnmarshalText(b []byte) error {
	for v := LookNear6; v <= LookNone; v++ {
		if v.String() == string(b) {
			*l = v
			return nil
		}
	}
	return fmt.Errorf("placement: %q is no look need", b)
}

// SneakNeed says whether the player must sneak for the click.
type SneakNeed uint8

// The needs. SneakAny: the result is the same either way.
const (
	SneakAny SneakNeed = iota
	SneakMust
	SneakMustNot
)

// String names the need.
func (s SneakNeed) String() string {
	switch s {
	case SneakAny:
		return "any"
	case SneakMust:
		return "must"
	case SneakMustNot:
		return "must_not"
	}
	return fmt.Sprintf("sneak(%d)", uint8(s))
}

// MarshalText writes the name.
func (s SneakNeed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name that MarshalText wrote.
func (s *SneakNeed) UnmarshalText(b []byte) error {
	for v := SneakAny; v <= SneakMustNot; v++ {
		if v.String() == string(b) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("placement: %q is no sneak need", b)
}

// Use is one way to place one block: everything that the packets of a placement carry, and what they do.
type Use struct {
	Item        registry.ItemID `json:"item"`
	Click       Click           `json:"click"`
	Look        geom.Rotation   `json:"look"`
	LookMatters LookNeed        `json:"look_matters"`
	Sneak       SneakNeed       `json:"sneak"`
	Cells       []CellChange    `json:"cells"`             // the primary cell first, then a door's or bed's second one
	Differs     []string        `json:"differs,omitempty"` // properties of the wanted state that no placement decides: "age"
}

// Target returns the cell that the step is about.
func (u Use) Target() geom.BlockPos {
	if len(u.Cells) == 0 {
		return u.Click.Pos
	}
	return u.Cells[0].Pos
}

// Code is the reason class of a rejection.
type Code string

// The codes.
const (
	UnplaceableState Code = "unplaceable_state" // no click makes this state, or none does beside these neighbours
	NeedsInteraction Code = "needs_interaction" // needs a tool, a bucket or a use of the block itself after placing
	UnknownBlock     Code = "unknown_block"     // no family names the block, or its rule is not known well enough
	NoSupport        Code = "no_support"        // what must hold the block is not there
	NoClick          Code = "no_click"          // nothing beside the cell can be clicked in the needed way
	Occupied         Code = "occupied"          // another block is there
	UnknownCell      Code = "unknown_cell"      // a cell that decides is not loaded
	WouldChange      Code = "would_change"      // the block would fall, harden or drink at once
	NeedsStage       Code = "needs_stage"       // a state of several uses whose former stage is not in the cell
	ClickEaten       Code = "click_eaten"       // the clicked block would take the click itself; sneak
)

// Rejection says why a state cannot be placed in a cell, in words for people.
type Rejection struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"`
}

// Error makes a Rejection usable as an error.
func (r *Rejection) Error() string { return string(r.Code) + ": " + r.Detail }

func reject(code Code, format string, args ...any) *Rejection {
	return &Rejection{Code: code, Detail: fmt.Sprintf(format, args...)}
}
