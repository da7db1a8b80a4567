package journal

import (
	"encoding/binary"
	"fmt"

	"blockworld/effects"
	"blockworld/sentinel"
)

// Mission is what a mission rests on across restarts. Plan, server, bot and plot never change; State and Options may.
type Mission struct {
	ID        effects.MissionID
	Server    string // server identity
	Scope     string // account and address, for play entries
	Dimension string
	Plan      effects.Digest // of the plan's canonical form
	Steps     uint32
	Plot      sentinel.Plot
	Budgets   effects.Budgets // limits; a mark's Spend counts against them. 0 allows none.
	State     MissionState
	Options   []byte // the program's own, opaque here: blueprint, place, pipeline, reconcile ...
	UnixMilli int64  // when it was first stored
}

// MissionState is how far a mission is. Persisted: do not reorder.
type MissionState uint8

// The states.
const (
	MissionOpen     MissionState = iota // under way, or waiting
	MissionStopped                      // by its owner or by a disturbed cell; a repair may open it again
	MissionComplete                     // inspected, every cell as planned
	missionStates
)

// String returns the state's name.
func (s MissionState) String() string {
	switch s {
	case MissionOpen:
		return "open"
	case MissionStopped:
		return "stopped"
	case MissionComplete:
		return "complete"
	}
	return "invalid"
}

func (m *Mission) encode() []byte {
	e := newEncoder()
	e.raw(m.ID[:])
	e.text(m.Server)
	e.text(m.Scope)
	e.text(m.Dimension)
	e.raw(m.Plan[:])
	e.u32(m.Steps)
	e.box(m.Plot.Build)
	e.box(m.Plot.Click)
	e.box(m.Plot.Walk)
	encodeBudgets(e, m.Budgets)
	e.u8(uint8(m.State))
	e.blob(m.Options)
	e.u64(uint64(m.UnixMilli))
	return e.b
}

func decodeMission(record []byte) (Mission, error) {
	d := newDecoder(record)
	var m Mission
	d.fill(m.ID[:])
	m.Server, m.Scope, m.Dimension = d.text(), d.text(), d.text()
	d.fill(m.Plan[:])
	m.Steps = d.u32()
	m.Plot = sentinel.Plot{Build: d.box(), Click: d.box(), Walk: d.box()}
	m.Budgets = decodeBudgets(d)
	m.State = MissionState(d.enum(uint8(missionStates) - 1))
	m.Options = d.blob()
	m.UnixMilli = int64(d.u64())
	return m, d.close()
}

// PutMission stores a mission, or its new State and Options. The rest must be what was stored first, else it returns
// ErrMissionExists.
func (j *Journal) PutMission(m Mission) error {
	if m.ID == (effects.MissionID{}) || m.State >= missionStates {
		return fmt.Errorf("%w: a mission needs an id and a known state", ErrUnknownMission)
	}
	if err := m.Plot.Validate(); err != nil {
		return err
	}
	return j.update(func(t *txn) error {
		old, err := t.mission(m.ID)
		switch {
		case err == nil:
			m.UnixMilli = old.UnixMilli
			now := m
			now.State, now.Options = old.State, old.Options
			if string(now.encode()) != string(old.encode()) {
				return fmt.Errorf("%w: %s", ErrMissionExists, m.ID)
			}
		case isUnknownMission(err):
			m.UnixMilli = t.now
		default:
			return err
		}
		return t.put(missionsBucket, m.ID[:], m.encode())
	})
}

// Mission returns a stored mission, or ErrUnknownMission.
func (j *Journal) Mission(id effects.MissionID) (Mission, error) {
	return read(j, func(t *txn) (Mission, error) { return t.mission(id) })
}

// Missions returns all missions by id.
func (j *Journal) Missions() ([]Mission, error) {
	return read(j, func(t *txn) ([]Mission, error) { return collect(t, missionsBucket, nil, decodeMission) })
}

// Spent returns what the mission's marks have taken from its budgets.
func (j *Journal) Spent(id effects.MissionID) (effects.Budgets, error) {
	return read(j, func(t *txn) (effects.Budgets, error) { return t.spent(id) })
}

func (t *txn) mission(id effects.MissionID) (Mission, error) {
	record, err := t.get(missionsBucket, id[:])
	if err != nil {
		return Mission{}, err
	}
	if record == nil {
		return Mission{}, fmt.Errorf("%w %s", ErrUnknownMission, id)
	}
	return decodeMission(record)
}

func (t *txn) spent(id effects.MissionID) (effects.Budgets, error) {
	record, err := t.get(budgetsBucket, id[:])
	if record == nil || err != nil {
		return effects.Budgets{}, err
	}
	d := newDecoder(record)
	b := decodeBudgets(d)
	return b, d.close()
}

// spend takes from the mission's budgets, all or nothing.
func (t *txn) spend(m *Mission, s effects.Budgets) error {
	if s == (effects.Budgets{}) {
		return nil
	}
	used, err := t.spent(m.ID)
	if err != nil {
		return err
	}
	for _, b := range []struct {
		name        string
		used        *int32
		want, limit int32
	}{
		{"uses", &used.Uses, s.Uses, m.Budgets.Uses},
		{"items", &used.Quantity, s.Quantity, m.Budgets.Quantity},
		{"distance", &used.Distance, s.Distance, m.Budgets.Distance},
		{"characters", &used.Characters, s.Characters, m.Budgets.Characters},
	} {
		if int64(*b.used)+int64(b.want) > int64(b.limit) && b.want > 0 {
			return fmt.Errorf("%w: %d of %d %s used, %d more asked", ErrBudget, *b.used, b.limit, b.name, b.want)
		}
		*b.used += b.want
	}
	e := newEncoder()
	encodeBudgets(e, used)
	return t.put(budgetsBucket, m.ID[:], e.b)
}

// MoveCursor stores where a mission stands, after its outcomes were reported. It returns ErrCursor when the count says
// more than the journal holds as done.
func (j *Journal) MoveCursor(id effects.MissionID, c effects.Cursor) error {
	err := j.update(func(t *txn) error {
		if _, err := t.mission(id); err != nil {
			return err
		}
		done, err := t.doneSteps(id)
		if err != nil {
			return err
		}
		if c.Count > done {
			return fmt.Errorf("%w: it counts %d steps, %d are closed as done", ErrCursor, c.Count, done)
		}
		e := newEncoder()
		e.u32(c.Count)
		e.u64(c.Hash)
		return t.put(cursorsBucket, id[:], e.b)
	})
	if err == nil {
		j.at(AfterCursor)
	}
	return err
}

// Cursor returns where a mission stood when its cursor last moved; the zero cursor before the first time. After a crash
// it may lie behind what StepsOf tells.
func (j *Journal) Cursor(id effects.MissionID) (effects.Cursor, error) {
	return read(j, func(t *txn) (effects.Cursor, error) {
		record, err := t.get(cursorsBucket, id[:])
		if record == nil || err != nil {
			return effects.Cursor{}, err
		}
		d := newDecoder(record)
		c := effects.Cursor{Count: d.u32(), Hash: d.u64()}
		return c, d.close()
	})
}

// Demotion says that a mission's session proves less from here on.
type Demotion struct {
	Best      effects.Grade
	Code      effects.Code
	UnixMilli int64
}

// Demote stores a demotion; it stays for the mission.
func (j *Journal) Demote(id effects.MissionID, best effects.Grade, code effects.Code) error {
	return j.update(func(t *txn) error {
		if _, err := t.mission(id); err != nil {
			return err
		}
		e := newEncoder()
		e.u8(uint8(best))
		e.u8(uint8(code))
		e.u64(uint64(t.now))
		key := binary.BigEndian.AppendUint64(id[:len(id):len(id)], t.next(demotionsBucket, id[:]))
		return t.put(demotionsBucket, key, e.b)
	})
}

// Demotions returns a mission's demotions in their order.
func (j *Journal) Demotions(id effects.MissionID) ([]Demotion, error) {
	return read(j, func(t *txn) ([]Demotion, error) {
		return collect(t, demotionsBucket, id[:], func(record []byte) (Demotion, error) {
			d := newDecoder(record)
			m := Demotion{effects.Grade(d.enum(uint8(effects.Attributed))), effects.Code(d.u8()), int64(d.u64())}
			return m, d.close()
		})
	})
}
