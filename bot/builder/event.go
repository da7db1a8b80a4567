package builder

import (
	"fmt"
	"time"

	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/worldstate/geom"
)

// Event is news about the work. The set is closed.
type Event interface{ builderEvent() }

// Settled is the verdict of one placement, told after it is durable.
type Settled struct {
	Step    int
	Pos     geom.BlockPos
	Verdict effects.Verdict
	Grade   effects.Grade
	Code    effects.Code
	Joined  bool // it comes from reconciling after a rejoin
}

// Denied says that the guard did not admit an action, or that the gate gave no leave; nothing was sent.
type Denied struct {
	Step       int // -1 when it is about no step
	Capability effects.Capability
	Rule       string // the guard's rule, or the gate's code
	Why        string
	Gate       bool // it was the gate
	Again      bool // and the reason may pass
}

// Waiting says that the mission does not go on by itself, and what it waits for.
type Waiting struct {
	For   mission.Waiting
	Step  int
	Short []mission.Shortage
	Who   string // with mission.WaitInTheWay: what stands there, and where
}

// Unanswered says that the server owes an answer for so long that people wonder, and what comes of it.
type Unanswered struct {
	Step int // a step whose verdict waits for it, -1 for none
	For  time.Duration
	Left time.Duration // until the bot gives the session up and joins again
}

// Working says that the mission goes on after a Waiting.
type Working struct{}

// Rejoining says that the bot leaves and joins again, and why.
type Rejoining struct{ Why string }

// Noticed is news about the session's proofs: a demotion, or what was learned of the server's counters.
type Noticed struct{ Notice effects.Notice }

// Inspected is the plan compared with the world after a fresh join.
type Inspected struct{ Inspection mission.Inspection }

// Walked says how a walk ended when it did not reach its goal.
type Walked struct {
	Step int
	Why  string
}

func (Settled) builderEvent()   {}
func (Denied) builderEvent()    {}
func (Waiting) builderEvent()   {}
func (Working) builderEvent()   {}
func (Rejoining) builderEvent() {}
func (Noticed) builderEvent()   {}
func (Inspected) builderEvent() {}
func (Walked) builderEvent()    {}

func (Unanswered) builderEvent() {}

// Words puts an event into plain words; empty for what is not worth a line.
func Words(e Event) string {
	switch e := e.(type) {
	case Settled:
		if e.Verdict == effects.Proven {
			return ""
		}
		return fmt.Sprintf("step %d at %v: %s: %s", e.Step+1, e.Pos, e.Verdict, e.Code.Words())
	case Denied:
		if e.Gate {
			return fmt.Sprintf("step %d: no leave for %s (%s): %s", e.Step+1, e.Capability, e.Rule, e.Why)
		}
		if e.Step < 0 {
			return fmt.Sprintf("%s denied by Sentinel (%s): %s", e.Capability, e.Rule, e.Why)
		}
		return fmt.Sprintf("step %d: %s denied by Sentinel (%s): %s", e.Step+1, e.Capability, e.Rule, e.Why)
	case Waiting:
		return waitingWords(e)
	case Rejoining:
		return "rejoining: " + e.Why
	case Noticed:
		return e.Notice.Code.Words()
	case Unanswered:
		text := fmt.Sprintf("the server has not answered request-stats for %s", e.For.Round(time.Second))
		if e.Step >= 0 {
			text += fmt.Sprintf(", so nobody can tell yet what became of step %d", e.Step+1)
		}
		return text + fmt.Sprintf("; in %s the bot joins again and looks", e.Left.Round(time.Second))
	case Walked:
		return fmt.Sprintf("step %d: the walk to it ended: %s", e.Step+1, e.Why)
	}
	return ""
}

// waits says what each waiting state asks of people.
var waits = map[mission.Waiting]string{
	mission.WaitOutOfItems:     "out of items: hand the bot what is listed",
	mission.WaitDead:           "the bot is dead: let it respawn (--respawn) or bring it back",
	mission.WaitHungry:         "the bot is too hungry to go on: feed it",
	mission.WaitKicked:         "kicked: see the reason above, then resume",
	mission.WaitServerAway:     "the server is away",
	mission.WaitOtherDimension: "the bot is in another dimension: bring it back",
	mission.WaitTargetOccupied: "another block stands where a step belongs: clear it",
	mission.WaitRefused:        "the server or the guard said no and nothing has changed since: see the lines above",
	mission.WaitDisturbed:      "a proven cell was changed by somebody, or the server came back from an older save: look at it, then `blockworld repair`",
	mission.WaitWrongResult:    "a step came out in another state than planned: look at it, then `blockworld repair`",
	mission.WaitInTheWay:       "somebody stands where a step belongs: let them step aside",
	mission.WaitAbsent:         "a step was sent by another bot that is away, and only that one can tell what became of it: bring it back",
	mission.WaitUnverified:     "nobody can tell whether a step was placed: look at the cell, then decide (`blockworld repair --accept`, or `--reconcile world`)",
}

func waitingWords(e Waiting) string {
	text := "waiting (" + e.For.String() + "): " + waits[e.For]
	if e.Step >= 0 {
		text += fmt.Sprintf(" (step %d", e.Step+1)
		if e.Who != "" {
			text += ": " + e.Who
		}
		text += ")"
	}
	return text
}

// called says who somebody is, and where.
func (s *Site) called(b scene.Body) string {
	if s.Name != nil {
		if name := s.Name(b.UUID); name != "" {
			return fmt.Sprintf("%s at %v", name, b.At())
		}
	}
	return b.String()
}
