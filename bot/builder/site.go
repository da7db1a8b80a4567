package builder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
)

// AdapterRevision names the code that turns bindings into packets. It changes when the packets of an effect do.
const AdapterRevision = "blockworld-builder/1"

// Errors of a site.
var (
	ErrOtherServer = errors.New("this mission belongs to another server or world")
	ErrPlanChanged = errors.New("the plan is not the one the mission was started with")
)

// Terms are what a server's profile says about it, as far as building needs it.
type Terms struct {
	Offered sentinel.Capabilities // effects that may be used here
	Fence   bool                  // it answers request-stats
	Slots   bool                  // it never tells the whole inventory, only slots one by one
	Least   effects.Grade         // least grade of place_block
	Used    effects.UsedTrust     // what is known of its `used` statistic
	Policy  sentinel.Pin          // generation of profile and policy
}

// Options are the choices of a mission's owner.
type Options struct {
	Pipeline       int           // most outstanding placements, at least 1
	Rate           float64       // uses per second; 0 is as fast as the server answers
	ReconcileWorld bool          // after a full rejoin the world decides about unverified ordinary steps
	MayReplace     []string      // full names of replaceable blocks that may be built over
	Deadline       time.Time     // zero: none
	Patience       time.Duration // how long to wait for columns after a join; 0 means 10 seconds
	Stay           bool          // wait for the owner in waiting states, instead of ending with Result.Waiting
	Ahead          int           // placements that may wait for the gate's leave while others are on their way; 0: ask right before
}

// Site is a mission with everything of it that outlives a session. One goroutine works it at a time.
type Site struct {
	Journal *journal.Journal
	Record  journal.Mission // as stored in the journal
	Uses    []placement.Use // as planned, one per step
	Plan    mission.Plan
	Terms   Terms
	Options Options

	// Team is whom the mission is shared with, nil for nobody. Self is this bot among its members; empty: bot.
	Team *Team
	Self mission.BotID

	// Gate is asked before every mark; nil denies everything. Alone is the gate of a program without a control plane.
	Gate      Gate
	Principal string // who asks for the work; empty: local
	Lease     string // the controller lease it is done under; empty: the mission's own

	Report func(Event)                  // hears what people want to know; on the loop, must not block
	Used   func(effects.UsedTrust)      // hears what was learned of the `used` statistic; may be nil
	Name   func(worldstate.UUID) string // what people here call whoever has an account, empty for strangers; may be nil
	At     func(journal.Point)          // called at crash points; may be nil
	Rand   io.Reader                    // nil: crypto/rand
	Now    func() time.Time             // nil: time.Now
	States effects.States

	mission  *mission.Mission
	under    atomic.Pointer[string] // see Under
	stopped  atomic.Bool
	quits    atomic.Bool
	current  atomic.Pointer[worker]  // of the live session
	withheld map[int]bool            // steps that the gate gave no leave for, for good
	asks     int                     // questions asked of the gate by this process
	stands   map[effects.Cursor]bool // cursors since the last one that a step was lost from
	last     effects.Cursor
	entry    uint64 // number of the play entry under way
	demoted  bool
	silent   int // sessions in a row without a single answer to a fence
	index    map[*mission.Step]int
	roof     map[[2]int32]int32 // by x and z: the highest cell of the finished building
}

// The points of this package; the journal calls its own.
const (
	AfterPacket     journal.Point = "after_packet"     // the use is on the wire, no evidence yet
	AfterEvidence   journal.Point = "after_evidence"   // the verdict is known, nothing stored
	DimensionChange journal.Point = "dimension_change" // the server took the bot to another dimension
)

// Open prepares a site: it restores what the journal knows of the mission's steps. The mission's record must be in the
// journal already. Errors wrap the journal's, or ErrPlanChanged.
func (s *Site) Open() error {
	if s.Rand == nil {
		s.Rand = rand.Reader
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Report == nil {
		s.Report = func(Event) {}
	}
	if s.Gate == nil {
		s.Gate = closed{}
	}
	if s.Options.Patience <= 0 {
		s.Options.Patience = 10 * time.Second
	}
	s.Options.Pipeline = max(1, s.Options.Pipeline)
	if len(s.Uses) != len(s.Plan.Steps) || int(s.Record.Steps) != len(s.Plan.Steps) {
		return fmt.Errorf("%w: %d steps planned, %d stored", ErrPlanChanged, len(s.Plan.Steps), s.Record.Steps)
	}
	if s.Self == "" {
		s.Self = self
	}
	if s.Team == nil {
		s.Team = NewTeam(map[mission.BotID]*journal.Journal{s.Self: s.Journal})
	}
	if err := s.Team.enter(s); err != nil {
		return err
	}
	s.mission = s.Team.mission
	s.roof = map[[2]int32]int32{}
	for _, c := range s.Plan.Final {
		at := [2]int32{c.Pos.X, c.Pos.Z}
		if top, ok := s.roof[at]; !ok || c.Pos.Y > top {
			s.roof[at] = c.Pos.Y
		}
	}
	s.index = make(map[*mission.Step]int, len(s.Plan.Steps))
	for i := range s.Plan.Steps {
		s.index[s.mission.Step(i)] = i
	}
	demotions, err := s.Journal.Demotions(s.Record.ID)
	if err != nil {
		return err
	}
	s.demoted = len(demotions) > 0
	return s.learnUsed()
}

// Mission is the step machine, shared with the site's team. Its owner's decisions (Accept, Repair) may be made between two
// calls of Work.
func (s *Site) Mission() *mission.Mission { return s.mission }

// Stop is the emergency stop: the guard denies every effect from here on, and a walk stops where it is. It may be called
// from any goroutine.
func (s *Site) Stop() {
	s.stopped.Store(true)
	s.nudge()
}

// Quit ends the work in good order: nothing new is begun, a walk stops where it is, what was sent gets its verdict; then
// Work returns Result.Quit. It may be called from any goroutine.
func (s *Site) Quit() {
	s.quits.Store(true)
	s.nudge()
}

func (s *Site) principal() string {
	if s.Principal == "" {
		return "local"
	}
	return s.Principal
}

// Under puts the work under another controller lease than Lease; what was bound under the old one is bound again. It may be
// called from any goroutine.
func (s *Site) Under(lease string) { s.under.Store(&lease) }

func (s *Site) lease() string {
	if l := s.under.Load(); l != nil {
		return *l
	}
	if s.Lease == "" {
		return "mission " + s.Record.ID.String()
	}
	return s.Lease
}

// stateOf is the mission's word for what the journal stored of a step.
func stateOf(j journal.Status) mission.State {
	switch j {
	case journal.StatusOpen:
		return mission.Sent
	case journal.StatusUnverified:
		return mission.Unverified
	case journal.StatusProven:
		return mission.Proven
	case journal.StatusWrongResult:
		return mission.Wrong
	case journal.StatusPresent:
		return mission.Present
	case journal.StatusAccepted:
		return mission.Accepted
	case journal.StatusRefused, journal.StatusNotExecuted, journal.StatusReleased:
		return mission.Pending
	}
	return mission.Unverified
}

// learnUsed raises what the profile says of the `used` statistic by what the journal holds: a receipt that rests on
// the counter of this very server shows that it counts.
func (s *Site) learnUsed() error {
	if s.Terms.Used != effects.UsedExpected {
		return nil
	}
	return s.Journal.Receipts(effects.MissionID{}, func(_ uint64, r effects.Receipt) bool {
		o := r.Outcome
		if o.Server == s.Record.Server && o.Bot != ([16]byte{}) && o.Attribution == effects.AttributionCounter {
			s.Terms.Used = effects.UsedCounts
			return false
		}
		return true
	})
}

func (s *Site) at(p journal.Point) {
	if s.At != nil {
		s.At(p)
	}
}

// Entering stores a play entry; it belongs before the reply to finish_configuration.
func (s *Site) Entering() error {
	n, err := s.Journal.BeginEntry(s.Record.Scope)
	s.entry = n
	return err
}

// Entered confirms the play entry and refuses a server that is not the mission's.
func (s *Site) Entered(server string) error {
	if err := s.Journal.ConfirmEntry(s.Record.Scope, s.entry); err != nil {
		return err
	}
	if server != s.Record.Server {
		return fmt.Errorf("%w: it was started on %s, this is %s", ErrOtherServer, s.Record.Server, server)
	}
	return nil
}

// Accept closes a step without proof, by its owner's decision: accepted_unverified, which is not success.
func (s *Site) Accept(i int) error { return s.Team.decide(i, s.mission.Accept, journal.Accept) }

// Repair opens a step anew, by its owner's decision: see mission.Repair. An unverified action is released by it.
func (s *Site) Repair(i int) error { return s.Team.decide(i, s.mission.Repair, journal.Release) }

// Entry is the number of the play entry under way.
func (s *Site) Entry() uint64 { return s.entry }

// Again lets Work begin anew after Quit.
func (s *Site) Again() { s.quits.Store(false) }
