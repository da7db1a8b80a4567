package physics

// Vanilla's movement numbers, per tick and in blocks. Sources: minecraft.wiki "Entity#Motion of entities",
// "Player#Movement", mcpk.wiki "Horizontal/Vertical movement formulas" and "Slipperiness"; prismarine-physics 1.11.1
// carries the same ones.
const (
	gravity       = 0.08       // subtracted from the vertical speed each tick
	slowGravity   = 0.01       // gravity of slow falling, while moving down
	airDrag       = 0.98       // what is left of the vertical speed
	airInertia    = 0.91       // what is left of the horizontal speed, times the slipperiness on ground
	airSpeed      = 0.02       // acceleration in the air
	airSpeedSprnt = 0.026      // the same, sprinting
	groundFactor  = 0.21600002 // 0.6 cubed: ground acceleration = speed * groundFactor / slipperiness cubed
	inputFactor   = 0.98       // every impulse is scaled by it
	sprintFactor  = 1.3
	sprintBoost   = 0.2    // horizontal push of a jump while sprinting
	jumpDelay     = 10     // ticks between two jumps with the key held
	negligible    = 0.003  // speeds below are zero
	terminal      = 5.0    // bound of every speed component; vanilla falls at 3.92 at most
	worldLimit    = 3.2e7  // bound of every coordinate; the world ends at 3e7
	epsilon       = 1e-7   // overlaps below do not count
	edgeStep      = 0.05   // sneaking: how finely the way back from an edge is searched
	collideSlack  = 1e-5   // differences below are not a horizontal collision
	minorAngle    = 0.1396 // radians; a wall grazed at a smaller angle does not end a sprint

	slipDefault = 0.6
	slipSlime   = 0.8
	slipIce     = 0.98
	slipBlueIce = 0.989

	soulSandSpeed = 0.4
	honeySpeed    = 0.4
	honeyJump     = 0.5

	climbSpeed = 0.2  // upwards on a ladder
	climbLimit = 0.15 // sideways, and downwards

	liquidSpeed     = 0.02 // acceleration in water and lava
	liquidJump      = 0.04 // per tick of the jump key
	liquidJumpLevel = 0.4  // depth above which the jump key swims
	liquidExit      = 0.3  // vertical speed at a wall that can be climbed out over
	waterInertia    = 0.8
	lavaInertia     = 0.5
	strideInertia   = 0.546 // horizontal inertia in water at full water movement efficiency (depth strider III)
	stepOutHeight   = 0.6
	waterPush       = 0.014
	lavaPush        = 0.0023333333333333335
	lavaPushHot     = 0.007  // where lava is fast: the nether
	leastPush       = 0.0045 // a slow player is pushed at least so much

	bedBounce = 0.66
)
