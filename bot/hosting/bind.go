package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/bot/login"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/effects/placement"
	"blockworld/sentinel"
)

// mostPrepared is how many bound actions wait for their delivery; the oldest gives way.
const mostPrepared = 4096

// answer answers one question of the gateway about this actor.
func (r *runner) answer(ctx context.Context, g *host.Gateway) host.Answer {
	switch g.Ask {
	case host.AskRead:
		return r.answerRead(ctx, g)
	case host.AskBind:
		b, err := r.bind(ctx, g)
		if err != nil {
			return refusal(err)
		}
		return host.Answer{Bound: b}
	}
	return host.Answer{Code: "invalid", Message: fmt.Sprintf("%q is no question this host knows", g.Ask)}
}

// refused is a refusal with its code.
type refused struct{ code, message string }

func (e *refused) Error() string { return e.message }

func refuse(code, format string, args ...any) error {
	return &refused{code, fmt.Sprintf(format, args...)}
}

// codes are the words for errors that come from binding and carrying out.
var codes = []struct {
	err  error
	code string
}{
	{effects.ErrUnknownCapability, "unknown_capability"}, {effects.ErrBadRequest, "invalid"}, {actor.ErrNotReady, "not_ready"},
	{actor.ErrNoWay, "no_way"}, {actor.ErrNoItem, "no_such_item"}, {actor.ErrOtherSession, host.CodeUnbound},
	{bot.ErrClosed, "not_ready"}, {bot.ErrConnection, "not_ready"}, {login.ErrKicked, "not_ready"},
	{context.DeadlineExceeded, "timeout"}, {context.Canceled, "not_ready"}, {actor.ErrNoClick, "no_click"}, {ErrStopped, "stopped"},
}

// wordsOf is an error's text without its own code, which is told beside it.
func wordsOf(err error) string {
	code := codeOf(err) + ": "
	return strings.NewReplacer("denied by rule "+code, "", code, "").Replace(err.Error())
}

// codeOf is the stable word for why something was not bound or not carried out.
func codeOf(err error) string {
	var d *actor.Denied
	var own *refused
	var rejected *placement.Rejection
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &d):
		return d.Decision.Rule.String()
	case errors.As(err, &rejected):
		return string(rejected.Code)
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return "internal"
}

func refusal(err error) host.Answer {
	return host.Answer{Code: codeOf(err), Message: clip(wordsOf(err))}
}

// bind makes a bound action of a request, on the loop of the session that will carry it out.
func (r *runner) bind(ctx context.Context, g *host.Gateway) (*host.Bound, error) {
	r.mu.Lock()
	stopped, m := r.stopped, r.macro
	r.mu.Unlock()
	switch {
	case stopped:
		return nil, refuse("stopped", "the actor's emergency stop is latched here: clear it first")
	case g.Parent != (host.OpID{}):
		return r.bindChild(ctx, g)
	case g.Action.Capability == BuildStructure && r.desk != nil:
		return r.bindPrepared(ctx, g)
	case r.desk != nil:
		return nil, refuse("busy", "the actor does one prepared build, and nothing else")
	case g.Action.Capability == BuildStructure:
		return r.bindMacro(ctx, g, m)
	case m != nil:
		return nil, busy(m)
	}
	req, err := actor.Parse(g.Action.Capability, g.Action.Arguments)
	if err != nil {
		return nil, err
	}
	s, err := r.await(ctx)
	if err != nil {
		return nil, err
	}
	order := actor.Order{Op: g.Op, Principal: string(g.Principal), Lease: g.Lease}
	p, err := s.actor.Prepare(ctx, order, req)
	if r.ownDoing(err) {
		if err := s.actor.TakeWorldAsItIs(ctx); err != nil {
			return nil, err
		}
		p, err = s.actor.Prepare(ctx, order, req)
	}
	if err != nil {
		return nil, err
	}
	b, err := r.bound(ctx, &p.Binding, p.Previews, p.Summary)
	if err != nil {
		return nil, err
	}
	r.keep(p)
	return b, nil
}

// ownDoing says whether the cursor of single actions is behind because a build of ours has changed what they left: a fence
// that has got a neighbour. That is asked for once after each build.
func (r *runner) ownDoing(err error) bool {
	var d *actor.Denied
	if !errors.As(err, &d) || d.Decision.Rule != sentinel.RuleCursorStale {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	built := r.built
	r.built = false
	return built
}

// bound puts a binding into the protocol's form. An epoch that the daemon has not heard of yet is published first.
func (r *runner) bound(ctx context.Context, b *effects.Binding, previews []host.Preview, summary string) (*host.Bound, error) {
	epoch, sequence, err := r.placed(ctx)
	if err != nil {
		return nil, err
	}
	out := &host.Bound{
		Op: b.Action, Binding: b.Canonical(), Digest: b.Digest(), Precondition: b.Precondition, Epoch: epoch,
		Sequence: sequence, Effects: previews, Summary: clip(summary), ValidUntil: -1,
	}
	return out, out.Validate()
}

// placed is the present epoch with the sequence of the newest publication in it that the daemon has heard.
func (r *runner) placed(ctx context.Context) (host.Epoch, uint64, error) {
	for range 2 {
		s, registered := r.h.now()
		r.mu.Lock()
		heard, now := r.heard, r.epoch
		r.mu.Unlock()
		if heard.epoch == now && now.Valid() && (heard.token == s.Token || !registered) {
			return now, heard.sequence, nil
		}
		if err := r.publish(ctx, true); err != nil {
			return host.Epoch{}, 0, err
		}
	}
	return host.Epoch{}, 0, refuse("not_ready", "the actor has not joined its server yet")
}

// keep remembers what was bound until it is delivered.
func (r *runner) keep(p *actor.Prepared) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.prepared[p.Order.Op]; !again {
		r.bindings = append(r.bindings, p.Order.Op)
	}
	r.prepared[p.Order.Op] = p
	for len(r.bindings) > mostPrepared {
		delete(r.prepared, r.bindings[0])
		r.bindings = r.bindings[1:]
	}
}

// answerRead answers a read: nothing is sent, nothing stored.
func (r *runner) answerRead(ctx context.Context, g *host.Gateway) host.Answer {
	s := r.present()
	if s == nil || s.actor == nil {
		return host.Answer{Code: "not_ready", Message: "the actor is not on its server just now"}
	}
	req, err := actor.Parse(g.Action.Capability, g.Action.Arguments)
	if err == nil && req.Capability().Effect() {
		err = refuse("invalid", "%s is an effect: submit it as an operation", req.Capability())
	}
	if err != nil {
		return refusal(err)
	}
	res, err := s.actor.Do(ctx, req)
	if err != nil {
		return refusal(err)
	}
	out, err := json.Marshal(res)
	switch {
	case err != nil:
		return refusal(err)
	case len(out) > host.MaxState:
		return host.Answer{Code: "too_large", Message: fmt.Sprintf("the answer has %d bytes, %d go into one: ask for less, by a smaller box, a block or a limit", len(out), host.MaxState)}
	}
	return host.Answer{Output: out}
}
