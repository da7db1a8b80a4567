package mission

import (
	"slices"

	"blockworld/effects"
	"blockworld/worldstate/geom"
)

// Away says why a bot is not on the server.
type Away uint8

// The reasons.
const (
	AwayServer Away = iota // not connected: server away, network, not joined yet
	AwayKicked
)

// String returns the reason in words.
func (a Away) String() string {
	if a == AwayKicked {
		return "kicked"
	}
	return "server_away"
}

// Joining tells that a bot is about to connect. What others do from here on may be missing in what its join shows.
func (m *Mission) Joining(b BotID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joins++
	m.bots[b] = &botState{joining: m.joins}
}

// Joined tells that a bot has freshly joined: its mirror holds nothing older than this join, which began with Joining or,
// without that, begins now. What an earlier connection left open must be reconciled, and told by Settled, before the bot
// asks Next.
func (m *Mission) Joined(b BotID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	join := m.joins + 1
	if s := m.bots[b]; s != nil && s.joining > 0 {
		join = s.joining
	}
	m.joins = max(m.joins, join)
	m.bots[b] = &botState{join: join, saw: map[geom.BlockPos]bool{}}
}

// Left tells that a bot is off the server. Its claims go back, and what only it could not do may be tried by others; what it
// sent stays barred until a verdict.
func (m *Mission) Left(b BotID, why Away) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bots[b] = &botState{away: why}
	m.release(b)
	for i := range m.steps {
		s := &m.steps[i]
		if s.State != Refused || len(s.denied) == 0 {
			continue
		}
		if s.denied = slices.DeleteFunc(s.denied, func(o BotID) bool { return o == b }); len(s.denied) == 0 {
			m.set(i, Pending)
		}
	}
}

// release gives a bot's claims back.
func (m *Mission) release(b BotID) {
	for i := range m.steps {
		if m.steps[i].State == Claimed && m.steps[i].bot == b {
			m.set(i, Pending)
		}
	}
}

// Marked tells that the sent mark of a claimed step is durable: from here on the step is barred until a verdict.
func (m *Mission) Marked(i int, a effects.ActionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.at(i, Claimed)
	if err != nil {
		return err
	}
	s.Action, s.By, s.Code, s.Ran = a, s.bot, effects.CodeNone, false
	m.set(i, Sent)
	m.sentAt = m.joins
	return nil
}

// Denied tells that the guard would not admit a claimed step; nothing was sent. It is offered to the bot again when a fact
// near it changes, and to other bots before.
func (m *Mission) Denied(i int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.at(i, Claimed)
	if err != nil {
		return err
	}
	s.denied = append(s.denied, s.bot)
	m.set(i, Refused)
	return nil
}

// Withhold tells that a bot will get no leave for further steps: they are refused to it, and open to others.
func (m *Mission) Withhold(b BotID, which func(step int) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.steps {
		s := &m.steps[i]
		if s.State == Pending && which(i) {
			s.denied = append(s.denied, b)
			m.set(i, Refused)
		} else if s.refusedOthers(b) && which(i) {
			s.denied = append(s.denied, b)
		}
	}
}

// Settled tells the verdict of a step's action. Rejoined says that it comes from reconciling after a fresh join, so that
// an unverified step may be judged by that join's view of the world. A later verdict may still resolve an unverified
// step of the same action; verdicts of other actions are ignored with an error.
func (m *Mission) Settled(i int, s effects.Settled, rejoined bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	st, err := m.at(i, Sent, Unverified, Present)
	if err != nil {
		return err
	}
	if st.Action != s.Action {
		return ErrState
	}
	if st.State == Present && s.Verdict != effects.Proven {
		return nil // said already, and nothing better has come
	}
	st.Code, st.Ran = s.Code, s.Evidence.Ran(s.Code)
	m.set(i, after(s.Verdict))
	st.since = m.joins
	m.verdicts[st.By] = m.joins
	if b := m.bots[st.By]; rejoined && b != nil && b.join > 0 {
		st.since = b.join - 1
	} else if rejoined && st.since > 0 {
		st.since--
	}
	return nil
}

// after gives the state that a verdict leads to.
func after(v effects.Verdict) State {
	switch v {
	case effects.Proven:
		return Proven
	case effects.Refused:
		return Refused
	case effects.NotExecuted:
		return Pending
	case effects.WrongResult:
		return Wrong
	}
	return Unverified
}

// CellChanged tells that the server showed a bot a cell, changed or not. It finds disturbed steps.
func (m *Mission) CellChanged(b BotID, pos geom.BlockPos, world effects.CellReader) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checkCell(b, pos, world)
}

// Stirred tells that something other than a cell changed there: an entity came or went. It wakes refused steps that
// rest on it. Changed cells wake them by themselves.
func (m *Mission) Stirred(pos geom.BlockPos) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts[Refused] == 0 {
		return
	}
	for _, i := range m.watch[pos] {
		if m.steps[i].State == Refused {
			m.set(i, Pending)
		}
	}
}

// Wake opens a refused step because a fact it rests on has changed that the machine cannot see: a reason of the guard
// has gone, an item has come.
func (m *Mission) Wake(i int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.at(i, Refused); err != nil {
		return err
	}
	m.set(i, Pending)
	return nil
}

// ChunkLoaded tells that a column was shown to a bot: the done cells in it are compared.
func (m *Mission) ChunkLoaded(b BotID, c geom.ChunkPos, world effects.CellReader) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pos := range m.chunks[c] {
		m.checkCell(b, pos, world)
	}
}

// checkCell makes the last done step of a cell disturbed when the cell shows something that no step explains.
func (m *Mission) checkCell(b BotID, pos geom.BlockPos, world effects.CellReader) {
	steps := m.byCell[pos]
	last := -1
	for n, i := range steps {
		if s := m.steps[i].State; s == Proven || s == Present {
			last = n
		}
	}
	if last < 0 {
		return
	}
	got, ok := world.Block(pos)
	if !ok {
		return
	}
	for _, i := range steps[last:] {
		c := m.cell(i, pos)
		open := i == steps[last] || m.steps[i].State == Sent || m.steps[i].State == Unverified || m.steps[i].State == Wrong
		if open && m.states.Same(c.To, got, c.Masked) {
			if s := m.bots[b]; s != nil && s.saw != nil {
				s.saw[pos] = true
			}
			return
		}
	}
	if m.underRepair(steps[last:]) || m.lags(b, steps[last], pos) {
		return
	}
	m.set(steps[last], Disturbed)
}

// lags tells whether a bot may see a cell as it was before another bot's step: its own connection has not shown the step yet,
// and its join does not have to.
func (m *Mission) lags(b BotID, i int, pos geom.BlockPos) bool {
	s, st := m.bots[b], &m.steps[i]
	if !m.team() || s == nil || st.By == b {
		return false
	}
	return s.join <= st.doneAt && !s.saw[pos]
}

// underRepair tells whether a later layer of a cell is open by its owner's decision, which covers the first of these as
// well if it turns out to be gone (see deepen).
func (m *Mission) underRepair(layers []int) bool {
	below := m.steps[layers[0]].Generation
	return slices.ContainsFunc(layers[1:], func(i int) bool {
		s := &m.steps[i]
		return s.Generation > below && (s.State == Pending || s.State == Claimed || s.State == Refused)
	})
}

// Accept closes an unverified step by its owner's decision: accepted_unverified, which is not success.
func (m *Mission) Accept(i int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.at(i, Unverified, Wrong, Disturbed)
	switch {
	case err != nil:
		return err
	case s.State == Wrong:
		m.closeOutside(i, Accepted)
	default:
		m.set(i, Accepted)
	}
	return nil
}

// Repair opens a new generation of a disturbed step, of one with a wrong result, or of an unverified one that the server is
// known to have carried out (its block was there and is gone), by its owner's decision. It will be placed again once its cells are back in their from-state, or in that of an earlier step of the same cell, which is then
// opened too.
func (m *Mission) Repair(i int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.at(i, Disturbed, Wrong, Unverified)
	if err != nil {
		return err
	}
	if s.State == Unverified && !s.Ran {
		return ErrState
	}
	m.reopen(i)
	return nil
}

// reopen starts the next generation of a step.
func (m *Mission) reopen(i int) {
	s := &m.steps[i]
	s.Generation++
	s.Action, s.By, s.Code, s.Ran = effects.ActionID{}, "", effects.CodeNone, false
	m.set(i, Pending)
}
