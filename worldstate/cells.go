package worldstate

import (
	"errors"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// ErrMalformed says that a server fact cannot be true or cannot be kept: broken chunk data, numbers that are not finite,
// ids out of range. The mirror is left as it was.
var ErrMalformed = errors.New("malformed server data")

// Cells is a world of blocks as far as it is known. False means unknown (not loaded, outside the world): it is never
// answered with air by guess.
type Cells interface {
	Block(pos geom.BlockPos) (registry.StateID, bool)
}
