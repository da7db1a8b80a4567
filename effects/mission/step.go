package mission

import (
	"errors"
	"fmt"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Step is one placement of a plan, in the plan's order.
type Step struct {
	Item    registry.ItemID
	Clicked geom.BlockPos
	Cells   []effects.Cell // target first
	Stand   geom.BlockPos  // where the plan places from; the feet's cell
	After   []int          // further steps that must be done first, beside those that Clicked and Cells imply
	Closing bool           // it may shut a way (door, gate, trapdoor): done in its turn only, from the planned stand
}

// Stacking tells whether the step adds to what is in its own cell.
func (s *Step) Stacking() bool { return s.Cells[0].Pos == s.Clicked }

// FinalCell is what a cell must show at the end.
type FinalCell struct {
	Pos    geom.BlockPos
	State  registry.StateID
	Masked []string
}

// Plan is what a mission carries out.
type Plan struct {
	Steps []Step
	// Final lists every cell of the plan with its state at the end; nil takes the last step of each cell.
	Final []FinalCell
}

// State is where one step stands. Persisted: do not reorder.
type State uint8

// The states of a step. The zero value is pending.
const (
	Pending    State = iota
	Claimed          // one bot is about to place it; nothing was sent
	Sent             // a sent mark exists and no verdict: barred
	Proven           // done, with a receipt
	Present          // its cells show it, nobody can say who did it: never sent again, no receipt
	Accepted         // its owner closed it as accepted_unverified
	Refused          // the server said no, or the guard did; opens when a fact it rests on changes
	Wrong            // executed with another result: the mission stops
	Disturbed        // was done and somebody changed it: the mission stops
	Unverified       // cannot be told: barred
	stateCount
)

var stateNames = [stateCount]string{"pending", "claimed", "sent", "proven", "present", "accepted_unverified", "refused",
	"wrong_result", "disturbed", "unverified"}

// String returns the state's name.
func (s State) String() string {
	if s >= stateCount {
		return "invalid"
	}
	return stateNames[s]
}

// Done tells whether the mission need not come back to the step.
func (s State) Done() bool { return s == Proven || s == Present || s == Accepted }

// Status is what is known of one step; the journal keeps it.
type Status struct {
	State      State
	Generation uint32           // raised by every repair
	Action     effects.ActionID // of the newest sent mark
	By         BotID            // who made that mark
	Code       effects.Code     // reason of the newest verdict
	Ran        bool             // the server carried the newest action out, so it is never allowed anew by what the world shows
	Journaled  bool             // proven in this generation: its cells are in the cursor's hash
}

// Errors of the machine.
var (
	ErrPlan  = errors.New("bad plan")
	ErrStep  = errors.New("no such step")
	ErrState = errors.New("the step does not allow that now")
)

// check refuses plans that the machine could not carry out.
func (p *Plan) check() error {
	for i, s := range p.Steps {
		if len(s.Cells) == 0 {
			return fmt.Errorf("%w: step %d changes no cell", ErrPlan, i)
		}
		for _, a := range s.After {
			if a < 0 || a >= i {
				return fmt.Errorf("%w: step %d waits for step %d, which does not come before it", ErrPlan, i, a)
			}
		}
	}
	return nil
}
