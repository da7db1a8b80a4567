package blueprint

import (
	"blockworld/worldstate/geom"
)

// Limits of what is read.
const (
	MaxSide      = 4096     // cells along one axis
	MaxCells     = 1 << 24  // cells of the bounding box
	MaxPalette   = 1 << 16  // different states
	MaxFileBytes = 64 << 20 // bytes of a file after unpacking
	maxValues    = 2 << 20  // tags in a file
)

// Blueprint is a box of block states. Cells that the file does not mention, and structure void, hold nothing.
type Blueprint struct {
	Name        string        // the file's name
	Format      string        // "sponge v2", "litematic v6.1", "structure nbt"
	DataVersion int32         // the game's data version, 0 if the file does not say
	Size        geom.BlockPos // cells along each axis, all at least 1
	Offset      geom.BlockPos // where the file would put its minimum corner; told, never used
	Palette     []State       // all different; may hold entries that no cell uses

	Entities      int // left out
	BlockEntities int // blocks with data of their own: the block is built, its contents are left out

	cells []uint16 // 0 nothing, else palette index + 1; X fastest, then Z, then Y
}

// New makes an empty blueprint; ErrTooLarge if it passes the limits, ErrMalformed for a side below 1.
func New(name string, size geom.BlockPos) (*Blueprint, error) {
	if size.X < 1 || size.Y < 1 || size.Z < 1 {
		return nil, at(ErrMalformed, "size", "%v has a side below 1", size)
	}
	if size.X > MaxSide || size.Y > MaxSide || size.Z > MaxSide || int64(size.X)*int64(size.Y)*int64(size.Z) > MaxCells {
		return nil, at(ErrTooLarge, "size", "%v is more than %d cells or a side above %d", size, MaxCells, MaxSide)
	}
	return &Blueprint{Name: name, Size: size, cells: make([]uint16, int(size.X)*int(size.Y)*int(size.Z))}, nil
}

func (b *Blueprint) index(p geom.BlockPos) int {
	return (int(p.Y)*int(b.Size.Z)+int(p.Z))*int(b.Size.X) + int(p.X)
}

func (b *Blueprint) inside(p geom.BlockPos) bool {
	return p.X >= 0 && p.Y >= 0 && p.Z >= 0 && p.X < b.Size.X && p.Y < b.Size.Y && p.Z < b.Size.Z
}

// At returns the state of a cell counted from the minimum corner; false outside and where the file says nothing.
func (b *Blueprint) At(p geom.BlockPos) (State, bool) {
	if !b.inside(p) {
		return State{}, false
	}
	i := b.cells[b.index(p)]
	if i == 0 || b.Palette[i-1].Void() {
		return State{}, false
	}
	return b.Palette[i-1], true
}

// Set puts a state into a cell. Cells outside the box are ignored. A palette that is full gives ErrTooLarge.
func (b *Blueprint) Set(p geom.BlockPos, s State) error {
	if !b.inside(p) {
		return nil
	}
	i, err := b.intern(s)
	if err != nil {
		return err
	}
	b.cells[b.index(p)] = i
	return nil
}

// intern returns the cell value of a state.
func (b *Blueprint) intern(s State) (uint16, error) {
	text := s.String()
	for i := range b.Palette {
		if b.Palette[i].Name == s.Name && b.Palette[i].String() == text {
			return uint16(i + 1), nil
		}
	}
	if len(b.Palette) >= MaxPalette-1 {
		return 0, at(ErrTooLarge, "palette", "more than %d different states", MaxPalette-1)
	}
	b.Palette = append(b.Palette, s)
	return uint16(len(b.Palette)), nil
}

// Count returns the number of cells that hold a block, and the number of different states in use, airs among them.
func (b *Blueprint) Count() (blocks, states int) {
	used := make([]bool, len(b.Palette)+1)
	for _, i := range b.cells {
		if i == 0 {
			continue
		}
		s := &b.Palette[i-1]
		if s.Void() {
			continue
		}
		if !used[i] {
			used[i] = true
			states++
		}
		if !s.Air() {
			blocks++
		}
	}
	return blocks, states
}

// Each calls fn for every cell that holds a state, airs included, from the bottom up.
func (b *Blueprint) Each(fn func(p geom.BlockPos, s State)) {
	i := 0
	for y := range b.Size.Y {
		for z := range b.Size.Z {
			for x := range b.Size.X {
				if v := b.cells[i]; v != 0 && !b.Palette[v-1].Void() {
					fn(geom.BlockPos{X: x, Y: y, Z: z}, b.Palette[v-1])
				}
				i++
			}
		}
	}
}
