package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/mcp"
)

// listed are the tools that a client is shown.
func listed(t *testing.T, c *sdk.ClientSession) map[string]bool {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, tool := range list.Tools {
		out[tool.Name] = true
	}
	return out
}

// plausible are arguments of every tool that its schema takes.
func plausible() map[string]map[string]any {
	id, digest := strings.Repeat("0", 32), strings.Repeat("0", 64)
	actor := func(more map[string]any) map[string]any { more["actor"] = "bot1"; return more }
	action := func(more map[string]any) map[string]any {
		more["lease"], more["key"], more["observation"] = "x", "k", "1.1.1@1"
		return actor(more)
	}
	pos := []int{1, 64, 1}
	return map[string]map[string]any{
		"list_actors": {}, "observe": actor(map[string]any{}), "list_capabilities": actor(map[string]any{}),
		"world_status": actor(map[string]any{}), "inventory_summary": actor(map[string]any{}),
		"scan_region": actor(map[string]any{"min": pos, "max": pos}), "nearby_entities": actor(map[string]any{"radius": 5}),
		"chat_since":    actor(map[string]any{"cursor": 0}),
		"acquire_lease": actor(map[string]any{}), "renew_lease": actor(map[string]any{"lease": "x"}), "release_lease": actor(map[string]any{"lease": "x"}),
		"move_to": action(map[string]any{"pos": pos}), "look_at": action(map[string]any{"point": pos}), "say": action(map[string]any{"text": "a"}),
		"equip": action(map[string]any{"item": "stone"}), "place_block": action(map[string]any{"pos": pos, "state": "stone"}),
		"build_structure": action(map[string]any{"task": "t", "arguments": map[string]any{}}),
		"wait":            {"operation": id, "timeout_ms": 0}, "get_operation": {"operation": id}, "list_operations": {},
		"explain": actor(map[string]any{"lease": "x", "observation": "1.1.1@1", "capability": "say", "arguments": map[string]any{"text": "a"}}),
		"confirm": {"operation": id, "challenge": "c", "effect_digest": digest, "approve": true},
		"cancel":  {"operation": id}, "emergency_stop": actor(map[string]any{"why": "x"}), "clear_stop": actor(map[string]any{}),
		"put_blueprint": {"name": "a", "data_base64": "AAAA"}, "list_blueprints": {},
	}
}

// TestAToolIsListedToThoseWhoMayUseIt holds the list to the gateway's own answers, for callers with one scope each.
func TestAToolIsListedToThoseWhoMayUseIt(t *testing.T) {
	st := set(t)
	every := listed(t, st.client(person, nil))
	for _, scope := range person.Scopes.List() {
		t.Run(scope.String(), func(t *testing.T) {
			p := person // the owner of bot1
			p.Scopes = controlplane.Scopes(scope)
			c := st.client(p, nil)
			list := listed(t, c)
			for tool, args := range plausible() {
				if !every[tool] {
					t.Errorf("%s is not listed to one who may do everything", tool)
				}
				refused := call(t, c, tool, args).str("code") == "forbidden"
				if refused == list[tool] {
					t.Errorf("%s: listed %v, refused for want of a scope %v", tool, list[tool], refused)
				}
				delete(list, tool)
			}
			for tool := range list {
				t.Errorf("%s is listed and was not tried", tool)
			}
		})
	}
	t.Run("who may do nothing is shown nothing, and refused all the same", func(t *testing.T) {
		c := st.client(controlplane.Principal{ID: "agent", Actors: []string{"*"}}, nil)
		if list := listed(t, c); len(list) != 0 {
			t.Errorf("%v", list)
		}
		if a := call(t, c, "list_actors", nil); a.str("code") != "forbidden" {
			t.Errorf("%s", a.text)
		}
	})
}

// away is a gateway that cannot say who asks.
type away struct{ mcp.Gateway }

func (away) Me(context.Context) (v1.Me, error) { return v1.Me{}, errors.New("the daemon is away") }

func TestWhileNobodyKnowsTheScopesEverythingIsListed(t *testing.T) {
	st := set(t)
	near, far := sdk.NewInMemoryTransports()
	server, err := mcp.New(away{mcp.For(st.g, agent)}, "test", time.Now).Connect(context.Background(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { c.Close(); server.Close() }()
	if list := listed(t, c); len(list) != len(plausible()) {
		t.Errorf("%d tools", len(list))
	}
}
