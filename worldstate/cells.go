package worldstate

import (
	"errors"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// ErrMalformed says that a server fact cannot be true or cannot be kept: broken chunk data, numbers that are not finite,
// ids out of range. The mirror is left as it was.
var ErrMalformed = errors.New("malformed server data")

// ErrNotKept is wrapped by what Mirror.Apply says of a column that is unknown because a mirror has no room for it: the
// game's own client would not keep it either, or it is more than one server may make one mirror hold.
var ErrNotKept = errors.New("not kept")

// Cells is a world of blocks as far as it is known. False means unknown (not loaded, outside the world): it is never
// answered with air by guess.
type Cells interface {
	Block(pos geom.BlockPos) (registry.StateID, bool)
}
