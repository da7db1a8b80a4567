package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"blockworld/effects"
	"blockworld/effects/host"
)

// Options say what is tried, and how patiently.
type Options struct {
	// Action is done several times. The zero Action looks at a point beside the actor's feet (look_at), which moves nothing.
	Action   host.Action
	Actor    host.Name     // who does it; empty: the first actor that publishes the capability
	Patience time.Duration // for each thing that the host must do; 0: 30 s
	Quiet    time.Duration // how long is listened for what must not come; 0: 1 s
	Sent     func() int    // effect packets that the actor's world has got so far; nil: nobody counts
}

// Status is how a check went.
type Status string

// The statuses.
const (
	Passed  Status = "pass"
	Failed  Status = "fail"
	Skipped Status = "skipped"
)

// Result is what a check found.
type Result struct {
	Check  string `json:"check"`
	About  string `json:"about"`
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // of a failure or a skip; a note on a pass
}

// Suite is one run of all checks over one host.
type Suite struct {
	Desk *Desk
	opt  Options

	actor   host.Name
	action  host.Action
	cost    int          // effect packets that one carrying-out took
	ended   *host.Bound  // an operation that was carried out
	endedID host.OpID    // its id
	reg     []Result     // so far
	tell    func(Result) // may be nil
}

// New makes a suite; hosts come to its Desk.
func New(o Options) *Suite {
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	if o.Quiet <= 0 {
		o.Quiet = time.Second
	}
	return &Suite{Desk: NewDesk(), opt: o}
}

// Run carries out every check in order and returns what each found. Tell, if not nil, hears each as it is found.
func (s *Suite) Run(ctx context.Context, tell func(Result)) []Result {
	s.tell, s.reg = tell, nil
	able := true // what every later check rests on has passed
	for _, c := range checks {
		r := Result{Check: c.id, About: c.about}
		switch {
		case ctx.Err() != nil:
			r.Status, r.Reason = Skipped, "the run was ended before it"
		case !able && c.id != checkToken:
			r.Status, r.Reason = Skipped, "what it rests on has failed"
		default:
			r.Status, r.Reason = c.run(ctx, s)
			if faults := s.Desk.faultsOf(c.id); len(faults) > 0 {
				r.Status, r.Reason = Failed, strings.Join(faults, "; ")
			}
		}
		able = able && (!c.needed || r.Status == Passed)
		s.note(r)
	}
	s.late()
	return s.reg
}

func (s *Suite) note(r Result) {
	s.reg = append(s.reg, r)
	if s.tell != nil {
		s.tell(r)
	}
}

// late fails checks that had passed before the host broke their rule.
func (s *Suite) late() {
	for i := range s.reg {
		r := &s.reg[i]
		if faults := s.Desk.faultsOf(r.Check); len(faults) > 0 && r.Status != Failed {
			r.Status, r.Reason = Failed, "later on: "+strings.Join(faults, "; ")
			if s.tell != nil {
				s.tell(*r)
			}
		}
	}
}

// Conforms tells whether no check failed and at least one passed.
func Conforms(all []Result) bool {
	passed := false
	for _, r := range all {
		if r.Status == Failed {
			return false
		}
		passed = passed || r.Status == Passed
	}
	return passed
}

// faultsOf are the breaches that belong to a check; at most three are told.
func (d *Desk) faultsOf(check string) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, f := range d.faults {
		if f.check != check {
			continue
		}
		if n++; n <= 3 {
			out = append(out, f.text)
		}
	}
	if n > 3 {
		out = append(out, fmt.Sprintf("and %d more", n-3))
	}
	return out
}

// Things that checks do.

// ask puts a question up and returns the number of it.
func (s *Suite) ask(g host.Gateway) uint64 {
	d := s.Desk
	d.say(func() {
		d.asked++
		g.ID = d.asked
		d.asks[g.ID] = &question{Gateway: g}
		d.batch.Gateways = append(d.batch.Gateways, g)
	})
	return g.ID
}

// answered waits for the nth answer to a question.
func (s *Suite) answered(ctx context.Context, id uint64, n int) (a host.Answer, ok bool) {
	ok = s.Desk.await(ctx, s.opt.Patience, func() bool {
		all := s.Desk.asks[id].answers
		if len(all) < n {
			return false
		}
		a = all[n-1]
		return true
	})
	return a, ok
}

// binding is the question to bind the action as a new operation, in the epoch that was published last.
func (s *Suite) binding(op host.OpID) host.Gateway {
	return host.Gateway{Ask: host.AskBind, Actor: s.actor, Action: s.action, Op: op, Key: "conformance-" + op.String()[:16],
		Principal: "conformance", Lease: "conformance-lease", Task: "conformance", Epoch: s.published().Epoch}
}

// bind has the action bound as a new operation. It is asked again while the host says that it is not ready.
func (s *Suite) bind(ctx context.Context) (host.OpID, *host.Bound, error) {
	until := time.Now().Add(s.opt.Patience)
	for {
		op := newOp()
		a, ok := s.answered(ctx, s.ask(s.binding(op)), 1)
		switch {
		case !ok:
			return op, nil, fmt.Errorf("the question to bind is not answered within %v", s.opt.Patience)
		case a.Bound != nil:
			s.Desk.say(func() { s.Desk.ops[op] = &record{bound: *a.Bound} })
			return op, a.Bound, nil
		case (a.Code == "not_ready" || a.Code == "busy" || a.Code == "stopped") && time.Now().Before(until) && s.pause(ctx, s.opt.Quiet/4):
			continue
		}
		return op, nil, fmt.Errorf("the host refuses to bind %s: %s: %s (another action can be tried)", s.action.Capability, a.Code, a.Message)
	}
}

// deliver puts an operation up for the next poll.
func (s *Suite) deliver(op host.OpID, b host.Bound, accepted bool) {
	d := s.Desk
	d.say(func() {
		r := d.ops[op]
		if r == nil {
			r = &record{bound: b}
			d.ops[op] = r
		}
		r.delivered++
		d.batch.Deliveries = append(d.batch.Deliveries, host.Delivery{Op: op, Actor: s.actor, Action: s.action, Bound: b,
			Principal: "conformance", Lease: "conformance-lease", Task: "conformance", Key: "conformance-" + op.String()[:16],
			Attempt: uint32(r.delivered), Accepted: accepted})
	})
}

// until waits until something is so of an operation.
func (s *Suite) until(ctx context.Context, op host.OpID, f func(*record) bool) bool {
	return s.Desk.await(ctx, s.opt.Patience, func() bool { r := s.Desk.ops[op]; return r != nil && f(r) })
}

// of is a copy of what is known of an operation.
func (s *Suite) of(op host.OpID) (r record) {
	s.Desk.mu.Lock()
	defer s.Desk.mu.Unlock()
	if known := s.Desk.ops[op]; known != nil {
		r = *known
	}
	return r
}

func acked(r *record) bool { return len(r.acks) > 0 }
func over(r *record) bool  { return len(r.outcomes) > 0 }

// quiet listens for a while.
func (s *Suite) quiet(ctx context.Context) { s.pause(ctx, s.opt.Quiet) }

func (s *Suite) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// published is the newest publication of the actor.
func (s *Suite) published() (p host.Publication) {
	s.Desk.mu.Lock()
	defer s.Desk.mu.Unlock()
	if all := s.Desk.seen[s.actor]; len(all) > 0 {
		p = all[len(all)-1].Publication
	}
	return p
}

// cancel puts a cancellation up, and waits until the host has polled again behind it.
func (s *Suite) cancel(ctx context.Context, c host.Cancellation) bool {
	d := s.Desk
	var before int
	d.say(func() {
		d.batch.Cancellations = append(d.batch.Cancellations, c)
		before = d.polls
	})
	return d.await(ctx, s.opt.Patience, func() bool { return d.polls > before && len(d.batch.Cancellations) == 0 })
}

// sent counts effect packets, if somebody does.
func (s *Suite) sent() int {
	if s.opt.Sent == nil {
		return 0
	}
	return s.opt.Sent()
}

func newOp() (id host.OpID) {
	rand.Read(id[:])
	return id
}

func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// lookAt is the action that is tried when none is given: a point beside the actor's feet.
func lookAt(state json.RawMessage) host.Action {
	var seen struct {
		Position [3]float64 `json:"position"`
	}
	_ = json.Unmarshal(state, &seen) // a host that tells no position is asked to look at the origin
	p := seen.Position
	args, _ := json.Marshal(map[string]any{"point": []float64{p[0] + 3, p[1] + 1, p[2] + 2}}) // numbers
	return host.Action{Capability: effects.LookAt.String(), Arguments: args}
}
