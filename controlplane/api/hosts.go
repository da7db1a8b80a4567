package api

import (
	"context"
	"net/http"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/token"
	"blockworld/effects"
	"blockworld/effects/host"
)

// OfSession is a host's session, as registering gave it. Its name is exported for the framework, which looks into exported
// parts of parameters only.
type OfSession struct {
	Host       host.Name `header:"Blockworld-Host" required:"true" doc:"the host, as registered" example:"bots-1"`
	Generation uint64    `header:"Blockworld-Generation" required:"true" doc:"generation of the session" example:"1"`
	Session    string    `header:"Blockworld-Session" required:"true" doc:"token of the session" maxLength:"256" example:"SESSION"`
}

type ofSessionBlueprint struct {
	OfSession
	Digest effects.Digest `path:"digest" doc:"digest of the blueprint, 64 hex digits"`
}

// session is the session that a request shows. A host's token speaks for that host alone.
func (p *OfSession) session(c Caller) (host.Session, error) {
	if err := c.speaksFor(p.Host); err != nil {
		return host.Session{}, err
	}
	return host.Session{Host: p.Host, Token: p.Session, Generation: p.Generation}, nil
}

func (c *Caller) speaksFor(h host.Name) error {
	if c.Host == "" || c.Host == h {
		return nil
	}
	no := problem(controlplane.CodeForbidden, "the token is one of host %s and speaks for no other: use that host's token", c.Host)
	no.Detail = map[string]string{"host": string(c.Host)}
	return no
}

func hostRoute(id, path, summary, text string, example any) route {
	return route{id: "host-" + id, method: http.MethodPost, path: "/v1/host/" + path, tag: "hosts", summary: summary, text: text, who: token.Host, room: hostQuick, example: example}
}

// addTell registers a route by which a host says something and hears nothing back but that it was taken.
func addTell[B any](s *Server, rt route, tell func(context.Context, host.Session, B) error) {
	add(s, rt, func(ctx context.Context, c Caller, p *OfSession, b *B) (*none, error) {
		se, err := p.session(c)
		if err != nil {
			return nil, err
		}
		return nil, tell(ctx, se, *b)
	})
}

func (s *Server) addHost() {
	h := s.hosts
	register := hostRoute("register", "register", "Introduces a host and starts a session", "An older session of the same host ends.", exampleManifest)
	register.room, register.limit = large, func(l Limits) int64 { return l.Manifest }
	add(s, register, func(ctx context.Context, c Caller, _ *noParams, m *host.Manifest) (*host.Session, error) {
		if err := c.speaksFor(m.Host); err != nil {
			return nil, err
		}
		return ptr(h.Register(ctx, *m))
	})
	add(s, hostRoute("renew", "renew", "Keeps a session", "Any other call does too.", nil),
		func(ctx context.Context, c Caller, p *OfSession, _ *none) (*host.Session, error) {
			se, err := p.session(c)
			if err != nil {
				return nil, err
			}
			return ptr(h.Renew(ctx, se))
		})
	addTell(s, hostRoute("unregister", "unregister", "Ends a session", "What is queued becomes stale, what runs has a gap.", nil),
		func(ctx context.Context, se host.Session, _ none) error { return h.Unregister(ctx, se) })
	addTell(s, hostRoute("publish", "publish", "Brings the read model of one actor", "", sample{
		"actor": "builder-1", "epoch": sample{"host": 1, "world": 1, "timeline": 1}, "sequence": 1, "server": "localhost:25565",
		"world": "minecraft:overworld", "game_tick": 100, "ready": true, "state": sample{},
	}), h.Publish)
	add(s, hostRoute("poll", "poll", "Waits for questions, operations and cancellations", "", sample{"limit": 16, "wait_ms": 0}).in(hostWaiting),
		func(ctx context.Context, c Caller, p *OfSession, b *v1.Poll) (*host.Batch, error) {
			se, err := p.session(c)
			if err != nil {
				return nil, err
			}
			return ptr(h.Poll(ctx, se, b.Limit, millis(b.Wait)))
		})
	addTell(s, hostRoute("answer", "answer", "Answers a question of the gateway", "A repeat changes nothing.",
		sample{"gateway": 1, "code": "not_ready", "message": "the bot has not joined yet"}), h.Answer)
	addTell(s, hostRoute("ack", "ack", "Takes or refuses a delivery", "A repeat changes nothing, another answer is a conflict.",
		sample{"op": zeroID, "accepted": false, "digest": zeroDigest, "code": "unbound", "message": "the plan is not known here any more"}), h.Ack)
	addTell(s, hostRoute("run", "run", "Reports progress", "It may be left out.",
		sample{"op": zeroID, "progress_seq": 1, "percent": 40, "note": "placing"}), h.Run)
	addTell(s, hostRoute("outcome", "outcome", "Reports the one outcome of an operation", "A repeat changes nothing, another outcome is a conflict.",
		sample{"op": zeroID, "status": "failed", "code": "refused", "message": "the server refused it", "sent": true}), h.Outcome)
	add(s, hostRoute("submit-child", "children", "Submits a child of a macro", "An ordinary operation with its parent's actor, lease, principal and task.",
		sample{"parent": zeroID, "key": "step-0001", "action": sample{"capability": "look_at", "arguments": sample{}}}).in(hostWaiting),
		func(ctx context.Context, c Caller, p *OfSession, b *host.Child) (*host.ChildView, error) {
			se, err := p.session(c)
			if err != nil {
				return nil, err
			}
			return ptr(h.SubmitChild(ctx, se, *b))
		})
	s.addHostBlueprint()
}

// exampleManifest is a host with one actor that can speak.
var exampleManifest = sample{
	"host": "bots-1", "revision": "1", "authority": "client-advisory",
	"actors": []sample{{
		"id": "builder-1", "server": "", "account": "Builder", "mode": "attached",
		"capabilities": []sample{{
			"name": "say", "kind": "effect", "risk": "low", "cancellation": "unsupported_once_sent", "time_budget_ms": 5000,
			"grade": "acknowledged", "least_grade": "acknowledged", "rollback": "not_reversible",
			"schema": sample{"type": "object", "additionalProperties": false, "required": []string{"text"}, "properties": sample{"text": sample{"type": "string"}}},
		}},
	}},
}

// addHostBlueprint is apart from the others for its answer is bytes, not JSON.
func (s *Server) addHostBlueprint() {
	rt := hostRoute("blueprint", "blueprints/{digest}", "Fetches a blueprint that a macro names", "", nil)
	rt.method = http.MethodGet
	addStream(s, rt, "application/octet-stream", nil,
		func(ctx context.Context, w http.ResponseWriter, _ *http.Request, c Caller, p *ofSessionBlueprint) error {
			se, err := p.session(c)
			if err != nil {
				return err
			}
			data, err := s.hosts.Blueprint(ctx, se, p.Digest)
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(data) // the host has gone when this fails, and asks again
			return nil
		})
}
