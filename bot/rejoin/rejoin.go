package rejoin

import (
	"time"

	"blockworld/effects"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
)

// Judge knows whose placements are judged and what their server can prove.
type Judge struct {
	Journal *journal.Journal
	Scope   string // account and address
	Used    effects.UsedTrust
	Demoted bool
	States  effects.States
	Now     func() time.Time
}

// Reply is the first award_stats of a session, which holds all counters.
type Reply struct {
	Stats    worldstate.StatsAwarded
	Sequence uint64
}

// Open is what has no verdict yet: the marks of placements, of every mission of the account on this server, and the newest
// mark of a placement of all.
type Open struct {
	Marks  []journal.Mark
	Newest journal.Mark
}

// Open reads the journal. It closes gestures that a cut interrupted.
func (j *Judge) Open() (Open, error) {
	newest, _, err := j.Journal.Newest(j.Scope)
	if err != nil {
		return Open{}, err
	}
	missions, err := j.Journal.Missions()
	if err != nil {
		return Open{}, err
	}
	open := Open{Newest: newest}
	for _, m := range missions {
		marks, err := j.Journal.Unresolved(m.ID)
		if err != nil {
			return Open{}, err
		}
		for i := range marks {
			a, err := j.Journal.Action(marks[i].Binding.Action)
			if err != nil {
				return Open{}, err
			}
			if marks[i].Scope != j.Scope || a.Status != journal.StatusOpen {
				continue
			}
			if a.Places {
				open.Marks = append(open.Marks, marks[i])
			} else if err := j.Drop(&marks[i]); err != nil {
				return Open{}, err
			}
		}
	}
	return open, nil
}

// Drop closes a walk, look, line or slot change that a cut interrupted. Nothing rests on it: it may simply be done again.
func (j *Judge) Drop(m *journal.Mark) error {
	return j.Journal.Settle(j.outcome(m, effects.Settled{Action: m.Binding.Action, Code: effects.CodeCut}))
}

// Unseen returns a mark with a cell that is not loaded, nil if there is none.
func (o *Open) Unseen(world effects.CellReader) *journal.Mark {
	for i := range o.Marks {
		cells, ok := o.Marks[i].Binding.Postcondition.(effects.CellsBecome)
		if !ok {
			continue
		}
		for _, c := range cells.Cells {
			if _, known := world.Block(c.Pos); !known {
				return &o.Marks[i]
			}
		}
		if _, known := world.Block(o.Marks[i].Clicked.Pos); !known {
			return &o.Marks[i]
		}
	}
	return nil
}

// Judge compares the server's counters with the newest mark's, all open placements together. Without a reply, on a server
// without a fence, there is nothing that could be compared.
func (j *Judge) Judge(o *Open, v worldstate.View, reply *Reply) ([]effects.Settled, error) {
	e := v.Epoch()
	epoch := effects.Epoch{Host: e.Host, World: e.World, Timeline: e.Timeline}
	if reply == nil {
		var out []effects.Settled
		for _, m := range o.Marks {
			out = append(out, effects.Settled{Action: m.Binding.Action, Code: effects.CodeCut, Evidence: effects.Evidence{Epoch: epoch}})
		}
		return out, nil
	}
	marked, err := j.marked(o)
	if err != nil {
		return nil, err
	}
	confirmed, unconfirmed, err := j.Journal.EntriesSince(j.Scope, o.Newest.Entry)
	if err != nil {
		return nil, err
	}
	// The entry of this very session has not ended yet, so the server has not counted it; the one that the mark was made
	// in has.
	age, known := v.WorldAge()
	return effects.Reconcile(effects.Rejoin{
		Epoch: epoch, Mark: o.Newest.Counters, Confirmed: int32(confirmed), Unconfirmed: int32(unconfirmed),
		Reply: reply.Stats, ReplySequence: reply.Sequence, World: v, WorldSequence: uint64(v.Sequence()),
		ClockBack: known && o.Newest.WorldAge > 0 && age < o.Newest.WorldAge,
		Used:      j.Used, Demoted: j.Demoted, States: j.States,
	}, marked), nil
}

// Store makes the verdicts durable and returns the outcomes that were stored.
func (j *Judge) Store(o *Open, settled []effects.Settled) ([]effects.Outcome, error) {
	var outcomes []effects.Outcome
	for _, s := range settled {
		if m := o.Mark(s.Action); m != nil {
			outcomes = append(outcomes, j.outcome(m, s))
		}
	}
	return outcomes, j.Journal.Settle(outcomes...)
}

// Mark returns the open mark of an action, nil when it is none.
func (o *Open) Mark(a effects.ActionID) *journal.Mark {
	for i := range o.Marks {
		if o.Marks[i].Binding.Action == a {
			return &o.Marks[i]
		}
	}
	return nil
}

func (j *Judge) outcome(m *journal.Mark, s effects.Settled) effects.Outcome {
	o := s.Outcome(OutcomeOf(m))
	o.UnixMilli = j.Now().UnixMilli()
	return o
}

// OutcomeOf is the record of a marked action before its verdict.
func OutcomeOf(m *journal.Mark) effects.Outcome {
	b := &m.Binding
	return effects.Outcome{
		Action: b.Action, Mission: b.Mission, Binding: b.Digest(), Bot: b.Bot, Server: b.Server, Step: m.Step,
		Postcondition: b.Postcondition, LeastGrade: b.LeastGrade,
	}
}
