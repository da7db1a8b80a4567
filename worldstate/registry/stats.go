package registry

// Categories of statistics as numbered in award_stats, the same in all known versions.
const (
	StatCategoryMined    = 0
	StatCategoryCrafted  = 1
	StatCategoryUsed     = 2
	StatCategoryBroken   = 3
	StatCategoryPickedUp = 4
	StatCategoryDropped  = 5
	StatCategoryKilled   = 6
	StatCategoryKilledBy = 7
	StatCategoryCustom   = 8
)

// Ids of custom statistics, the same in all known versions up to here: later ones move where 1.21.6 inserts the happy
// ghast. Distances count centimetres, times count ticks.
const (
	StatLeaveGame      = 0
	StatPlayTime       = 1
	StatTotalWorldTime = 2
	StatTimeSinceDeath = 3
	StatTimeSinceRest  = 4
	StatSneakTime      = 5
	StatWalk           = 6
	StatCrouch         = 7
	StatSprint         = 8
	StatWalkOnWater    = 9
	StatFall           = 10
	StatClimb          = 11
	StatFly            = 12
	StatWalkUnderWater = 13
)
