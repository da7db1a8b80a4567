package builder

import (
	"blockworld/effects/path"
	"blockworld/worldstate/geom"
)

// find searches a way from where a body is. Its feet's cell need not be one to stand in: at the edge of a block somebody may
// have put a fence beside the body into that cell, and then the way begins in another cell that the body is in.
func find(world path.World, at geom.Vec3, goals []geom.BlockPos, opt path.Options, scratch *path.Scratch) path.Result {
	var first path.Result
	for i, from := range footing(at) {
		if i > 0 && !opt.WalkBox.Contains(from) {
			continue
		}
		r := path.FindAny(world, from, goals, opt, scratch)
		if r.Status == path.Reached {
			return r
		}
		if i == 0 {
			first = r
		}
	}
	return first
}

// footing lists the cells that a way from a place may begin in: the feet's, then the others that the body is in, those at the
// feet's height first.
func footing(at geom.Vec3) []geom.BlockPos {
	feet := geom.BlockAt(at)
	out := []geom.BlockPos{feet}
	for up := range int32(2) {
		for _, c := range body(at) {
			if c.Y == feet.Y+up && c != feet {
				out = append(out, c)
			}
		}
	}
	return out
}

// Half of a player's width, and its height standing.
const (
	halfWidth = 0.3
	height    = 1.8
)

// body are the cells that a player at a place is in.
func body(at geom.Vec3) (out []geom.BlockPos) {
	lo := geom.BlockAt(geom.Vec3{at[0] - halfWidth, at[1], at[2] - halfWidth})
	hi := geom.BlockAt(geom.Vec3{at[0] + halfWidth, at[1] + height, at[2] + halfWidth})
	for x := lo.X; x <= hi.X; x++ {
		for y := lo.Y; y <= hi.Y; y++ {
			for z := lo.Z; z <= hi.Z; z++ {
				out = append(out, geom.BlockPos{X: x, Y: y, Z: z})
			}
		}
	}
	return out
}
