package effects

import (
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// use is one placement under way with what the server has shown of it so far.
type use struct {
	Placement
	opening  uint64 // number of the fence before it, from 1
	sentTick uint64

	opened  bool // the opening reply is in: facts count from here
	openSeq uint64

	other      *FactRef // the direct update of the cell that must not change
	otherFinal bool     // and no later one can be it
	landed     bool     // without brackets: that cell took the block
	cells      []cellSeen
	ack        *FactRef

	closed    bool // the closing reply is in
	closeSeq  uint64
	closeTick uint64
	added     bool // the closing reply shows +1 of our item and nothing else
	strange   bool // it shows something else than +0 or that
	counter   CounterChange
	noAck     bool // a fence sent later was answered and there is still no ack
	trigger   bool // its own closing reply demoted the session: it is still judged by its bracket

	outOfStep bool // without direct updates between the replies, a cell changed behind them
	near      bool // another player was within 8 blocks at some time
	settled   bool
	cut       bool // its world ended: its +1 is allowed, its facts count no longer
}

// cellSeen is what was shown of one cell of a step.
type cellSeen struct {
	shown   *FactRef // first update that counts
	exact   *FactRef // first one that shows the to-state
	wrong   *FactRef // first one that shows another state than the to-state
	changed bool     // shown in another state than the from-state
	after   *FactRef // first exact one since the send, bracket or not
	strange *FactRef // first one since the send that is neither from nor to
}

// direct tells whether both direct updates were seen between the replies.
func (u *use) direct() bool { return u.other != nil && u.cells[0].shown != nil }

// exact tells whether every cell was shown in its to-state.
func (u *use) exact() bool {
	for i := range u.cells {
		if u.cells[i].exact == nil {
			return false
		}
	}
	return true
}

// wrong tells whether a cell was shown in another state and never in its to-state.
func (u *use) wrong() bool {
	for i := range u.cells {
		if u.cells[i].wrong != nil && u.cells[i].exact == nil {
			return true
		}
	}
	return false
}

// foreign tells whether a cell was shown in a state that is neither its from-state nor its to-state.
func (u *use) foreign() bool {
	for i := range u.cells {
		if u.cells[i].strange != nil && u.cells[i].exact == nil {
			return true
		}
	}
	return false
}

func (u *use) changed() bool {
	for i := range u.cells {
		if u.cells[i].changed {
			return true
		}
	}
	return false
}

// cellShown takes one shown state of one cell. Direct is a block_update; a section update is always a broadcast.
func (p *Placements) cellShown(seq uint64, pos geom.BlockPos, s registry.StateID, direct bool) {
	for _, u := range p.uses {
		if u.settled || u.cut {
			continue
		}
		ref := FactRef{Kind: FactCell, Sequence: seq, Pos: pos, State: s}
		p.sinceSend(u, ref)
		if !u.opened {
			continue
		}
		if pos == u.Other() && direct && !u.closed {
			p.otherShown(u, ref)
		}
		for i, c := range u.Cells {
			if c.Pos == pos {
				p.stepCellShown(u, i, ref, direct)
			}
		}
	}
}

// otherShown picks the direct update of the other cell. The server sends the clicked cell first, then the one before
// its face: so for an ordinary step it is the last one before the target's, for a stacking step the first one after.
func (p *Placements) otherShown(u *use, ref FactRef) {
	ref.Kind = FactOtherCell
	target := u.cells[0].exact != nil
	stacking := u.Cells[0].Pos == u.Clicked
	if u.otherFinal || target && !stacking && u.other != nil {
		return
	}
	u.otherFinal = target
	if u.other == nil {
		u.ack = nil // an acknowledgement before the direct updates is not of this use
	}
	u.other = &ref
}

// landedElsewhere tells whether the cell that must not change took the block.
func (p *Placements) landedElsewhere(u *use) bool {
	return u.landed || u.OtherKnown && u.other != nil && p.states.Landed(u.OtherBefore, u.other.State, u.Cells[0].To)
}

// stepCellShown records a cell of the step. The target counts between the replies only; other cells count from the
// direct updates until the window closes. What changes between the replies without being direct still says that the
// cell changed.
func (p *Placements) stepCellShown(u *use, i int, ref FactRef, direct bool) {
	c, seen := u.Cells[i], &u.cells[i]
	changed := !p.states.Same(c.From, ref.State, c.Masked)
	if u.closed && changed && u.other == nil && u.cells[0].shown == nil {
		u.outOfStep = true
	}
	if !u.closed {
		seen.changed = seen.changed || changed
	}
	counts := direct && !u.closed
	if i > 0 {
		counts = u.direct()
	}
	if !counts {
		return
	}
	exact := p.states.Same(c.To, ref.State, c.Masked)
	if seen.shown == nil {
		seen.shown = &ref
		if i == 0 {
			u.ack = nil
		}
	}
	switch {
	case exact && seen.exact == nil:
		seen.exact = &ref
		if i == 0 {
			u.ack = nil
		}
	case !exact && seen.wrong == nil:
		seen.wrong = &ref
	}
}

// sinceSend records what a server without brackets shows of a use.
func (p *Placements) sinceSend(u *use, ref FactRef) {
	if ref.Pos == u.Other() && u.OtherKnown && p.observing() && p.states.Landed(u.OtherBefore, ref.State, u.Cells[0].To) {
		u.landed = true
	}
	for i, c := range u.Cells {
		if c.Pos != ref.Pos {
			continue
		}
		switch seen := &u.cells[i]; {
		case p.states.Same(c.To, ref.State, c.Masked):
			if seen.after == nil {
				seen.after = &ref
			}
		case !p.states.Same(c.From, ref.State, c.Masked):
			if seen.strange == nil {
				seen.strange = &ref
			}
		}
	}
}

// acked takes a block_changed_ack: a high-water mark over all uses handled so far.
func (p *Placements) acked(seq uint64, value int32) {
	for _, u := range p.uses {
		if u.opened && !u.cut && !u.settled && u.ack == nil && value >= u.Sequence {
			u.ack = &FactRef{Kind: FactAck, Sequence: seq, Value: value}
		}
	}
}

// replied takes an award_stats: the answer to the oldest fence on its way.
func (p *Placements) replied(seq uint64, reply worldstate.StatsAwarded) {
	if doubled(reply.Entries) {
		p.demote(seq, CodeDoubledEntry)
	}
	if !p.counters.Known() {
		if len(p.fences) == 0 {
			p.demote(seq, CodeUnaskedReply)
			return
		}
		p.counters, _ = FullCounters(reply)
		p.answer(seq)
		return
	}
	moved := p.counters.apply(reply)
	if len(p.fences) == 0 {
		p.demote(seq, CodeUnaskedReply)
		return
	}
	bracketed := p.answer(seq)
	if bracketed == nil {
		if len(moved) > 0 {
			p.demote(seq, CodeCounterMoved)
		}
		return
	}
	p.close(bracketed, seq, moved)
}

// answer matches a reply with its fence: it opens the use behind it, looks for missing acks, and returns the use that
// this reply closes, if any.
func (p *Placements) answer(seq uint64) (closing *use) {
	f := p.fences[0]
	p.fences = p.fences[1:]
	p.answered++
	p.replySeq = seq
	for _, u := range p.uses {
		switch {
		case u.opening == p.answered:
			u.opened, u.openSeq = true, seq
		case u.opening+1 == p.answered && !u.closed:
			closing = u
		case u.closed && u.ack == nil && f.tick >= u.closeTick+ackPatience:
			u.noAck = true
		}
	}
	return closing
}

// close takes the counters of a use's closing reply.
func (p *Placements) close(u *use, seq uint64, moved []usedChange) {
	u.closed, u.closeSeq, u.closeTick = true, seq, p.tick
	u.added = len(moved) == 1 && moved[0].item == u.Item && moved[0].after == moved[0].before+1
	u.strange = len(moved) > 0 && !u.added
	now := p.counters.Used(u.Item)
	u.counter = CounterChange{Item: u.Item, Before: now, After: now, Known: true}
	for _, m := range moved {
		if m.item == u.Item {
			u.counter.Before = m.before
		}
	}
	switch {
	case u.strange:
		u.trigger = !p.opt.Demoted
		p.demote(seq, CodeCounterMoved)
	case u.added && (u.cut || u.settled):
		p.counted(u)
	case u.added:
		p.counted(u)
		if !u.direct() {
			u.trigger = !p.opt.Demoted
			p.demote(seq, CodeCountedUnseen)
		} else if p.opt.Used == UsedExpected && !p.opt.Demoted {
			p.opt.Used = UsedCounts
			p.out.Notices = append(p.out.Notices, Notice{CodeUsedCounts, seq})
		}
	case p.opt.Used == UsedFrozen:
		p.maybe(u)
	}
}
