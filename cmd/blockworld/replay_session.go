package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"blockworld/bot/scene"
	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/effects/placement"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// replayed is what became of one session of a capture.
type replayed struct {
	Facts     uint64         `json:"facts"`
	Skipped   int            `json:"skipped"`
	Account   string         `json:"account"`
	Dimension string         `json:"dimension"`
	GameMode  string         `json:"game_mode"`
	Position  geom.Vec3      `json:"position"` // the server's last word
	Placed    bool           `json:"placed"`
	Dead      bool           `json:"dead"`
	Columns   int            `json:"columns"`
	Entities  int            `json:"entities"`
	Players   int            `json:"players"`
	Inventory bool           `json:"inventory_known"`
	WorldAge  int64          `json:"world_age"`
	Uses      []replayedUse  `json:"uses"`
	Notices   []effects.Code `json:"notices,omitempty"`
	Digest    string         `json:"digest"` // of the mirror at the end
}

// status is the end of a session in words.
func (r *replayed) status() string {
	if r.Dimension == "" {
		return "never in a world"
	}
	where := "place unknown"
	if r.Placed {
		where = fmt.Sprintf("last put at %.1f %.1f %.1f", r.Position[0], r.Position[1], r.Position[2])
	}
	return fmt.Sprintf("%s in %s, %s, %s", r.Account, r.Dimension, r.GameMode, where)
}

// replayedUse is one use_item_on with what the packets prove of it.
type replayedUse struct {
	AtMillis    int64               `json:"at_ms"`
	Sequence    int32               `json:"sequence"`
	Item        string              `json:"item"`
	Cell        geom.BlockPos       `json:"cell"`
	State       string              `json:"state"` // that the click makes by the planner's rules
	Verdict     effects.Verdict     `json:"verdict"`
	Grade       effects.Grade       `json:"grade"`
	Attribution effects.Attribution `json:"attribution"`
	Code        effects.Code        `json:"code"`
	Why         string              `json:"why,omitempty"` // it could not be judged at all
}

func (u *replayedUse) words() string {
	if u.Why != "" {
		return u.Verdict.String() + ": " + u.Why
	}
	if u.Verdict == effects.Proven {
		return u.Verdict.String() + " " + u.Grade.String()
	}
	return u.Verdict.String() + ": " + u.Code.Words()
}

// replaySession is one connection of a capture under way: the mirror, the evidence, and what the client has told of itself.
type replaySession struct {
	out      replayed
	reg      *registry.Registry
	mirror   *worldstate.Mirror
	context  *wire.EventContext
	scratch  []worldstate.Event
	least    effects.Grade
	used     effects.UsedTrust
	evidence *effects.Placements
	fenced   bool
	ticks    int64
	look     geom.Rotation
	sneak    bool
	held     int32 // -1 unknown
}

// replayTick is the length of a tick by a capture's clock.
const replayTick = 50 * time.Millisecond

// newReplaySession begins a connection; earlier is the one before it in the file, nil for the first.
func newReplaySession(reg *registry.Registry, earlier *replaySession, least effects.Grade) *replaySession {
	s := &replaySession{reg: reg, context: wire.NewEventContext(reg), least: least, held: -1, out: replayed{Uses: []replayedUse{}}}
	var after worldstate.View
	if earlier != nil {
		after, s.used = earlier.mirror.View(), earlier.used
	}
	s.mirror = worldstate.NewMirror(reg, nil, worldstate.Following(after))
	return s
}

// record takes one packet of either side.
func (s *replaySession) record(r wire.CaptureRecord) {
	if begins(r) {
		s.ticks = int64(r.At / replayTick)
	}
	s.tick(r.At)
	pk, err := wire.DecodePacket(s.reg.Protocol(), r.State, r.Direction, r.Data)
	if err != nil {
		s.out.Skipped++
		return
	}
	if r.Direction == wire.Serverbound {
		s.told(pk, r.At)
		return
	}
	if l, ok := pk.(*wire.LoginFinished); ok {
		s.fact(worldstate.Identified{UUID: l.Profile.UUID, Name: l.Profile.Name})
	}
	s.scratch = wire.AppendEvents(s.scratch[:0], pk, s.context)
	for _, ev := range s.scratch {
		s.fact(ev)
	}
}

// tick lets the evidence know of the time that has passed.
func (s *replaySession) tick(at time.Duration) {
	const most = 100 // a pause says nothing more after five seconds
	now := int64(at / replayTick)
	for n := min(now-s.ticks, most); n > 0 && s.evidence != nil; n-- {
		s.found(s.evidence.Tick(scene.Others(s.mirror.View())))
	}
	s.ticks = now
}

// fact applies one fact, then shows it to the evidence.
func (s *replaySession) fact(ev worldstate.Event) {
	if err := s.mirror.Apply(ev); err != nil {
		s.out.Skipped++
		return
	}
	switch ev := ev.(type) {
	case worldstate.HeldSlot:
		s.held = ev.Slot
	case worldstate.Respawned:
		if s.evidence != nil {
			s.evidence.NextEpoch(s.epoch())
		}
		return
	case worldstate.ReconfigurationStarted:
		s.cut()
		return
	}
	if s.evidence != nil {
		s.found(s.evidence.Observe(effects.Fact{Sequence: uint64(s.mirror.View().Sequence()), Event: ev}))
	}
}

func (s *replaySession) epoch() effects.Epoch {
	e := s.mirror.View().Epoch()
	return effects.Epoch{Host: e.Host, World: e.World, Timeline: e.Timeline}
}

// told takes one packet of the client.
func (s *replaySession) told(pk wire.Packet, at time.Duration) {
	switch pk := pk.(type) {
	case *wire.MovePlayerRot:
		s.look = pk.Rotation
	case *wire.MovePlayerPosRot:
		s.look = pk.Rotation
	case *wire.PlayerInput:
		s.sneak = pk.Keys&wire.KeySneak != 0
	case *wire.PlayerCommand:
		if pk.Action == wire.StartSneaking || pk.Action == wire.StopSneaking {
			s.sneak = pk.Action == wire.StartSneaking
		}
	case *wire.SetCarriedItem:
		s.held = int32(pk.Slot)
	case *wire.SetCreativeModeSlot:
		s.slotChanged(int32(pk.Slot) - worldstate.SlotHotbar)
	case *wire.ContainerClick:
		s.slotChanged(int32(pk.Button)) // a swap names its hotbar slot there
	case *wire.ClientCommand:
		if pk.Action == wire.RequestStats {
			s.judge(true)
			if s.fenced {
				s.evidence.FenceSent()
			}
		}
	case *wire.UseItemOn:
		s.use(pk, at)
	}
}

func (s *replaySession) slotChanged(slot int32) {
	if s.evidence != nil && slot >= 0 && slot <= 8 {
		s.evidence.SlotChanged(int8(slot))
	}
}

// judge starts the evidence at the first fence or use. A client that uses before it has ever fenced is judged without.
func (s *replaySession) judge(fence bool) {
	if s.evidence != nil {
		return
	}
	s.fenced = fence
	least := s.least
	if !fence {
		least = min(least, effects.Observed)
	}
	mode := s.mirror.View().Self().GameMode
	s.evidence = effects.NewPlacements(effects.Options{
		Epoch: s.epoch(), Fence: fence, Pipeline: 1 << 16, Least: least, Used: s.used, States: effects.RegistryStates{Registry: s.reg},
		Survival: mode == worldstate.Survival || mode == worldstate.Adventure,
	})
}

// use begins judging one use_item_on. The number of a use in the list is its action.
func (s *replaySession) use(pk *wire.UseItemOn, at time.Duration) {
	s.judge(false)
	u := replayedUse{AtMillis: at.Milliseconds(), Sequence: pk.Sequence, Cell: pk.Pos}
	p, err := s.placement(pk, &u)
	if err == nil {
		p.Action = useID(len(s.out.Uses))
		err = s.evidence.UseSent(p)
	}
	if err != nil {
		u.Why = err.Error()
	}
	s.out.Uses = append(s.out.Uses, u)
}

// useID numbers actions from 1.
func useID(index int) (a effects.ActionID) {
	binary.BigEndian.PutUint64(a[8:], uint64(index)+1)
	return a
}

// placement works out what a use is meant to do, by the world and the inventory as the server had told them.
func (s *replaySession) placement(pk *wire.UseItemOn, u *replayedUse) (effects.Placement, error) {
	p := effects.Placement{Sequence: pk.Sequence, Clicked: pk.Pos, Beside: pk.Pos.Neighbour(pk.Face), Slot: int8(s.held)}
	inv := s.mirror.View().Inventory()
	if s.held < 0 || s.held > 8 || !inv.Slots[worldstate.SlotHotbar+int(s.held)].Known {
		return p, fmt.Errorf("the server has not told what was in hand")
	}
	stack := inv.Slots[worldstate.SlotHotbar+int(s.held)].Stack
	p.Item, p.SlotCount = stack.Item, stack.Count
	if item := s.reg.ItemByID(stack.Item); item != nil && !stack.Empty() {
		u.Item = item.Name
	}
	click := placement.Click{Pos: pk.Pos, Face: pk.Face, Cursor: pk.Cursor, Inside: pk.Inside}
	cells, err := placement.Predict(s.reg, s.mirror.View(), stack.Item, click, s.look, s.sneak)
	if err != nil {
		return p, fmt.Errorf("what it would do cannot be foretold: %w", err)
	}
	for _, c := range cells {
		p.Cells = append(p.Cells, effects.Cell{Pos: c.Pos, From: c.From, To: c.To, Masked: c.Masked})
	}
	u.Cell, u.State = cells[0].Pos, s.reg.FormatState(cells[0].To)
	p.OtherBefore, p.OtherKnown = s.mirror.View().Block(p.Other())
	return p, nil
}

// found writes verdicts beside their uses.
func (s *replaySession) found(f effects.Findings) {
	for _, n := range f.Notices {
		s.out.Notices = append(s.out.Notices, n.Code)
	}
	for _, v := range f.Settled {
		i := int(binary.BigEndian.Uint64(v.Action[8:])) - 1
		if i < 0 || i >= len(s.out.Uses) {
			continue
		}
		u := &s.out.Uses[i]
		u.Verdict, u.Grade, u.Attribution, u.Code = v.Verdict, v.Grade, v.Attribution, v.Code
	}
	s.used = s.evidence.Used()
}

// cut ends the evidence with the connection or the world; what is open stays unverified.
func (s *replaySession) cut() {
	if s.evidence == nil {
		return
	}
	for _, o := range s.evidence.Cut() {
		s.out.Uses[binary.BigEndian.Uint64(o.Action[8:])-1].Code = effects.CodeCut
	}
	s.evidence = nil
}

// end closes the session.
func (s *replaySession) end() {
	s.cut()
	v := s.mirror.View()
	me := v.Self()
	o := &s.out
	o.Facts = uint64(v.Sequence())
	o.Account, o.Dimension, o.GameMode = me.Name, v.DimensionName(), gameModeName(me.GameMode)
	o.Position, o.Placed, o.Dead = me.Position, me.Placed, me.Dead
	o.Columns, o.Entities, o.Players = len(v.Columns()), len(v.Entities()), len(v.Players())
	o.Inventory = v.Inventory().Known
	o.WorldAge, _ = v.WorldAge()
	digest := v.Digest()
	o.Digest = hex.EncodeToString(digest[:])
}

func gameModeName(m worldstate.GameMode) string {
	switch m {
	case worldstate.Survival:
		return "survival"
	case worldstate.Creative:
		return "creative"
	case worldstate.Adventure:
		return "adventure"
	case worldstate.Spectator:
		return "spectator"
	}
	return "game mode unknown"
}
