package builder

import (
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// Others lists where the other players stand: what the evidence of placements wants to know every tick.
func Others(v worldstate.View) []geom.Vec3 { return others(v) }
