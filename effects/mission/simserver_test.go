package mission_test

import (
	"maps"
	"math/rand/v2"
	"slices"

	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// simServer is a vanilla server at the level of events: it handles fences and uses in order on one thread, awards
// statistics, sends the two direct updates, broadcasts and acknowledges at its ticks, and has every fault of a schedule
// built in. It knows nothing of the machines under test.
type simServer struct {
	rng    *rand.Rand
	world  map[geom.BlockPos]registry.StateID
	used   map[registry.ItemID]int32
	leave  int32
	dirty  map[registry.ItemID]bool
	left   bool // leave_game is dirty
	full   bool // the next reply is the full one
	inbox  []packet
	out    []worldstate.Event
	moved  map[geom.BlockPos]bool // to be broadcast
	maxSeq int32                  // to be acknowledged, 0 for nothing
	faults faults
	frozen bool                      // statistics do not move
	mute   bool                      // answers no fence and acknowledges nothing
	slots  map[registry.ItemID]int32 // counts in the hotbar, survival
	taken  map[registry.ItemID]bool  // to be shown at the next tick

	executed map[effects.ActionID]bool // uses that placed their block, in the world that lives on
	saved    *simSave
	packets  int // handled in all, for faults that strike at a number
}

type simSave struct {
	world    map[geom.BlockPos]registry.StateID
	used     map[registry.ItemID]int32
	leave    int32
	executed map[effects.ActionID]bool
}

// packet is what the client sends: a fence, or a use.
type packet struct {
	use *effects.Placement
}

// faults are the chances of each fault, per packet or per event, and whether the server lies.
type faults struct {
	drop, delay, double        float64 // of an event
	refuse, silent             float64 // of a use: with updates, or not handled at all
	edit                       float64 // somebody edits a cell around a use
	cut                        float64 // the connection ends before a packet is handled
	kill                       float64 // and the server with it, rolled back to its last save
	session                    float64 // a second session of the account uses an item while we are away
	forgeAck, forgeCount, lost float64 // lies: an early ack, a counter that moves by itself, a use that is not counted
	frozen                     bool
}

func newSimServer(rng *rand.Rand, f faults, world map[geom.BlockPos]registry.StateID) *simServer {
	s := &simServer{rng: rng, world: maps.Clone(world), used: map[registry.ItemID]int32{}, faults: f, frozen: f.frozen,
		executed: map[effects.ActionID]bool{}}
	s.save()
	return s
}

func (s *simServer) chance(p float64) bool { return p > 0 && s.rng.Float64() < p }

func (s *simServer) save() {
	s.saved = &simSave{maps.Clone(s.world), maps.Clone(s.used), s.leave, maps.Clone(s.executed)}
}

// join starts a session: everything is dirty.
func (s *simServer) join() {
	s.inbox, s.out, s.moved, s.maxSeq = nil, nil, map[geom.BlockPos]bool{}, 0
	s.dirty, s.full, s.left = map[registry.ItemID]bool{}, true, true
	s.slots = map[registry.ItemID]int32{brickItem: 64, slabItem: 64, doorItem: 64}
	s.taken = map[registry.ItemID]bool{}
}

// disconnect ends the session: packets that have arrived may still run, then the statistics are saved.
func (s *simServer) disconnect() {
	for _, p := range s.inbox {
		if s.chance(0.5) {
			break
		}
		s.handle(p)
	}
	s.inbox, s.out = nil, nil
	if s.chance(s.faults.kill) {
		s.world, s.used, s.leave, s.executed = maps.Clone(s.saved.world), maps.Clone(s.saved.used), s.saved.leave, maps.Clone(s.saved.executed)
		if s.chance(0.5) {
			return
		}
	}
	s.leave++
	if s.chance(s.faults.session) {
		s.leave++
		if s.chance(0.5) && !s.frozen {
			s.used[brickItem]++
		}
	}
	s.save()
}

// run handles what has arrived; a tick may begin between any two packets. It returns false when the connection is cut.
func (s *simServer) run() bool {
	for len(s.inbox) > 0 {
		if s.chance(s.faults.cut) {
			return false
		}
		p := s.inbox[0]
		s.inbox = s.inbox[1:]
		s.handle(p)
		if s.chance(0.2) {
			s.tick()
		}
	}
	s.tick()
	return true
}

func (s *simServer) handle(p packet) {
	s.packets++
	if s.chance(s.faults.forgeCount) {
		s.count(brickItem)
	}
	if p.use == nil {
		s.stats()
		return
	}
	s.place(p.use)
}

func (s *simServer) count(item registry.ItemID) {
	if !s.frozen {
		s.used[item]++
		s.dirty[item] = true
	}
}

// stats answers a fence with what has changed since the last answer.
func (s *simServer) stats() {
	var e []worldstate.Stat
	items := slices.Sorted(maps.Keys(s.used))
	for _, id := range items {
		if s.full || s.dirty[id] {
			e = append(e, worldstate.Stat{Category: registry.StatCategoryUsed, ID: int32(id), Value: s.used[id]})
		}
	}
	if s.left && s.leave > 0 {
		e = append(e, worldstate.Stat{Category: registry.StatCategoryCustom, ID: registry.StatLeaveGame, Value: s.leave})
	}
	s.full, s.left, s.dirty = false, false, map[registry.ItemID]bool{}
	if s.mute {
		return
	}
	s.emit(worldstate.StatsAwarded{Entries: e})
}

// place does what vanilla does with a use_item_on: the block lands in the clicked cell if that gives way, else before
// its face; both cells are shown; the sequence is acknowledged at the next tick.
func (s *simServer) place(u *effects.Placement) {
	if s.chance(s.faults.silent) {
		return // swallowed before the handler: no updates, no ack
	}
	s.maxSeq = max(s.maxSeq, u.Sequence)
	if s.chance(s.faults.forgeAck) {
		s.emit(worldstate.BlockAck{Sequence: u.Sequence})
	}
	s.edit(u)
	switch {
	case s.chance(s.faults.refuse):
		if s.chance(0.3) {
			return // out of reach: the ack alone
		}
	default:
		s.land(u)
	}
	s.emit(worldstate.BlockChanged{Pos: u.Clicked, State: s.world[u.Clicked]})
	s.emit(worldstate.BlockChanged{Pos: u.Beside, State: s.world[u.Beside]})
	s.edit(u)
}

// edit is another player at work around a use.
func (s *simServer) edit(u *effects.Placement) {
	if !s.chance(s.faults.edit) {
		return
	}
	cells := []geom.BlockPos{u.Clicked, u.Beside, u.Cells[0].Pos}
	states := []registry.StateID{air, stone, brick, slab, twin}
	s.set(cells[s.rng.IntN(len(cells))], states[s.rng.IntN(len(states))])
}

func (s *simServer) set(p geom.BlockPos, id registry.StateID) {
	if s.world[p] != id {
		s.world[p] = id
		s.moved[p] = true
	}
}

// land places by the world as it is: slabs stack into a clicked slab, blocks go where air is.
func (s *simServer) land(u *effects.Placement) {
	at, to := u.Beside, registry.StateID(brick)
	switch clicked := s.world[u.Clicked]; {
	case u.Item == slabItem && clicked == slab:
		at, to = u.Clicked, twin
	case clicked == air:
		at, to = u.Clicked, itemState(u.Item)
	case s.world[u.Beside] == air:
		to = itemState(u.Item)
	case u.Item == slabItem && s.world[u.Beside] == slab:
		to = twin
	default:
		return // occupied: refused
	}
	s.set(at, to)
	if at == u.Cells[0].Pos && to == u.Cells[0].To {
		s.executed[u.Action] = true
		if len(u.Cells) > 1 {
			s.set(u.Cells[1].Pos, u.Cells[1].To)
		}
	}
	s.slots[u.Item]--
	s.taken[u.Item] = true
	if !s.chance(s.faults.lost) {
		s.count(u.Item)
	}
}

// hotbar gives each item its own slot.
func hotbar(i registry.ItemID) int32 { return int32(i - brickItem) }

func itemState(i registry.ItemID) registry.StateID {
	switch i {
	case slabItem:
		return slab
	case doorItem:
		return door
	}
	return brick
}

// simStates knows which states belong to one block.
type simStates struct{ effects.ExactStates }

func (simStates) Landed(before, after, placed registry.StateID) bool {
	return before != after && block(after) == block(placed) && !(before == twin && after == slab)
}

func block(s registry.StateID) registry.StateID {
	switch s {
	case twin:
		return slab
	case upper:
		return door
	}
	return s
}

// tick broadcasts what changed and acknowledges the highest sequence handled.
func (s *simServer) tick() {
	cells := slices.SortedFunc(maps.Keys(s.moved), func(a, b geom.BlockPos) int {
		if a.Less(b) {
			return -1
		}
		return 1
	})
	s.moved = map[geom.BlockPos]bool{}
	if len(cells) == 1 {
		s.emit(worldstate.BlockChanged{Pos: cells[0], State: s.world[cells[0]]})
	} else if len(cells) > 1 {
		var e worldstate.SectionChanged
		for _, c := range cells {
			e.Changes = append(e.Changes, worldstate.BlockChanged{Pos: c, State: s.world[c]})
		}
		s.emit(e)
	}
	for _, item := range slices.Sorted(maps.Keys(s.taken)) {
		s.emit(worldstate.InventorySlot{Slot: hotbar(item), Content: worldstate.Slot{Known: true,
			Stack: worldstate.ItemStack{Item: item, Count: s.slots[item]}}})
	}
	s.taken = map[registry.ItemID]bool{}
	if s.maxSeq > 0 && !s.mute {
		s.emit(worldstate.BlockAck{Sequence: s.maxSeq})
		s.maxSeq = 0
	}
}

// emit sends one event, unless a fault strikes it.
func (s *simServer) emit(e worldstate.Event) {
	switch {
	case s.chance(s.faults.drop):
		return
	case s.chance(s.faults.delay) && len(s.out) > 0:
		// delayed against the rest: it comes one event earlier or later than it should
		last := len(s.out) - 1
		s.out = append(s.out, s.out[last])
		s.out[last] = e
		return
	}
	s.out = append(s.out, e)
	if s.chance(s.faults.double) {
		s.out = append(s.out, e)
	}
}
