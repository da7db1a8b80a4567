package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// common are the arguments that several tools take; each tool's schema says which.
type common struct {
	Actor       host.Name       `json:"actor"`
	Lease       string          `json:"lease"`
	Key         string          `json:"key"`
	Observation string          `json:"observation"`
	Task        host.Name       `json:"task"`
	Operation   host.OpID       `json:"operation"`
	Parent      host.OpID       `json:"parent"`
	State       operation.State `json:"state"`
	TTL         int64           `json:"ttl_seconds"`
	Why         string          `json:"why"`
	Cursor      string          `json:"cursor"`
	TimeoutMS   *int64          `json:"timeout_ms"`
	UntilEnd    bool            `json:"until_end"`
	Limit       int             `json:"limit"`
	Capability  string          `json:"capability"`
	Arguments   json.RawMessage `json:"arguments"`
	Challenge   string          `json:"challenge"`
	Digest      effects.Digest  `json:"effect_digest"`
	Approve     bool            `json:"approve"`
	Name        host.Name       `json:"name"`
	Data        string          `json:"data_base64"`
}

// envelope are the members of a capability's tool that are not the capability's own arguments.
func envelope(member string) bool {
	switch member {
	case "actor", "lease", "key", "observation", "task":
		return true
	}
	return false
}

// parse reads a call's arguments: the members that the tool's schema names, each once, and the required ones among them.
// Rest are the arguments of the capability, when the tool is one of a capability.
func (c *call) parse() (k common, rest json.RawMessage, err error) {
	args := c.args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	var all map[string]json.RawMessage
	if err := jsonv2.Unmarshal(args, &all); err != nil {
		return k, nil, invalid("the arguments are no JSON object with each member once: %v", err)
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(c.tool.schema(), &s); err != nil {
		return k, nil, controlplane.Errorf(controlplane.CodeInternal, "the schema of %s is broken", c.tool.name)
	}
	own, others := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for member, v := range all {
		if _, ok := s.Properties[member]; !ok {
			return k, nil, invalid("%s has no argument %q: its schema lists them", c.tool.name, clip(member))
		}
		if c.tool.capability.Valid() && !envelope(member) {
			others[member] = v
		} else {
			own[member] = v
		}
	}
	for _, member := range s.Required {
		if _, ok := all[member]; !ok {
			return k, nil, invalid("%s needs the argument %q", c.tool.name, member)
		}
	}
	b, err := json.Marshal(own)
	if err == nil {
		err = jsonv2.Unmarshal(b, &k, jsonv2.RejectUnknownMembers(true))
	}
	if err != nil {
		return k, nil, invalid("an argument has the wrong type: %v", err)
	}
	rest, err = json.Marshal(others)
	return k, rest, err
}

func invalid(format string, args ...any) error {
	return controlplane.Errorf(controlplane.CodeInvalid, format, args...)
}

func listActors(ctx context.Context, c *call) (any, error) {
	if _, _, err := c.parse(); err != nil {
		return nil, err
	}
	views, err := c.gw.Actors(ctx)
	out := []actorAnswer{}
	for _, v := range views {
		out = append(out, actorOf(v))
	}
	return map[string]any{"actors": out}, err
}

func observe(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	v, err := c.gw.Observe(ctx, k.Actor)
	return actorOf(v), err
}

func capabilities(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	all, err := c.gw.Capabilities(ctx, k.Actor)
	return map[string]any{"capabilities": all}, err
}

// readCapability asks one of the five reads.
func readCapability(ctx context.Context, c *call) (any, error) {
	k, args, err := c.parse()
	if err != nil {
		return nil, err
	}
	out, err := c.gw.Read(ctx, k.Actor, host.Action{Capability: c.tool.capability.String(), Arguments: args})
	return map[string]any{"untrusted": untrusted{Note: untrustedNote, Output: out}}, err
}

// request makes a submit of what was asked.
func request(k common, capability string, args json.RawMessage) (controlplane.SubmitRequest, error) {
	e, seq, err := parseObservation(k.Observation)
	return controlplane.SubmitRequest{Actor: k.Actor, Lease: k.Lease, Key: k.Key, Epoch: e, Sequence: seq, Task: k.Task,
		Action: host.Action{Capability: capability, Arguments: args}}, err
}

// act submits one of the five effects.
func act(ctx context.Context, c *call) (any, error) {
	k, args, err := c.parse()
	if err != nil {
		return nil, err
	}
	return c.submit(ctx, k, c.tool.capability.String(), args)
}

func build(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	return c.submit(ctx, k, c.tool.name, k.Arguments)
}

func (c *call) submit(ctx context.Context, k common, capability string, args json.RawMessage) (any, error) {
	r, err := request(k, capability, args)
	if err != nil {
		return nil, err
	}
	v, err := c.gw.Submit(ctx, r)
	return operationOf(v), err
}

func explain(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	r, err := request(k, k.Capability, k.Arguments)
	if err != nil {
		return nil, err
	}
	e, err := c.gw.Explain(ctx, r)
	return explanationOf(e), err
}

func acquire(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	return c.gw.Acquire(ctx, k.Actor, k.ttl())
}

func renew(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	return c.gw.Renew(ctx, k.Actor, k.Lease, k.ttl())
}

// ttl is how long a lease is asked for; two minutes when nothing is said.
func (k *common) ttl() time.Duration {
	if k.TTL == 0 {
		return 2 * time.Minute
	}
	return time.Duration(k.TTL) * time.Second
}

func release(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	return map[string]any{"released": k.Actor}, c.gw.Release(ctx, k.Actor, k.Lease)
}

func operationByID(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	v, err := c.gw.Operation(ctx, k.Operation)
	return operationOf(v), err
}

func operations(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	page, err := c.gw.Operations(ctx, controlplane.Filter{Actor: k.Actor, Task: k.Task, Parent: k.Parent, State: k.State, After: k.Cursor, Limit: k.Limit})
	return map[string]any{"operations": operationsOf(page.Operations), "cursor": page.Next}, err
}

func operationsOf(views []operation.View) []operationAnswer {
	out := []operationAnswer{}
	for _, v := range views {
		out = append(out, operationOf(v))
	}
	return out
}

// waited is the answer of wait.
type waited struct {
	Changed    bool              `json:"changed"`
	Cursor     string            `json:"cursor"`
	Operation  *operationAnswer  `json:"operation,omitempty"`
	Actor      *actorAnswer      `json:"actor,omitempty"`
	Operations []operationAnswer `json:"operations,omitempty"`
}

// maxTurns bounds how many changes one call of wait stays over.
const maxTurns = 10_000

func wait(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	r := controlplane.WaitRequest{Op: k.Operation, Actor: k.Actor, Task: k.Task, Cursor: k.Cursor, TimeoutMS: controlplane.MaxWaitMS}
	if k.TimeoutMS != nil {
		r.TimeoutMS = *k.TimeoutMS
	}
	timeout := r.TimeoutMS
	began, told := c.now(), -1
	for turn := 0; ; turn++ {
		got, err := c.gw.Wait(ctx, r)
		if err != nil {
			return nil, err
		}
		v := got.Operation
		if v != nil && v.Run != nil && c.progress != nil && v.Run.Percent > told {
			told = v.Run.Percent // progress only rises, and says nothing in the host's words
			c.progress(ctx, float64(told), v.State.String())
		}
		left := timeout - c.now().Sub(began).Milliseconds()
		if !k.UntilEnd || v == nil || settled(v) || left <= 0 || turn == maxTurns {
			return waitedOf(got), nil
		}
		r.Cursor, r.TimeoutMS = got.Cursor, left
	}
}

// settled tells whether waiting longer is of no use: it has ended, nobody can say how, or a person is asked first.
func settled(v *operation.View) bool {
	return v.Terminal || v.ReconciliationPending || v.State == operation.AwaitingConfirmation
}

func waitedOf(got controlplane.WaitResult) waited {
	w := waited{Changed: got.Changed, Cursor: got.Cursor}
	if got.Operation != nil {
		a := operationOf(*got.Operation)
		w.Operation = &a
	}
	if got.Actor != nil {
		a := actorOf(*got.Actor)
		w.Actor = &a
	}
	if len(got.Operations) > 0 {
		w.Operations = operationsOf(got.Operations)
	}
	return w
}

func confirm(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	v, err := c.gw.Confirm(ctx, controlplane.ConfirmRequest{Op: k.Operation, Challenge: k.Challenge, Digest: k.Digest, Approve: k.Approve})
	return operationOf(v), err
}

func cancel(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	v, err := c.gw.Cancel(ctx, k.Operation, k.Why)
	return operationOf(v), err
}

func stop(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	v, err := c.gw.Stop(ctx, k.Actor, k.Why)
	return actorOf(v), err
}

func clearStop(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	v, err := c.gw.ClearStop(ctx, k.Actor)
	return actorOf(v), err
}

func putBlueprint(ctx context.Context, c *call) (any, error) {
	k, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(k.Data)
	if err != nil {
		return nil, invalid("data_base64 is no base64: %v", err)
	}
	return c.gw.PutBlueprint(ctx, k.Name, data)
}

func blueprints(ctx context.Context, c *call) (any, error) {
	if _, _, err := c.parse(); err != nil {
		return nil, err
	}
	all, err := c.gw.Blueprints(ctx)
	return map[string]any{"blueprints": all}, err
}
