package mcp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"blockworld/controlplane/hosttest"
	"blockworld/effects/host"
)

// TestDoneIsToldOfReceipts: the host's word alone is never enough.
func TestDoneIsToldOfReceipts(t *testing.T) {
	st := set(t)
	c := st.client(agent, nil)
	ended := func(op string) answer { // the longest wait is the default
		return call(t, c, "wait", map[string]any{"operation": op, "until_end": true}).in("operation")
	}
	t.Run("CP-73/what no receipt confirms may not be told as done", func(t *testing.T) {
		args := terms(t, c, placing("unproven"))
		args["state"] = "minecraft:sand"
		v := ended(call(t, c, "place_block", args).str("id"))
		if v.str("state") != "succeeded" || v.all["execution_confirmed"] != false || v.all["may_say_done"] != false {
			t.Errorf("%v", v.all)
		}
	})
	for i, child := range []struct {
		state string
		done  bool
	}{{"stone", true}, {"sand", false}} {
		t.Run("CP-73/a build is done by the receipts of its children, "+child.state, func(t *testing.T) {
			args := terms(t, c, map[string]any{"key": fmt.Sprint("build-", i), "task": "hut", "arguments": map[string]any{}})
			var op host.OpID
			if err := op.UnmarshalText([]byte(call(t, c, "build_structure", args).str("id"))); err != nil {
				t.Fatal(err)
			}
			for call(t, c, "get_operation", map[string]any{"operation": op.String()}).str("state") != "accepted" {
				call(t, c, "wait", map[string]any{"operation": op.String(), "timeout_ms": 10})
			}
			v, err := st.h.Daemon.SubmitChild(t.Context(), st.h.Session(), host.Child{Parent: op, Key: "1", Action: host.Action{Capability: "place_block",
				Arguments: json.RawMessage(`{"pos":[1,64,1],"state":"minecraft:` + child.state + `"}`)}})
			if err != nil {
				t.Fatal(err)
			}
			ended(v.Op.String())
			if err := st.h.Report(t.Context(), hosttest.Ended(op, host.Succeeded, "built", true)); err != nil {
				t.Fatal(err)
			}
			if end := ended(op.String()); end.str("state") != "succeeded" || end.all["execution_confirmed"] != false || end.all["may_say_done"] != child.done {
				t.Errorf("%v", end.all)
			}
		})
	}
}
