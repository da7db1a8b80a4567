package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
)

func TestEveryToolSaysWhatItIs(t *testing.T) {
	c := set(t).client(person, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]*sdk.Tool{}
	for _, tool := range list.Tools {
		names[tool.Name] = tool
		raw, _ := json.Marshal(tool.InputSchema)
		var s jsonschema.Schema
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Errorf("%s: its schema is none: %v", tool.Name, err)
		} else if _, err := s.Resolve(nil); err != nil {
			t.Errorf("%s: its schema is none: %v", tool.Name, err)
		}
		if !strings.Contains(string(raw), `"additionalProperties":false`) {
			t.Errorf("%s: its schema is open", tool.Name)
		}
		if a := tool.Annotations; tool.Description == "" || a == nil || a.Title == "" || a.DestructiveHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s has no description or no hints", tool.Name)
		}
	}
	t.Run("every read is read-only and every effect is not", func(t *testing.T) {
		for name, readOnly := range map[string]bool{
			"list_actors": true, "observe": true, "list_capabilities": true, "world_status": true, "inventory_summary": true, "scan_region": true,
			"nearby_entities": true, "chat_since": true, "wait": true, "get_operation": true, "list_operations": true, "explain": true,
			"list_blueprints": true, "acquire_lease": false, "renew_lease": false, "release_lease": false, "move_to": false, "look_at": false,
			"say": false, "equip": false, "place_block": false, "build_structure": false, "confirm": false, "cancel": false,
			"emergency_stop": false, "clear_stop": false, "put_blueprint": false,
		} {
			tool := names[name]
			if tool == nil {
				t.Errorf("there is no tool %s", name)
				continue
			}
			if tool.Annotations.ReadOnlyHint != readOnly || readOnly && *tool.Annotations.DestructiveHint {
				t.Errorf("%s: read-only %v, destructive %v", name, tool.Annotations.ReadOnlyHint, *tool.Annotations.DestructiveHint)
			}
			delete(names, name)
		}
		for name := range names {
			t.Errorf("there is a tool %s that nobody knows", name)
		}
	})
	t.Run("CP-102/no tool takes a script", func(t *testing.T) {
		a := call(t, c, "build_structure", terms(t, c, map[string]any{"key": "k", "task": "t", "arguments": map[string]any{}, "script": "dig()"}))
		if !a.refused || a.str("code") != "invalid" {
			t.Errorf("%s", a.text)
		}
	})
}

func TestArgumentsAreHeldToTheirSchema(t *testing.T) {
	st := set(t)
	c := st.client(agent, nil)
	for _, bad := range []struct {
		tool string
		args map[string]any
	}{
		{"list_actors", map[string]any{"principal": "root"}},
		{"observe", map[string]any{}},
		{"observe", map[string]any{"actor": 7}},
		{"observe", map[string]any{"actor": "BOT"}},
		{"place_block", terms(t, c, map[string]any{"key": "k", "pos": []int{1, 64, 1}})},
		{"place_block", map[string]any{"actor": "bot1", "lease": "x", "key": "k", "observation": "now", "pos": []int{1, 64, 1}, "state": "minecraft:stone"}},
		{"wait", map[string]any{"timeout_ms": "long"}},
		{"wait", map[string]any{"operation": "7"}},
		{"wait", map[string]any{"actor": "bot1", "timeout_ms": 25001}},
		{"cancel", map[string]any{"operation": strings.Repeat("0", 32), "undo": true}},
		{"put_blueprint", map[string]any{"name": "a", "data_base64": "!"}},
		{"confirm", map[string]any{"operation": strings.Repeat("0", 32), "challenge": "c", "effect_digest": "zz", "approve": true}},
	} {
		if a := call(t, c, bad.tool, bad.args); !a.refused || a.str("code") != "invalid" || a.str("message") == "" {
			t.Errorf("%s %v: %s", bad.tool, bad.args, a.text)
		}
	}
	t.Run("a member that stands twice is refused", func(t *testing.T) {
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "observe", Arguments: json.RawMessage(`{"actor":"bot1","actor":"bot1"}`)})
		if err == nil && !res.IsError { // a client that writes such a thing is told so at the latest by the tool
			t.Errorf("%v", res.Content)
		}
	})
	if n := st.h.Binds(); n != 0 {
		t.Errorf("the host was asked %d times", n)
	}
}

func TestAPlacementFromTheLeaseToItsProof(t *testing.T) {
	st := set(t)
	var mu sync.Mutex
	var heard []*sdk.ProgressNotificationParams
	c := st.client(agent, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, r.Params)
	}})
	t.Run("world text is under untrusted only", func(t *testing.T) {
		if a := call(t, c, "world_status", map[string]any{"actor": "bot1"}); a.refused || !strings.Contains(a.text, evil) {
			t.Errorf("%s", a.text)
		}
		if a := call(t, c, "observe", map[string]any{"actor": "bot1"}); a.str("observation") == "" || !strings.Contains(a.text, evil) {
			t.Errorf("%s", a.text)
		}
		call(t, c, "list_actors", nil)
	})
	var op string
	t.Run("CP-73,CP-77/a placement is done when its receipt says so, and once", func(t *testing.T) {
		args := terms(t, c, placing("first"))
		v := call(t, c, "place_block", args)
		op = v.str("id")
		if v.refused || v.all["may_say_done"] != false && v.str("state") != "succeeded" {
			t.Errorf("%s", v.text)
		}
		p := &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"operation": op, "until_end": true, "timeout_ms": 20000}}
		p.SetProgressToken("watch")
		res, err := c.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		end := read(t, "wait", res).in("operation")
		if end.str("state") != "succeeded" || end.all["execution_confirmed"] != true || end.all["may_say_done"] != true {
			t.Errorf("%v", end.all)
		}
		if again := call(t, c, "place_block", args); again.str("id") != op {
			t.Errorf("the same key gives %s, was %s", again.str("id"), op)
		}
		if n := len(st.h.Sent()); n != 1 {
			t.Errorf("%d operations were carried out", n)
		}
	})
	t.Run("progress rises, in our words", func(t *testing.T) {
		mu.Lock()
		defer mu.Unlock()
		last := -1.0
		for _, p := range heard {
			if p.Progress <= last || p.ProgressToken != "watch" || strings.Contains(p.Message, evil) {
				t.Errorf("%+v after %v", p, last)
			}
			last = p.Progress
		}
	})
	t.Run("CP-78/another request under the key is a conflict", func(t *testing.T) {
		args := terms(t, c, placing("first"))
		args["pos"] = []int{2, 64, 2}
		if a := call(t, c, "place_block", args); !a.refused || a.str("code") != "conflict" {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("the host's refusals are told by their code", func(t *testing.T) {
		args := terms(t, c, placing("second"))
		args["state"] = "minecraft:bedrock"
		if a := call(t, c, "place_block", args); a.str("state") != "rejected" || a.in("rejection").str("code") != "unplaceable_state" {
			t.Errorf("%s", a.text)
		}
		args["capability"], args["arguments"] = "place_block", map[string]any{"pos": []int{1, 64, 1}, "state": "minecraft:bedrock"}
		delete(args, "pos")
		delete(args, "state")
		if a := call(t, c, "explain", args); a.in("refusal").str("code") != "unplaceable_state" {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("operations are listed, and looked up", func(t *testing.T) {
		if a := call(t, c, "list_operations", map[string]any{"actor": "bot1"}); len(a.all["operations"].([]any)) != 2 {
			t.Errorf("%s", a.text)
		}
		if a := call(t, c, "get_operation", map[string]any{"operation": op}); a.str("id") != op {
			t.Errorf("%s", a.text)
		}
	})
}

func TestConfirmationsNeedTheirOwnRight(t *testing.T) {
	st := set(t, policy.Rule{ID: "ask", Layer: policy.LayerServer, Result: policy.Confirm})
	a, p := st.client(agent, nil), st.client(person, nil)
	waiting := func(key string) (op string, challenge answer) {
		v := call(t, a, "place_block", terms(t, a, placing(key)))
		if v.str("state") != "awaiting_confirmation" || v.all["challenge"] != nil {
			t.Fatalf("%s", v.text)
		}
		return v.str("id"), call(t, p, "get_operation", map[string]any{"operation": v.str("id")}).in("challenge")
	}
	t.Run("CP-59/an agent without the scope confirms nothing", func(t *testing.T) {
		op, challenge := waiting("one")
		r := call(t, a, "confirm", map[string]any{"operation": op, "challenge": challenge.str("id"), "effect_digest": challenge.str("effect_digest"), "approve": true})
		if !r.refused || r.str("code") != "forbidden" || len(st.h.Sent()) != 0 {
			t.Errorf("%s", r.text)
		}
	})
	t.Run("CP-50,CP-61/a person's yes lets it go on, once", func(t *testing.T) {
		op, challenge := waiting("two")
		yes := map[string]any{"operation": op, "challenge": challenge.str("id"), "effect_digest": challenge.str("effect_digest"), "approve": true}
		if r := call(t, p, "confirm", yes); r.refused {
			t.Fatalf("%s", r.text)
		}
		end := call(t, a, "wait", map[string]any{"operation": op, "until_end": true, "timeout_ms": 20000}).in("operation")
		if end.str("state") != "succeeded" || end.str("approved_by") != "person" {
			t.Errorf("%v", end.all)
		}
		call(t, p, "confirm", yes)
		if n := len(st.h.Sent()); n != 1 {
			t.Errorf("%d were carried out", n)
		}
	})
	t.Run("CP-52/a yes to other effects is none", func(t *testing.T) {
		op, challenge := waiting("three")
		r := call(t, p, "confirm", map[string]any{"operation": op, "challenge": challenge.str("id"), "effect_digest": strings.Repeat("0", 64), "approve": true})
		if !r.refused || len(st.h.Sent()) != 1 {
			t.Errorf("%s", r.text)
		}
	})
}

func TestPolicysNoIsToldWithItsRule(t *testing.T) {
	st := set(t, policy.Rule{ID: "never", Layer: policy.LayerServer, Result: policy.Deny, Why: "not here"})
	c := st.client(agent, nil)
	t.Run("CP-01,CP-39/a denial names its code and rule", func(t *testing.T) {
		v := call(t, c, "place_block", terms(t, c, placing("k")))
		r := v.in("rejection")
		if v.str("state") != "rejected" || r.str("code") != "rule_denied" || !strings.Contains(fmt.Sprint(r.all["rules"]), "never") || len(st.h.Sent()) != 0 {
			t.Errorf("%s", v.text)
		}
	})
	t.Run("CP-04/an actor that may not be seen and one that is not there are answered alike", func(t *testing.T) {
		blind := agent
		blind.Actors = []string{"elsewhere"}
		b := st.client(blind, nil)
		hidden, missing := call(t, b, "observe", map[string]any{"actor": "bot1"}), call(t, b, "observe", map[string]any{"actor": "bot9"})
		if !hidden.refused || strings.ReplaceAll(hidden.text, "bot1", "X") != strings.ReplaceAll(missing.text, "bot9", "X") {
			t.Errorf("%s and %s", hidden.text, missing.text)
		}
	})
}

func TestTheEndOfACallCancelsNothing(t *testing.T) {
	st := set(t)
	c := st.client(agent, nil)
	v := call(t, c, "move_to", terms(t, c, map[string]any{"key": "walk", "pos": []int{9, 64, 9}}))
	op := v.str("id")
	t.Run("CP-81/a cancelled wait leaves the operation as it is", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, stop)
		if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"operation": op, "until_end": true, "timeout_ms": 25000}}); err == nil {
			t.Fatal("the call was not cancelled")
		}
		if a := call(t, c, "get_operation", map[string]any{"operation": op}); a.str("cancel_requested") != "" || a.all["terminal"] == true {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("CP-80/a wait that sees nothing says so and no more", func(t *testing.T) {
		first := call(t, c, "wait", map[string]any{"operation": op, "timeout_ms": 0})
		for first.in("operation").str("state") != operation.Accepted.String() {
			first = call(t, c, "wait", map[string]any{"operation": op, "cursor": first.str("cursor"), "timeout_ms": 1000})
		}
		if a := call(t, c, "wait", map[string]any{"operation": op, "cursor": first.str("cursor"), "timeout_ms": 20}); a.all["changed"] != false {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("CP-94/cancel asks for the end", func(t *testing.T) {
		if a := call(t, c, "cancel", map[string]any{"operation": op, "why": "enough"}); a.str("cancel_requested") != "enough" {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("CP-97,CP-98/the stop is its owner's, and holds", func(t *testing.T) {
		if a := call(t, c, "emergency_stop", map[string]any{"actor": "bot1", "why": "x"}); a.str("code") != "forbidden" {
			t.Errorf("%s", a.text)
		}
		p := st.client(person, nil)
		if a := call(t, p, "emergency_stop", map[string]any{"actor": "bot1", "why": "x"}); a.refused {
			t.Errorf("%s", a.text)
		}
		if a := call(t, c, "place_block", terms(t, c, placing("late"))); !a.refused || a.str("code") != "stopped" {
			t.Errorf("%s", a.text)
		}
		if a := call(t, p, "clear_stop", map[string]any{"actor": "bot1"}); a.refused {
			t.Errorf("%s", a.text)
		}
	})
}
