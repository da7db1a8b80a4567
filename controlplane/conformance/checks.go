package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"blockworld/effects"
	"blockworld/effects/host"
)

// The checks by name. Breaches of the protocol's form are blamed on one of them.
const (
	checkRegistration = "registration"
	checkPublication  = "publication"
	checkRead         = "read"
	checkBind         = "bind"
	checkReplay       = "replayed_question"
	checkEpoch        = "stale_epoch"
	checkDelivery     = "delivery"
	checkProgress     = "progress"
	checkRedelivery   = "redelivery"
	checkTwice        = "delivered_twice"
	checkAck          = "repeated_ack"
	checkOutcome      = "repeated_outcome"
	checkUnknown      = "unknown_operation"
	checkChanged      = "changed_binding"
	checkActor        = "unknown_actor"
	checkCancel       = "cancel"
	checkStop         = "stop"
	checkClear        = "clear"
	checkSession      = "session_over"
	checkToken        = "session_token"
)

// check is one row of the table.
type check struct {
	id, about string
	needed    bool // what comes later cannot be tried without it
	run       func(context.Context, *Suite) (Status, string)
}

// checks is the table, in the order in which they are made.
var checks = []check{
	{checkRegistration, "the host registers with a manifest that is in order", true, registration},
	{checkPublication, "it publishes every actor; epochs, sequences and game ticks rise", true, publication},
	{checkRead, "a read is answered, and is no operation", false, read},
	{checkBind, "an action is bound in the published epoch, and binding sends nothing", true, bindsOnly},
	{checkReplay, "a question that comes again is answered again, about the same operation", false, replayed},
	{checkEpoch, "a question under an old epoch is not bound under it", false, staleEpoch},
	{checkDelivery, "a delivery is acknowledged by its binding's digest, then has an outcome", true, delivered},
	{checkProgress, "progress reports rise", false, progress},
	{checkRedelivery, "an operation that has ended and comes again is not carried out again, and has the same outcome", false, redelivered},
	{checkTwice, "an operation that comes twice at once is carried out once", false, twice},
	{checkAck, "an acknowledgement whose answer got lost is said again, the same", false, ackAgain},
	{checkOutcome, "an outcome whose answer got lost is said again, the same", false, outcomeAgain},
	{checkUnknown, "an operation that was never bound here is refused, and nothing is sent", false, unknownOperation},
	{checkChanged, "a delivery with another binding than was bound is refused, and nothing is sent", false, changedBinding},
	{checkActor, "a question about an actor of nobody's is refused", false, unknownActor},
	{checkCancel, "a cancelled operation has one outcome; cancelling what is not there does nothing", false, cancelled},
	{checkStop, "after an emergency stop nothing is carried out", false, stopped},
	{checkClear, "after the stop is cleared the actor works again", false, cleared},
	{checkSession, "when its session is over the host registers again and publishes every actor", false, sessionOver},
	{checkToken, "the host shows no session token but those that it was given", false, func(context.Context, *Suite) (Status, string) { return Passed, "" }},
}

func failed(format string, args ...any) (Status, string) { return Failed, fmt.Sprintf(format, args...) }
func skipped(format string, args ...any) (Status, string) {
	return Skipped, fmt.Sprintf(format, args...)
}

func registration(ctx context.Context, s *Suite) (Status, string) {
	if !s.Desk.await(ctx, s.opt.Patience, func() bool { return s.Desk.manifest != nil }) {
		return failed("no host has registered within %v", s.opt.Patience)
	}
	return Passed, ""
}

// chosen finds the actor and the action that are tried.
func (s *Suite) chosen() error {
	want := s.opt.Action.Capability
	if want == "" {
		want = effects.LookAt.String()
	}
	s.Desk.mu.Lock()
	defer s.Desk.mu.Unlock()
	for _, a := range s.Desk.manifest.Actors {
		if s.opt.Actor != "" && a.ID != s.opt.Actor {
			continue
		}
		for _, c := range a.Capabilities {
			if c.Name == want && c.Kind == host.KindEffect {
				s.actor = a.ID
				return nil
			}
		}
	}
	return fmt.Errorf("no actor publishes the effect %s: name an action that one does", want)
}

func publication(ctx context.Context, s *Suite) (Status, string) {
	if err := s.chosen(); err != nil {
		return failed("%v", err)
	}
	d := s.Desk
	if !d.await(ctx, s.opt.Patience, d.allPublished) {
		return failed("not every actor of the manifest was published within %v", s.opt.Patience)
	}
	first := s.published()
	if !d.await(ctx, s.opt.Patience, func() bool {
		all := d.seen[s.actor]
		p := all[len(all)-1]
		return p.Ready && (p.Sequence > first.Sequence || p.Epoch != first.Epoch)
	}) {
		return failed("actor %s was not published again, and as ready, within %v", s.actor, s.opt.Patience)
	}
	s.action = s.opt.Action
	if s.action.Capability == "" {
		s.action = lookAt(s.published().State)
	}
	return Passed, ""
}

// allPublished tells whether every actor was published in this session. Under mu.
func (d *Desk) allPublished() bool {
	for _, a := range d.manifest.Actors {
		all := d.seen[a.ID]
		if len(all) == 0 || all[len(all)-1].generation != d.generation {
			return false
		}
	}
	return !d.ended
}

func read(ctx context.Context, s *Suite) (Status, string) {
	name := effects.WorldStatus.String()
	offers := false
	s.Desk.mu.Lock()
	for _, a := range s.Desk.manifest.Actors {
		for _, c := range a.Capabilities {
			offers = offers || a.ID == s.actor && c.Name == name && c.Kind == host.KindRead
		}
	}
	s.Desk.mu.Unlock()
	if !offers {
		return skipped("actor %s does not publish the read %s", s.actor, name)
	}
	a, ok := s.answered(ctx, s.ask(host.Gateway{Ask: host.AskRead, Actor: s.actor, Action: host.Action{Capability: name, Arguments: json.RawMessage("{}")},
		Principal: "conformance", Epoch: s.published().Epoch}), 1)
	switch {
	case !ok:
		return failed("%s is not answered within %v", name, s.opt.Patience)
	case len(a.Output) == 0:
		return failed("%s is answered by %s: %s", name, a.Code, a.Message)
	}
	return Passed, ""
}

func bindsOnly(ctx context.Context, s *Suite) (Status, string) {
	s.quiet(ctx)
	before := s.sent()
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	now := s.published()
	switch {
	case b.Op != op:
		return failed("operation %s was asked for and %s was bound", op, b.Op)
	case b.Epoch != now.Epoch:
		return failed("it was bound in epoch %v, which was not published: %v was", b.Epoch, now.Epoch)
	case b.Sequence == 0 || b.Sequence > now.Sequence:
		return failed("it was bound at publication %d, and %d is the newest", b.Sequence, now.Sequence)
	}
	s.quiet(ctx)
	if n := s.sent() - before; n != 0 {
		return failed("%d effect packets were sent for a binding", n)
	}
	return Passed, s.counting()
}

// counting says whether packets are counted.
func (s *Suite) counting() string {
	if s.opt.Sent == nil {
		return "packets are not counted here: that nothing was sent is the host's word"
	}
	return ""
}

func replayed(ctx context.Context, s *Suite) (Status, string) {
	g := s.binding(newOp())
	g.ID = s.ask(g)
	if _, ok := s.answered(ctx, g.ID, 1); !ok {
		return failed("the question is not answered within %v", s.opt.Patience)
	}
	s.Desk.say(func() { s.Desk.batch.Gateways = append(s.Desk.batch.Gateways, g) })
	if _, ok := s.answered(ctx, g.ID, 2); !ok {
		return failed("the question came again and is not answered again within %v", s.opt.Patience)
	}
	return Passed, ""
}

func staleEpoch(ctx context.Context, s *Suite) (Status, string) {
	g := s.binding(newOp())
	old := g.Epoch
	if old.Host == 1 && old.World == 1 && old.Timeline == 1 {
		old.Host = 1 << 40 // there is no older one: one that never was must do
	} else {
		old = host.Epoch{Host: 1, World: 1, Timeline: 1}
	}
	g.Epoch = old
	a, ok := s.answered(ctx, s.ask(g), 1)
	switch {
	case !ok:
		return failed("the question is not answered within %v", s.opt.Patience)
	case a.Bound != nil && a.Bound.Epoch == old:
		return failed("it was bound in epoch %v, which is not the published one", old)
	}
	return Passed, ""
}

func delivered(ctx context.Context, s *Suite) (Status, string) {
	s.quiet(ctx)
	before := s.sent()
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	s.deliver(op, *b, false)
	if status, why := s.carried(ctx, op, b); status != Passed {
		return status, why
	}
	s.quiet(ctx)
	s.cost, s.ended, s.endedID = s.sent()-before, b, op
	return Passed, s.counting()
}

// carried waits until an operation is accepted and has an outcome.
func (s *Suite) carried(ctx context.Context, op host.OpID, b *host.Bound) (Status, string) {
	if !s.until(ctx, op, acked) {
		return failed("the delivery is not acknowledged within %v", s.opt.Patience)
	}
	if a := s.of(op).acks[0]; !a.Accepted {
		return failed("the delivery is refused: %s: %s", a.Code, a.Message)
	} else if a.Digest != b.Digest {
		return failed("it is acknowledged with another digest than was bound")
	}
	if !s.until(ctx, op, over) {
		return failed("the operation has no outcome within %v", s.opt.Patience)
	}
	return Passed, ""
}

func progress(_ context.Context, s *Suite) (Status, string) {
	s.Desk.mu.Lock()
	defer s.Desk.mu.Unlock()
	for _, r := range s.Desk.ops {
		if len(r.runs) > 0 {
			return Passed, ""
		}
	}
	return skipped("the host reports no progress of this action, which it need not")
}

func redelivered(ctx context.Context, s *Suite) (Status, string) {
	before, was := s.sent(), s.of(s.endedID)
	s.deliver(s.endedID, *s.ended, true)
	if !s.until(ctx, s.endedID, func(r *record) bool { return len(r.acks) > len(was.acks) || len(r.outcomes) > len(was.outcomes) }) {
		return failed("a delivery that came again is neither acknowledged nor reported again within %v", s.opt.Patience)
	}
	s.quiet(ctx)
	if n := s.sent() - before; n != 0 {
		return failed("%d effect packets were sent again", n)
	}
	return s.same(s.endedID)
}

// same makes sure that everything that was said of an operation is the same.
func (s *Suite) same(op host.OpID) (Status, string) {
	r := s.of(op)
	for _, a := range r.acks[1:] {
		if a.Accepted != r.acks[0].Accepted || a.Digest != r.acks[0].Digest {
			return failed("it is acknowledged again, and otherwise")
		}
	}
	if r.changed {
		return failed("it had ended as %s and was reported otherwise", r.outcomes[len(r.outcomes)-1].Status)
	}
	return Passed, s.counting()
}

func twice(ctx context.Context, s *Suite) (Status, string) {
	s.quiet(ctx)
	before := s.sent()
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	s.deliver(op, *b, false)
	s.deliver(op, *b, false)
	if status, why := s.carried(ctx, op, b); status != Passed {
		return status, why
	}
	s.quiet(ctx)
	if n := s.sent() - before; n > s.cost {
		return failed("%d effect packets were sent where one carrying-out takes %d", n, s.cost)
	}
	return s.same(op)
}

func ackAgain(ctx context.Context, s *Suite) (Status, string) {
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	s.Desk.say(func() { s.Desk.ops[op].loseAck = true })
	s.deliver(op, *b, false)
	if !s.until(ctx, op, acked) {
		return failed("the delivery is not acknowledged within %v", s.opt.Patience)
	}
	s.quiet(ctx)
	s.deliver(op, *b, false)
	if !s.until(ctx, op, func(r *record) bool { return len(r.acks) > 1 }) {
		return failed("the delivery came again and is not acknowledged again within %v", s.opt.Patience)
	}
	if status, why := s.same(op); status != Passed {
		return status, why
	}
	if status, why := s.carried(ctx, op, b); status != Passed {
		return status, why
	}
	return Passed, ""
}

func outcomeAgain(ctx context.Context, s *Suite) (Status, string) {
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	s.Desk.say(func() { s.Desk.ops[op].loseEnd = true })
	s.deliver(op, *b, false)
	if status, why := s.carried(ctx, op, b); status != Passed {
		return status, why
	}
	if !s.until(ctx, op, func(r *record) bool { return len(r.outcomes) > 1 }) {
		return failed("the outcome's answer got lost and the outcome is not reported again within %v: it needs a durable outbox", s.opt.Patience)
	}
	status, why := s.same(op)
	if status == Passed {
		why = ""
	}
	return status, why
}

// refusedQuietly delivers what must not be carried out.
func (s *Suite) refusedQuietly(ctx context.Context, op host.OpID, b host.Bound) (Status, string) {
	s.quiet(ctx)
	before := s.sent()
	s.deliver(op, b, false)
	if !s.until(ctx, op, acked) {
		return failed("the delivery is neither taken nor refused within %v", s.opt.Patience)
	}
	if a := s.of(op).acks[0]; a.Accepted {
		return failed("the delivery is accepted")
	}
	s.quiet(ctx)
	if n := s.sent() - before; n != 0 {
		return failed("%d effect packets were sent", n)
	}
	if r := s.of(op); len(r.outcomes) > 0 {
		return failed("it was refused and has an outcome")
	}
	return Passed, s.counting()
}

func unknownOperation(ctx context.Context, s *Suite) (Status, string) {
	op, b := newOp(), *s.ended
	b.Op = op
	return s.refusedQuietly(ctx, op, b)
}

func changedBinding(ctx context.Context, s *Suite) (Status, string) {
	op, bound, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	b := *bound
	b.Binding = append(append([]byte{}, b.Binding...), 0)
	b.Digest = sha256.Sum256(b.Binding)
	return s.refusedQuietly(ctx, op, b)
}

func unknownActor(ctx context.Context, s *Suite) (Status, string) {
	g := s.binding(newOp())
	g.Actor = "nobody-" + host.Name(newToken()[:12])
	a, ok := s.answered(ctx, s.ask(g), 1)
	switch {
	case !ok:
		return failed("the question is not answered within %v", s.opt.Patience)
	case a.Code == "":
		return failed("it is bound")
	}
	return Passed, ""
}

func cancelled(ctx context.Context, s *Suite) (Status, string) {
	if !s.cancel(ctx, host.Cancellation{Op: newOp(), Actor: s.actor, Why: "it is not there"}) {
		return failed("the host polls no more after a cancellation of what is not there")
	}
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("after a cancellation of what is not there: %v", err)
	}
	s.deliver(op, *b, false)
	s.cancel(ctx, host.Cancellation{Op: op, Actor: s.actor, Why: "no longer wanted"})
	if !s.until(ctx, op, func(r *record) bool { return over(r) || acked(r) && !r.acks[0].Accepted }) {
		return failed("a cancelled operation is neither refused nor has it an outcome within %v", s.opt.Patience)
	}
	s.quiet(ctx)
	r := s.of(op)
	if len(r.outcomes) > 0 && r.outcomes[0].Status == host.Cancelled && r.outcomes[0].Receipt != nil {
		return failed("it is reported as cancelled, with a receipt")
	}
	status, _ := s.same(op)
	if status != Passed {
		return failed("its outcome changed")
	}
	if len(r.outcomes) == 0 {
		return Passed, "refused at the delivery"
	}
	return Passed, "ended as " + string(r.outcomes[0].Status)
}

func stopped(ctx context.Context, s *Suite) (Status, string) {
	before, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	if !s.cancel(ctx, host.Cancellation{Actor: s.actor, Why: "conformance", Stop: true}) {
		return failed("the host polls no more after an emergency stop")
	}
	s.quiet(ctx)
	sent := s.sent()
	s.deliver(before, *b, false)
	if !s.until(ctx, before, func(r *record) bool { return over(r) || acked(r) && !r.acks[0].Accepted }) {
		return failed("a delivery under the stop is neither refused nor ended within %v", s.opt.Patience)
	}
	if r := s.of(before); len(r.outcomes) > 0 && (r.outcomes[0].Sent || r.outcomes[0].Status == host.Succeeded) {
		return failed("a delivery under the stop was carried out: %s", r.outcomes[0].Status)
	}
	g := s.binding(newOp())
	a, ok := s.answered(ctx, s.ask(g), 1)
	if !ok {
		return failed("a question under the stop is not answered within %v", s.opt.Patience)
	}
	s.quiet(ctx)
	if n := s.sent() - sent; n != 0 {
		return failed("%d effect packets were sent under the stop", n)
	}
	if a.Bound != nil {
		return failed("an action is bound under the stop: refuse it, with the code stopped")
	}
	return Passed, s.counting()
}

func cleared(ctx context.Context, s *Suite) (Status, string) {
	if !s.cancel(ctx, host.Cancellation{Actor: s.actor, Why: "cleared", Clear: true}) {
		return failed("the host polls no more after the stop was cleared")
	}
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	s.deliver(op, *b, false)
	return s.carried(ctx, op, b)
}

func sessionOver(ctx context.Context, s *Suite) (Status, string) {
	d := s.Desk
	var was uint64
	d.say(func() { d.ended, was = true, d.generation })
	if !d.await(ctx, s.opt.Patience, func() bool { return d.generation > was }) {
		return failed("the host has not registered again within %v", s.opt.Patience)
	}
	if !d.await(ctx, s.opt.Patience, d.allPublished) {
		return failed("not every actor was published again within %v", s.opt.Patience)
	}
	op, b, err := s.bind(ctx)
	if err != nil {
		return failed("%v", err)
	}
	s.deliver(op, *b, false)
	return s.carried(ctx, op, b)
}
