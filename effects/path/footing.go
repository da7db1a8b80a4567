package path

import "blockworld/worldstate/geom"

// FindFrom searches the cheapest path from where a body is to any one of several cells. The cell of its feet need not be one
// to stand in: somebody may have built into it, or the body stands at the edge of a block beside a fence. Then the way
// begins in another cell that the body is in.
func FindFrom(w World, at geom.Vec3, goals []geom.BlockPos, o Options, s *Scratch) Result {
	var first Result
	for i, from := range beginnings(at) {
		if i > 0 && !o.WalkBox.Contains(from) {
			continue
		}
		r := FindAny(w, from, goals, o, s)
		switch {
		case r.Status == Reached:
			return r
		case i == 0 || first.Why == StartBlocked:
			first = r
		}
	}
	return first
}

// beginnings lists the cells that a way from a place may begin in: the feet's, then the others that the body is in, those at the
// feet's height first.
func beginnings(at geom.Vec3) []geom.BlockPos {
	feet := geom.BlockAt(at)
	out := []geom.BlockPos{feet}
	for up := range int32(2) {
		for _, c := range Body(at) {
			if c.Y == feet.Y+up && c != feet {
				out = append(out, c)
			}
		}
	}
	return out
}

// Body lists the cells that a player is in who stands at a place.
func Body(at geom.Vec3) (out []geom.BlockPos) {
	const half = geom.PlayerWidth / 2
	lo := geom.BlockAt(geom.Vec3{at[0] - half, at[1], at[2] - half})
	hi := geom.BlockAt(geom.Vec3{at[0] + half, at[1] + geom.PlayerHeight, at[2] + half})
	for x := lo.X; x <= hi.X; x++ {
		for y := lo.Y; y <= hi.Y; y++ {
			for z := lo.Z; z <= hi.Z; z++ {
				out = append(out, geom.BlockPos{X: x, Y: y, Z: z})
			}
		}
	}
	return out
}
