package builder

import (
	"errors"
	"fmt"
	"sync"

	"blockworld/bot/rejoin"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/sentinel/journal"
)

// Errors of a team.
var (
	// ErrTwoClaims says that two journals hold an action without a verdict for one step. Sites of one process never do that.
	ErrTwoClaims = errors.New("two actors have an unresolved action for one step")
	// ErrStranger says that a site is of none of its team's members.
	ErrStranger = errors.New("it is no member of the mission's team")
)

// Team is one mission that several bots of one process work on, each with a site and a journal of its own. A step is claimed
// by one bot at a time, in memory; what makes that exactly once across a crash is that
//
//   - a bot's sent mark is durable in its own journal before its first packet, as without a team;
//   - a step is claimed only while no member's journal holds an action for it that may have been carried out, and this is
//     read from the journals of all members before anybody works;
//   - journals are locked, so that no second process works on the mission beside this one.
//
// So after any crash the union of the journals says of each step whose it is: a mark without a verdict bars it for all until
// the bot that made the mark has joined again and judged it.
type Team struct {
	journals map[mission.BotID]*journal.Journal

	mu      sync.Mutex // held while a decision is taken, and what it decided about earlier actions is stored
	mission *mission.Mission
	plan    effects.Digest
	watched map[int]watched // unverified steps whose action a journal still holds as unverified
	working map[mission.BotID]int
}

// watched is an action with the journal that holds it.
type watched struct {
	action effects.ActionID
	in     *journal.Journal
}

// NewTeam makes a team of all its mission's members, whether they work just now or not.
func NewTeam(members map[mission.BotID]*journal.Journal) *Team {
	return &Team{journals: members, watched: map[int]watched{}, working: map[mission.BotID]int{}}
}

// Working tells whether a member is at work: its site is between the beginning and the end of Work.
func (t *Team) Working(b mission.BotID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.working[b] > 0
}

// Absent lists the members that are not at work and have sent steps which nobody can judge without them.
func (t *Team) Absent() (out []mission.BotID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mission == nil {
		return nil
	}
	seen := map[mission.BotID]bool{}
	for _, s := range t.mission.Statuses() {
		if s.State == mission.Sent && t.working[s.By] == 0 && !seen[s.By] {
			seen[s.By] = true
			out = append(out, s.By)
		}
	}
	return out
}

// shared tells whether the site's mission has other members.
func (s *Site) shared() bool { return len(s.Team.journals) > 1 }

// enter opens the mission for a site, or takes the one that is open.
func (t *Team) enter(s *Site) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.journals[s.Self] != s.Journal {
		return fmt.Errorf("%w: %q", ErrStranger, s.Self)
	}
	if t.mission != nil {
		if t.plan != s.Record.Plan || t.mission.Len() != len(s.Plan.Steps) {
			return fmt.Errorf("%w: its other actors work on another plan", ErrPlanChanged)
		}
		return nil
	}
	saved, err := t.saved(s)
	if err != nil {
		return err
	}
	m, err := mission.New(s.Plan, mission.Options{ReconcileWorld: s.Options.ReconcileWorld, States: s.States}, saved)
	if err != nil {
		return err
	}
	t.mission, t.plan = m, s.Record.Plan
	return nil
}

// saved turns the journals' steps into the mission's statuses. A step refused in an earlier run is open again: whoever
// resumes a mission says that the facts have changed.
func (t *Team) saved(s *Site) ([]mission.Status, error) {
	out := make([]mission.Status, len(s.Plan.Steps))
	for who, j := range t.journals {
		steps, err := j.StepsOf(s.Record.ID)
		if err != nil {
			return nil, err
		}
		for _, step := range steps {
			i := int(step.Key.Index)
			if i >= len(out) {
				return nil, fmt.Errorf("%w: the journal knows step %d of %d", ErrPlanChanged, i, len(out))
			}
			st := mission.Status{State: stateOf(step.Status), Generation: step.Key.Generation, Action: step.Action, By: who}
			if st.State == mission.Unverified {
				if st.Ran, err = ran(j, step.Action); err != nil {
					return nil, err
				}
			}
			if out[i], err = stronger(out[i], st); err != nil {
				return nil, fmt.Errorf("step %d: %w", i+1, err)
			}
			if out[i].By == who {
				delete(t.watched, i)
				if st.State == mission.Unverified {
					t.watched[i] = watched{step.Action, j}
				}
			}
		}
	}
	return out, nil
}

// strength orders what two journals may say of one generation of a step: what bars it before what closes it, and that before
// what leaves it open.
var strength = map[mission.State]int{
	mission.Sent: 6, mission.Unverified: 6, mission.Proven: 5, mission.Present: 4, mission.Accepted: 3, mission.Wrong: 2, mission.Pending: 1,
}

// stronger is what holds of a step that two journals know.
func stronger(a, b mission.Status) (mission.Status, error) {
	switch {
	case a.By == "" || b.Generation > a.Generation:
		return b, nil
	case b.Generation < a.Generation:
		return a, nil
	case a.By != b.By && strength[a.State] == strength[mission.Sent] && strength[b.State] == strength[mission.Sent]:
		return a, fmt.Errorf("%w: %s and %s: decide about one of them first", ErrTwoClaims, a.By, b.By)
	case strength[b.State] > strength[a.State]:
		return b, nil
	}
	return a, nil
}

// ran tells whether an unverified action is known to have been carried out.
func ran(j *journal.Journal, a effects.ActionID) (bool, error) {
	attempts, err := j.Attempts(a)
	for _, t := range attempts {
		if t.Outcome.Evidence.Ran(t.Outcome.Code) {
			return true, err
		}
	}
	return false, err
}

// next takes a bot's next decision. What it decides about unverified actions is durable before anybody can act on it.
func (t *Team) next(b mission.BotID, f mission.Facts) (mission.Decision, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.mission.Next(b, f)
	for i, a := range t.watched {
		st, ok := t.mission.Status(i)
		if !ok || st.State == mission.Unverified {
			continue
		}
		decision, stored := map[mission.State]journal.Decision{
			mission.Present: journal.Present, mission.Accepted: journal.Accept,
			mission.Pending: journal.Release, mission.Claimed: journal.Release, // open again, maybe taken up by the same decision
		}[st.State]
		if stored {
			if err := a.in.Decide(a.action, decision); err != nil {
				return d, err
			}
		}
		delete(t.watched, i)
	}
	return d, nil
}

// settled passes a durable verdict on to the mission.
func (t *Team) settled(s *Site, step int, v effects.Settled, rejoined bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.settle(s.Journal, step, v, rejoined)
}

func (t *Team) settle(in *journal.Journal, step int, v effects.Settled, rejoined bool) error {
	if err := t.mission.Settled(step, v, rejoined); err != nil {
		return err
	}
	delete(t.watched, step)
	if v.Verdict == effects.UnverifiedEffect {
		t.watched[step] = watched{v.Action, in}
	}
	return nil
}

// decide carries out an owner's decision about a step.
func (t *Team) decide(i int, change func(int) error, d journal.Decision) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	st, _ := t.mission.Status(i)
	if err := change(i); err != nil {
		return err
	}
	a, known := t.watched[i]
	delete(t.watched, i)
	if st.State != mission.Unverified || !known {
		return nil
	}
	return a.in.Decide(a.action, d)
}

// enters and leaves count a member's sessions; between them its own worker tells what becomes of its steps.
func (t *Team) enters(b mission.BotID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working[b]++
}

func (t *Team) leaves(b mission.BotID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working[b]--
}

// learn takes over verdicts that somebody else has brought into a member's journal: its single actions' session, which also
// judges what a cut has left open. Mine are the steps of the bot that asks, which has nothing on its way; the rest are those
// of members that are not at work.
func (t *Team) learn(mine mission.BotID) (n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, st := range t.mission.Statuses() {
		j := t.journals[st.By]
		if st.State != mission.Sent || j == nil || st.By != mine && t.working[st.By] > 0 {
			continue
		}
		act, err := j.Action(st.Action)
		if err != nil {
			return n, err
		}
		if act.Status == journal.StatusOpen {
			continue
		}
		o, known, err := rejoin.LastOutcome(j, st.Action)
		if err != nil || !known {
			return n, err
		}
		v := effects.Settled{Action: o.Action, Verdict: o.Verdict, Grade: o.Grade, Code: o.Code, Evidence: o.Evidence}
		if err := t.settle(j, i, v, false); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
