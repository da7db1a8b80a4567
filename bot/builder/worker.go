package builder

import (
	"errors"
	"fmt"
	"net"
	"time"

	"blockworld/bot"
	"blockworld/bot/rejoin"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/effects/path"
	"blockworld/effects/placement"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// phase is how far a session has come in taking up the work.
type phase uint8

const (
	settling    phase = iota // waiting to stand in a loaded world with a known inventory
	counting                 // the first fence is out: its full reply says what the server has counted
	reconciling              // waiting for the cells of open actions, then judging them
	working
	over // the mission is done, or waits for its owner, or this session must end
)

// self is the bot of a site without a team.
const self mission.BotID = "bot"

// worker is one bot's work in one session. Everything in it belongs to the session's loop.
type worker struct {
	site *Site
	bot  *bot.Bot
	stop func() // ends the session

	phase    phase
	began    time.Time // when the session stood ready
	evidence *effects.Placements
	full     *rejoin.Reply // the first reply of this join
	fences   []func(*bot.Tx, effects.FactRef)
	askedAt  []moment // at which the fences without an answer went out, oldest first
	wondered moment   // the one of them that people were told of last
	table    *path.Table
	scratch  path.Scratch

	line       []*asked // placements that wait for leave, or with leave for their moment, in the order they were asked
	again      []again  // steps that the gate is asked about again later
	way        *asked   // a walk or slot change that waits for leave
	staged     *staged  // a marked placement whose look was sent and whose use comes ticks later
	walking    *walking
	equip      *equipping
	open       map[effects.ActionID]*sentUse
	gestures   []*gesture
	judged     bool             // a placement got its verdict and the work has not gone on since
	nextUse    time.Time        // the pace
	slotUsed   [9]uint64        // tick of the last use of each hotbar slot
	stocks     map[int32]*stock // of hotbar slots with uses that the server has not shown yet
	failures   map[int]int
	searched   int             // cells looked at for ways in this turn
	hiddenOK   bool            // the last walk found no place from which the clicked face is in sight
	others     []scene.Body    // who stood where when the mission was asked last
	refusals   map[int]uint64  // steps that the server refused in this session, with the tick of the use
	correction uint64          // tick of the last correction
	crowds     map[int]int     // steps that the server refused while somebody was near, with how often
	waits      map[int]bool    // those of them that wait for the place to be free
	denials    map[int]*denial // steps that the guard denied, nothing sent
	stirs      bool            // a fact that they may rest on has come since they were offered again
	stirsAt    time.Time       // when that was
	waiting    mission.Waiting
	said       mission.Waiting // what people were told that it waits for
	saidAt     time.Time
	slotAt     uint64    // tick of the last word about a slot, with Terms.Slots
	columns    int       // loaded when last looked at
	grew       uint64    // tick at which columns came last
	asideAt    time.Time // from when on the bot makes way for others again

	result Result
	err    error
}

// sentUse is a placement on its way: what its record needs when the verdict falls.
type sentUse struct {
	step int
	at   uint64 // tick
	near bool   // somebody was so near that the server may have seen them in the way
	slot int32
	drew bool // it takes an item of the slot, if it is carried out
	base effects.Outcome
}

func newWorker(s *Site, b *bot.Bot, stop func()) *worker {
	return &worker{site: s, bot: b, stop: stop, open: map[effects.ActionID]*sentUse{}, failures: map[int]int{}, denials: map[int]*denial{}, crowds: map[int]int{}, waits: map[int]bool{}, refusals: map[int]uint64{}, stocks: map[int32]*stock{}}
}

// Fact takes one fact of the server.
func (w *worker) Fact(tx *bot.Tx, f bot.Fact) {
	if w.phase == over {
		return
	}
	fact := effects.Fact{Sequence: uint64(f.Sequence), Event: f.Event}
	switch ev := f.Event.(type) {
	case worldstate.Respawned:
		w.epochChanged(tx, f)
		return
	case worldstate.ReconfigurationStarted:
		w.leave("the server took the bot back to configuration")
		return
	case worldstate.BlockChanged:
		w.observe(tx, fact)
		w.site.mission.CellChanged(w.site.Self, ev.Pos, tx.View())
		w.onward(tx)
		return
	case worldstate.SectionChanged:
		w.observe(tx, fact)
		for _, c := range ev.Changes {
			w.site.mission.CellChanged(w.site.Self, c.Pos, tx.View())
		}
		w.onward(tx)
		return
	case worldstate.ChunkLoaded:
		w.site.mission.ChunkLoaded(w.site.Self, ev.Pos, tx.View())
	case worldstate.EntityAdded:
		w.stirred(ev.Position)
	case worldstate.Teleported:
		w.corrected(tx)
	case worldstate.EntitiesRemoved, worldstate.EntityMoved, worldstate.EntityPlaced,
		worldstate.ContainerContent, worldstate.ContainerSlot, worldstate.InventorySlot:
		w.stirs = true
		if w.waiting == mission.WaitInTheWay || w.waiting == mission.WaitRefused {
			tx.Wake(1)
		}
	}
	w.slotTold(tx, f.Event)
	w.observe(tx, fact)
	w.slotShown(f.Event)
	w.equipFact(tx, fact)
	if stats, ok := f.Event.(worldstate.StatsAwarded); ok {
		w.answered(tx, stats, fact.Sequence)
	}
}

// correctedTicks is how many ticks lie at most between a use and the correction that made the server refuse it.
const correctedTicks = 40

// corrected takes note that the server has put us somewhere: until we confirm that, it refuses every use. Steps that it
// refused around this moment may be tried again, since that reason is gone.
func (w *worker) corrected(tx *bot.Tx) {
	w.correction = tx.Ticks()
	for step, sent := range w.refusals {
		w.forgive(step, sent)
	}
}

// forgive opens a refused step again if its use met a correction.
func (w *worker) forgive(step int, sent uint64) {
	w.refusals[step] = sent
	if w.correction == 0 || sent+correctedTicks < w.correction || w.correction+correctedTicks < sent {
		return
	}
	delete(w.refusals, step)
	if err := w.site.mission.Wake(step); err != nil && !errors.Is(err, mission.ErrState) {
		w.fail(err)
	}
}

// stirred wakes refused steps near something that came or went.
func (w *worker) stirred(at geom.Vec3) {
	if geom.Finite(at) {
		w.site.mission.Stirred(geom.BlockAt(at))
	}
}

// answered takes the reply to the oldest fence, and goes on at once: the pipeline has room again.
func (w *worker) answered(tx *bot.Tx, reply worldstate.StatsAwarded, seq uint64) {
	if w.phase == counting && w.full == nil {
		w.full = &rejoin.Reply{Stats: reply, Sequence: seq}
	}
	w.answeredOne()
	if len(w.fences) > 0 {
		then := w.fences[0]
		w.fences = w.fences[1:]
		if then != nil {
			then(tx, effects.FactRef{Kind: effects.FactClosingReply, Sequence: seq})
		}
	}
	w.advance(tx)
}

// observe gives a fact to the evidence machine and carries out what it finds.
func (w *worker) observe(tx *bot.Tx, f effects.Fact) {
	if w.evidence != nil {
		w.carry(tx, w.evidence.Observe(f))
	}
}

// onward goes on at once after the verdict of a use on a server without a fence, where its block update is the last word
// about it. With a fence its reply does that.
func (w *worker) onward(tx *bot.Tx) {
	if w.phase == working && !w.site.Terms.Fence && w.judged && w.evidence.Outstanding() == 0 {
		w.judged = false
		w.advance(tx)
	}
}

// Tick is one tick of the session.
func (w *worker) Tick(tx *bot.Tx) bool {
	if w.phase == over {
		return false
	}
	if w.evidence != nil {
		w.carry(tx, w.evidence.Tick(scene.Others(tx.View())))
	}
	if w.walking != nil && w.walking.walk != nil && (w.site.stopped.Load() || w.site.quits.Load()) {
		w.walking.walk.Stop()
	}
	w.gestureTick(tx)
	w.stagedTick(tx)
	w.equipTick(tx)
	w.askAgain(tx)
	w.uncrowd(tx)
	w.reconsider(tx)
	w.impatient(tx)
	w.advance(tx)
	if w.evidence != nil && w.phase != over && w.evidence.NeedFence() {
		w.fence(tx, nil)
	}
	return w.phase != over && (w.waiting.Passing() || len(w.open)+len(w.askedAt)+len(w.again) > 0) // answers have their time in ticks
}

// Ended comes when the session is over.
func (w *worker) Ended(err error) {
	if w.evidence != nil {
		w.evidence.Cut()
	}
}

// advance takes the work as far as it goes now.
func (w *worker) advance(tx *bot.Tx) {
	switch w.phase {
	case settling:
		w.settle(tx)
	case counting:
		if w.full != nil || !w.site.Terms.Fence {
			w.phase = reconciling
			w.advance(tx)
		}
	case reconciling:
		w.reconcile(tx)
	case working:
		w.work(tx)
	}
}

// settle waits until the bot stands in a loaded world, then starts the evidence of this session.
func (w *worker) settle(tx *bot.Tx) {
	v := tx.View()
	inv := v.Inventory()
	if !tx.Ready() || !w.synced(&inv) || !w.allTold(tx) || v.Self().GameMode == worldstate.GameModeUnknown {
		return
	}
	if v.DimensionName() != w.site.Record.Dimension {
		w.wait(tx, mission.Wait{For: mission.WaitOtherDimension, Step: -1})
		return
	}
	table, err := path.Load(tx.Registry().Protocol())
	if err != nil {
		w.fail(err)
		return
	}
	w.goOn()
	w.began, w.grew, w.table = tx.Now(), tx.Ticks(), table
	mode := v.Self().GameMode
	w.evidence = effects.NewPlacements(effects.Options{
		Epoch: epoch(v), Fence: w.site.Terms.Fence, Pipeline: w.site.Options.Pipeline, Least: w.site.Terms.Least,
		Used: w.site.Terms.Used, Demoted: w.site.demoted, States: w.site.States,
		Survival: mode == worldstate.Survival || mode == worldstate.Adventure,
	})
	w.site.mission.Joined(w.site.Self)
	for _, c := range v.Columns() {
		w.site.mission.ChunkLoaded(w.site.Self, c, v)
	}
	w.phase = counting
	w.fence(tx, nil)
}

// fence sends request-stats and says what to do with the reply.
func (w *worker) fence(tx *bot.Tx, then func(*bot.Tx, effects.FactRef)) {
	if !w.site.Terms.Fence {
		return
	}
	if err := tx.Out().RequestStats(); err != nil {
		w.fail(err)
		return
	}
	w.evidence.FenceSent()
	w.fences = append(w.fences, then)
	w.asked(tx)
	tx.Wake(2)
}

// epochChanged handles a respawn or a change of dimension: open brackets are over.
func (w *worker) epochChanged(tx *bot.Tx, f bot.Fact) {
	w.site.at(DimensionChange)
	if w.evidence == nil { // maybe it was brought back to where the work is
		w.goOn()
		tx.Wake(1)
		return
	}
	open := w.evidence.NextEpoch(epoch(tx.View()))
	w.staged = nil
	w.dropAll("the world changed")
	if len(open) > 0 || len(w.open) > 0 {
		w.leave("the world changed while placements were on their way")
		return
	}
	if tx.View().DimensionName() == w.site.Record.Dimension {
		w.leave("the bot came back to life")
	}
}

// leave ends the session so that Work joins again.
func (w *worker) leave(why string) {
	if w.phase == over {
		return
	}
	w.phase = over
	w.result.rejoin = true
	w.site.Report(Rejoining{why})
	w.stop()
}

// fail ends the session with an error that a rejoin does not mend, unless it is that the connection broke.
func (w *worker) fail(err error) {
	if w.phase == over {
		return
	}
	if lost := net.Error(nil); errors.As(err, &lost) { // what could not be written; the next session goes on
		err = fmt.Errorf("%w: %w", bot.ErrConnection, err)
	}
	w.phase, w.err = over, err
	w.stop()
}

// finish ends the session because the mission is done or waits for its owner.
func (w *worker) finish(r Result) {
	if w.phase == over {
		return
	}
	w.phase, w.result = over, r
	w.stop()
}

func epoch(v worldstate.View) effects.Epoch {
	e := v.Epoch()
	return effects.Epoch{Host: e.Host, World: e.World, Timeline: e.Timeline}
}

// errNoBinding wraps why a step cannot be bound now.
var errNoBinding = errors.New("cannot be bound")

// overlay is the world with some cells as they were.
type overlay struct {
	under placement.Cells
	cells map[geom.BlockPos]registry.StateID
}

// Block implements placement.Cells.
func (o overlay) Block(p geom.BlockPos) (registry.StateID, bool) {
	if s, ok := o.cells[p]; ok {
		return s, true
	}
	return o.under.Block(p)
}
