package controlplane

import (
	"context"
	"time"

	"blockworld/effects/host"
)

// ask is one gateway request on its way: put up for the host's poll, handed out, answered once.
type ask struct {
	gateway host.Gateway
	host    *hostState
	session uint64
	until   time.Time
	again   time.Time // when it is put up once more; zero: it was already
	done    chan reply
}

// reply is the host's answer, or why there is none.
type reply struct {
	answer host.Answer
	err    error
}

// ask puts a question up for an actor's host. Under mu.
func (g *Gateway) ask(a *actorState, q host.Gateway) (*ask, error) {
	if g.closed {
		return nil, errClosed
	}
	if a == nil || !a.online() {
		return nil, offline(q.Actor)
	}
	if len(g.asks) >= MaxGateways {
		return nil, Errorf(CodeCapacity, "%d requests to hosts are under way: try again in a moment", len(g.asks))
	}
	g.lastAsk++
	q.ID = g.lastAsk
	now := g.now()
	k := &ask{gateway: q, host: a.host, session: a.host.session.Generation, until: now.Add(g.opt.AnswerWait),
		again: now.Add(g.opt.ResendAfter), done: make(chan reply, 1)}
	g.asks[q.ID] = k
	a.host.asks = append(a.host.asks, k)
	a.host.wake()
	return k, nil
}

// endAsk ends a question without an answer. Under mu.
func (g *Gateway) endAsk(k *ask, err error) {
	if g.asks[k.gateway.ID] == k {
		delete(g.asks, k.gateway.ID)
		k.done <- reply{err: err}
	}
}

// answer waits for the host. Sweep and the end of its session end the wait too.
func (g *Gateway) answer(ctx context.Context, k *ask) (host.Answer, error) {
	select {
	case r := <-k.done:
		return r.answer, r.err
	case <-ctx.Done():
		g.mu.Lock()
		g.endAsk(k, nil)
		g.mu.Unlock()
		return host.Answer{}, Errorf(CodeTimeout, "the caller went away before the host answered; nothing was stored").because(ctx.Err())
	}
}

func offline(actor host.Name) *Error {
	return Errorf(CodeUnavailable, "the host of actor %s is not there or has not published it yet: try again when the actor is online", actor).with("actor", string(actor))
}
