package journal

import (
	"crypto/sha256"
	"fmt"

	"blockworld/effects"
)

// Status is what became of an action or of a step. Persisted: do not reorder.
type Status uint8

// The statuses.
const (
	StatusOpen        Status = iota // sent, no verdict yet
	StatusUnverified                // the facts do not tell; later facts or its owner may close it
	StatusProven                    // the receipt says so; for walks and slot changes: processed
	StatusRefused                   // the server said no
	StatusNotExecuted               // the server never ran it
	StatusWrongResult               // another state came of it
	StatusPresent                   // unverified, but every cell shows its to-state after a full rejoin
	StatusAccepted                  // its owner took it as done, unverified
	StatusReleased                  // its owner let the world decide, and the world shows the state before
	statusCount
)

// String returns the status in lower case.
func (s Status) String() string {
	names := [...]string{"open", "unverified", "proven", "refused", "not_executed", "wrong_result", "present",
		"accepted_unverified", "released"}
	if s < statusCount {
		return names[s]
	}
	return "invalid"
}

// Unresolved tells whether the action still bars its cells.
func (s Status) Unresolved() bool { return s == StatusOpen || s == StatusUnverified }

// Done tells whether a step counts in the cursor and is never sent again.
func (s Status) Done() bool { return s == StatusProven || s == StatusPresent || s == StatusAccepted }

// MaySendAgain tells whether a new action may be bound for the step.
func (s Status) MaySendAgain() bool {
	return s == StatusRefused || s == StatusNotExecuted || s == StatusReleased
}

func statusOf(v effects.Verdict) Status {
	switch v {
	case effects.Proven:
		return StatusProven
	case effects.Refused:
		return StatusRefused
	case effects.NotExecuted:
		return StatusNotExecuted
	case effects.WrongResult:
		return StatusWrongResult
	}
	return StatusUnverified
}

// Action is what is kept of every action for ever.
type Action struct {
	ID        effects.ActionID
	Mission   effects.MissionID
	Binding   effects.Digest
	Step      effects.StepKey
	Places    bool // it is a placement and Step is its step
	Sequence  uint64
	UnixMilli int64
	Status    Status
	Outcome   effects.Digest // of the receipt or the newest attempt
}

func (a *Action) encode() []byte {
	e := newEncoder()
	e.raw(a.ID[:])
	e.raw(a.Mission[:])
	e.raw(a.Binding[:])
	encodeStep(e, a.Step)
	e.flag(a.Places)
	e.u64(a.Sequence)
	e.u64(uint64(a.UnixMilli))
	e.u8(uint8(a.Status))
	e.raw(a.Outcome[:])
	return e.b
}

func decodeAction(record []byte) (Action, error) {
	d := newDecoder(record)
	var a Action
	d.fill(a.ID[:])
	d.fill(a.Mission[:])
	d.fill(a.Binding[:])
	a.Step = decodeStep(d)
	a.Places = d.flag()
	a.Sequence, a.UnixMilli = d.u64(), int64(d.u64())
	a.Status = Status(d.enum(uint8(statusCount) - 1))
	d.fill(a.Outcome[:])
	return a, d.close()
}

// Action returns what is known of an action, or ErrUnknownAction.
func (j *Journal) Action(id effects.ActionID) (Action, error) {
	return read(j, func(t *txn) (Action, error) { return t.action(id) })
}

// Unresolved returns the marks of all actions of a mission without a final verdict, in the order they were sent.
func (j *Journal) Unresolved(id effects.MissionID) ([]Mark, error) {
	return read(j, func(t *txn) ([]Mark, error) {
		var out []Mark
		err := t.each(openBucket, nil, func(_, record []byte) error {
			d := newDecoder(record)
			var a effects.ActionID
			d.fill(a[:])
			if err := d.close(); err != nil {
				return err
			}
			m, err := t.mark(a)
			if err == nil && m.Binding.Mission == id {
				out = append(out, m)
			}
			return err
		})
		sortBy(out, func(m Mark) uint64 { return m.Sequence })
		return out, err
	})
}

// Newest returns the newest mark of a placement of an account at an address, settled or not: its counters are what the
// next full reply is compared with. Marks of walks and slot changes do not count: one made on the way to where an open
// placement can be seen holds the counters of after that placement. The second result is false when nothing was placed.
func (j *Journal) Newest(scope string) (Mark, bool, error) {
	m, err := read(j, func(t *txn) (Mark, error) {
		id, err := t.newest(scope)
		if err != nil || id == (effects.ActionID{}) {
			return Mark{}, err
		}
		return t.mark(id)
	})
	return m, m.Sequence != 0, err
}

// Step is the newest action of one step of a mission.
type Step struct {
	Key    effects.StepKey
	Action effects.ActionID
	Status Status
}

// StepsOf returns every step of a mission that was ever sent, in plan order, then by ordinal and generation.
func (j *Journal) StepsOf(id effects.MissionID) ([]Step, error) {
	return read(j, func(t *txn) ([]Step, error) { return collect(t, stepsBucket, id[:], decodeStepRecord) })
}

func (s *Step) encode() []byte {
	e := newEncoder()
	encodeStep(e, s.Key)
	e.raw(s.Action[:])
	e.u8(uint8(s.Status))
	return e.b
}

func decodeStepRecord(record []byte) (Step, error) {
	d := newDecoder(record)
	s := Step{Key: decodeStep(d)}
	d.fill(s.Action[:])
	s.Status = Status(d.enum(uint8(statusCount) - 1))
	return s, d.close()
}

func (t *txn) action(id effects.ActionID) (Action, error) {
	record, err := t.get(actionsBucket, id[:])
	if err != nil {
		return Action{}, err
	}
	if record == nil {
		return Action{}, fmt.Errorf("%w: %s", ErrUnknownAction, id)
	}
	return decodeAction(record)
}

func (t *txn) mark(id effects.ActionID) (Mark, error) {
	record, err := t.get(marksBucket, id[:])
	if err != nil {
		return Mark{}, err
	}
	if record == nil {
		return Mark{}, fmt.Errorf("%w: no mark of %s", ErrUnknownAction, id)
	}
	return decodeMark(record)
}

func (t *txn) newest(scope string) (id effects.ActionID, err error) {
	record, err := t.get(newestBucket, []byte(scope))
	if record == nil || err != nil {
		return id, err
	}
	d := newDecoder(record)
	d.fill(id[:])
	return id, d.close()
}

// putStep stores a step and keeps the mission's count of done steps, in which only the newest generation of a step
// counts: a repaired step counts once.
func (t *txn) putStep(mission effects.MissionID, s *Step) error {
	key := stepKey(mission, s.Key)
	all := key[:len(key)-4] // every generation
	before, err := t.newestDone(all)
	if err != nil {
		return err
	}
	if err := t.put(stepsBucket, key, s.encode()); err != nil {
		return err
	}
	after, err := t.newestDone(all)
	if err != nil || before == after {
		return err
	}
	n, err := t.doneSteps(mission)
	if err != nil {
		return err
	}
	if after {
		n++
	} else {
		n--
	}
	e := newEncoder()
	e.u32(n)
	return t.put(doneBucket, mission[:], e.b)
}

func (t *txn) newestDone(generations []byte) (bool, error) {
	key, record, err := t.last(stepsBucket, generations)
	if key == nil || err != nil {
		return false, err
	}
	s, err := decodeStepRecord(record)
	return s.Status.Done(), err
}

// doneSteps returns how many steps of a mission count in its cursor.
func (t *txn) doneSteps(id effects.MissionID) (uint32, error) {
	record, err := t.get(doneBucket, id[:])
	if record == nil || err != nil {
		return 0, err
	}
	d := newDecoder(record)
	n := d.u32()
	return n, d.close()
}

// stepKey orders a mission's steps by plan order, ordinal and generation.
func stepKey(m effects.MissionID, s effects.StepKey) []byte {
	e := encoder{}
	e.raw(m[:])
	e.u32(s.Index)
	e.u32(s.Ordinal)
	e.u32(s.Generation)
	return e.b
}

// cellKey finds the unresolved actions of one cell on one server, whichever mission they belong to.
func cellKey(server string, s effects.StepKey) []byte {
	h := sha256.Sum256([]byte(server + "\x00" + s.Dimension))
	e := encoder{}
	e.raw(h[:16])
	e.pos(s.Pos)
	return e.b
}

// openKey is the place of an unresolved action; actions without a cell stand under 28 zeros.
func openKey(cell []byte, a effects.ActionID) []byte {
	key := make([]byte, 28, 44)
	copy(key, cell)
	return append(key, a[:]...)
}
