package mission_test

import (
	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// wireLog is everything that one connection sent and received, in order. The oracle reads it afterwards, without the
// machines: for each use it looks for the whole set of facts that section 6 of the rules asks for.
type wireLog struct {
	sessions [][]entry
}

type entry struct {
	fence bool
	use   *effects.Placement
	event worldstate.Event
	tick  bool
}

func (l *wireLog) cut() { l.sessions = append(l.sessions, nil) }

func (l *wireLog) add(e entry) {
	n := len(l.sessions) - 1
	l.sessions[n] = append(l.sessions[n], e)
}

func (l *wireLog) tick()                    { l.add(entry{tick: true}) }
func (l *wireLog) fence()                   { l.add(entry{fence: true}) }
func (l *wireLog) use(p effects.Placement)  { l.add(entry{use: &p}) }
func (l *wireLog) event(e worldstate.Event) { l.add(entry{event: e}) }

// provable lists the uses whose own bracket proves them, over all sessions. A session that ever contradicts itself
// proves nothing from there on, nor do later ones.
func (l *wireLog) provable(frozenFrom func(session int) bool) map[effects.ActionID]bool {
	out := map[effects.ActionID]bool{}
	for i, s := range l.sessions {
		broken := bracketOracle(s, out)
		if broken || frozenFrom(i) {
			break
		}
	}
	return out
}

// bracketOracle walks one session; it returns true when the session contradicts itself somewhere.
func bracketOracle(s []entry, out map[effects.ActionID]bool) (broken bool) {
	// Pair fences with replies, in order.
	var fences, replies []int
	for i, e := range s {
		if e.fence {
			fences = append(fences, i)
		}
		if _, ok := e.event.(worldstate.StatsAwarded); ok {
			replies = append(replies, i)
		}
	}
	brokenAt := len(s)
	doom := func(at int) { brokenAt = min(brokenAt, at) }
	for k, at := range replies {
		if k >= len(fences) || fences[k] > at {
			doom(at)
			break
		}
	}
	// Replay the counters.
	counts, known := map[int32]int32{}, false
	moved := make([]map[int32]int32, len(replies))
	for k, at := range replies {
		moved[k] = map[int32]int32{}
		seen := map[int32]bool{}
		for _, st := range s[at].event.(worldstate.StatsAwarded).Entries {
			if st.Category != registry.StatCategoryUsed {
				continue
			}
			if seen[st.ID] {
				doom(at)
			}
			seen[st.ID] = true
			if d := st.Value - counts[st.ID]; d != 0 && known {
				moved[k][st.ID] = d
			}
			counts[st.ID] = st.Value
		}
		known = true
	}
	// Which fence opens which use.
	explained := map[int]bool{}
	type bracket struct {
		u           *effects.Placement
		at          int // index of the use
		open, close int // indexes of replies, -1
		k           int // number of the closing reply
	}
	var brackets []bracket
	for i, e := range s {
		if e.use == nil {
			continue
		}
		k := -1
		for j, f := range fences {
			if f < i {
				k = j
			}
		}
		b := bracket{u: e.use, at: i, open: -1, close: -1, k: k + 1}
		if k >= 0 && k < len(replies) {
			b.open = replies[k]
		}
		if k+1 < len(replies) {
			b.close = replies[k+1]
		}
		explained[k+1] = true
		brackets = append(brackets, b)
	}
	for k, at := range replies {
		if len(moved[k]) > 0 && !explained[k] && k > 0 {
			doom(at)
		}
	}
	// Each use by itself; what does not fit dooms the session.
	type proof struct {
		id   effects.ActionID
		when int
	}
	var proofs []proof
	for _, b := range brackets {
		if b.open < 0 || b.close < 0 {
			continue
		}
		m := moved[b.k]
		plus := len(m) == 1 && m[int32(b.u.Item)] == 1
		if len(m) > 0 && !plus {
			doom(b.close)
			continue
		}
		clicked, target := -1, -1
		shownOther, shownTarget := false, false
		for i := max(b.open, b.at) + 1; i < b.close; i++ {
			c, ok := s[i].event.(worldstate.BlockChanged)
			if !ok {
				continue
			}
			if c.Pos == b.u.Other() {
				shownOther = true
				if clicked < 0 {
					clicked = i
				}
			}
			if c.Pos == b.u.Cells[0].Pos {
				shownTarget = true
				if c.State == b.u.Cells[0].To && target < 0 {
					target = i
				}
			}
		}
		if plus && (!shownOther || !shownTarget) {
			doom(b.close)
			continue
		}
		if !plus || target < 0 || landedElsewhere(s, b.u, max(b.open, b.at), b.close, target) {
			continue
		}
		ack := -1
		for i := max(clicked, target) + 1; i < len(s) && ack < 0; i++ {
			if a, ok := s[i].event.(worldstate.BlockAck); ok && a.Sequence >= b.u.Sequence {
				ack = i
			}
		}
		if ack < 0 || missedAck(s, b.close, ack, fences, replies) {
			continue
		}
		end := max(ack, b.close)
		whole := true
		for _, c := range b.u.Cells[1:] {
			whole = whole && shownBetween(s, c, max(clicked, target), end)
		}
		if whole {
			proofs = append(proofs, proof{b.u.Action, end})
		}
	}
	for _, p := range proofs {
		if p.when < brokenAt {
			out[p.id] = true
		}
	}
	return brokenAt < len(s)
}

// patience is how many ticks a late fence waits: an acknowledgement may take so long on a busy machine.
const patience = 10

// missedAck tells whether a fence sent that many ticks behind the closing reply was answered before the ack came.
func missedAck(s []entry, closing, ack int, fences, replies []int) bool {
	for k, f := range fences {
		if k >= len(replies) || replies[k] > ack || f < closing {
			continue
		}
		ticks := 0
		for i := closing; i < f; i++ {
			if s[i].tick {
				ticks++
			}
		}
		if ticks >= patience {
			return true
		}
	}
	return false
}

// landedElsewhere tells whether the other cell, as shown nearest to the target's update, took the block.
func landedElsewhere(s []entry, u *effects.Placement, from, to, target int) bool {
	got, found := registry.StateID(0), false
	stacking := u.Cells[0].Pos == u.Clicked
	for i := from + 1; i < to; i++ {
		c, ok := s[i].event.(worldstate.BlockChanged)
		if !ok || c.Pos != u.Other() {
			continue
		}
		if stacking && i > target {
			got = c.State
			return simStates{}.Landed(u.OtherBefore, got, u.Cells[0].To)
		}
		if !stacking && i > target && found {
			break
		}
		got, found = c.State, true
	}
	return found && simStates{}.Landed(u.OtherBefore, got, u.Cells[0].To)
}

func shownBetween(s []entry, c effects.Cell, from, to int) bool {
	for i := from + 1; i <= to; i++ {
		switch e := s[i].event.(type) {
		case worldstate.BlockChanged:
			if e.Pos == c.Pos && e.State == c.To {
				return true
			}
		case worldstate.SectionChanged:
			for _, b := range e.Changes {
				if b.Pos == c.Pos && b.State == c.To {
					return true
				}
			}
		}
	}
	return false
}
