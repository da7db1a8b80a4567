package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
	"blockworld/fixtures/blueprints"
)

func TestCtl(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy).serve()
	place := func(x string) string { return `{"pos":[` + x + `,-60,1],"state":"minecraft:stone"}` }

	t.Run("a read is told, and nothing is stored", func(t *testing.T) {
		o := st.ctl("read", "builder-1", "world_status")
		if o.code != exitDone || !strings.Contains(o.out, "minecraft:overworld") {
			t.Errorf("%d: %s%s", o.code, o.out, o.errs)
		}
		if o := st.ctl("--json", "ops", "list"); !strings.Contains(o.out, `"operations":[]`) {
			t.Errorf("a read made an operation: %s", o.out)
		}
	})
	t.Run("RU-05/what reads through the daemon changes no byte of its folder", func(t *testing.T) {
		before := bytesBelow(t, st.data)
		for _, args := range [][]string{{"actors"}, {"actor", "builder-1"}, {"observe", "builder-1"}, {"capabilities", "builder-1"},
			{"read", "builder-1", "world_status"}, {"ops", "list"}, {"blueprint", "list"}, {"token", "list"}, {"token", "whoami"}, {"stats"},
			{"lease", "show", "builder-1"}, {"policy", "check", st.config}, {"explain", "builder-1", "place_block", place("2")}} {
			if o := st.ctl(args...); o.code != exitDone {
				t.Errorf("%v: %d: %s", args, o.code, o.errs)
			}
			if after := bytesBelow(t, st.data); !maps.Equal(before, after) {
				t.Errorf("%v has changed the folder", args)
			}
		}
	})
	t.Run("CP-60,CP-72/a placement ends with its receipt", func(t *testing.T) {
		v := st.ctlView(exitDone, "submit", "builder-1", "place_block", place("2"), "--wait")
		if !v.ExecutionConfirmed || v.Outcome.Receipt == nil || st.block(2, -60, 1) != "minecraft:stone" {
			t.Errorf("%+v; the cell is %s", v, st.block(2, -60, 1))
		}
		if o := st.ctl("ops", "show", v.ID.String()); o.code != exitDone || !strings.Contains(o.out, "receipt   ") {
			t.Errorf("%d: %s", o.code, o.out)
		}
	})
	t.Run("CP-50,CP-61/what awaits confirmation is approved once", func(t *testing.T) {
		before := len(st.world.Log())
		v := st.ctlView(exitDone, "submit", "builder-1", "place_block", place("3"), "--task", "careful")
		if v.State != operation.AwaitingConfirmation {
			t.Fatalf("it is %s", v.State)
		}
		if o := st.ctl("confirm", v.ID.String()); o.code != exitUsage || !strings.Contains(o.out, "minecraft:stone") || len(st.world.Log()) != before {
			t.Errorf("where nobody can be asked: %d, %s%s", o.code, o.out, o.errs)
		}
		st.ctlView(exitDone, "confirm", v.ID.String(), "--approve")
		if v = st.ctlView(exitDone, "wait", v.ID.String()); !v.ExecutionConfirmed || len(st.world.Log()) != before+1 {
			t.Errorf("%+v; %d uses", v, len(st.world.Log())-before)
		}
		if o := st.ctl("confirm", v.ID.String(), "--approve"); o.code != exitFailed || len(st.world.Log()) != before+1 {
			t.Errorf("a second approval: %d, %s", o.code, o.errs)
		}
	})
	t.Run("CP-59/whoever submits does not approve without the right to", func(t *testing.T) {
		agent := st.tokenFile("--principal", "agent", "--scopes", "read,control,execute,cancel")
		v := st.ctlView(exitDone, "submit", "builder-1", "place_block", place("4"), "--task", "careful")
		if o := ran(t.Context(), "ctl", "--daemon", st.served.Address, "--token-file", agent, "confirm", v.ID.String(), "--approve"); o.code != exitDenied ||
			!strings.Contains(o.errs, "lacks the scope confirm") || !strings.Contains(o.errs, "ctl token create") {
			t.Errorf("%d: %s", o.code, o.errs)
		}
		if v := st.ctlView(exitDone, "confirm", v.ID.String(), "--deny"); v.State != operation.Rejected {
			t.Errorf("after a no it is %s", v.State)
		}
	})
	t.Run("CP-39,CP-41/policy and budgets say no with exit code 3", func(t *testing.T) {
		if v := st.ctlView(exitDenied, "submit", "builder-1", "place_block", place("4"), "--task", "forbidden"); v.Rejection.Code != "rule_denied" {
			t.Errorf("%+v", v.Rejection)
		}
		st.ctlView(exitDone, "submit", "builder-1", "place_block", place("1"), "--task", "short", "--wait")
		st.ctlView(exitDone, "submit", "builder-1", "place_block", place("0"), "--task", "short", "--wait")
		if v := st.ctlView(exitDenied, "submit", "builder-1", "place_block", place("-1"), "--task", "short", "--wait"); v.Rejection.Code != "budget_exceeded" {
			t.Errorf("%+v", v.Rejection)
		}
		if o := st.ctl("explain", "builder-1", "place_block", place("4"), "--task", "forbidden"); o.code != exitDenied || !strings.Contains(o.out, "not for this task") {
			t.Errorf("explain: %d: %s%s", o.code, o.out, o.errs)
		}
	})
	t.Run("an explanation is in plain words, and says why it asked no rule", func(t *testing.T) {
		o := st.ctl("explain", "builder-1", "look_at", `{"point":[8,-60,8]}`)
		if o.code != exitDone || !strings.Contains(o.out, "checks that no rule can set aside") || strings.Contains(o.out, "facts") || strings.Contains(o.out, "kernel") ||
			strings.Count(o.out, "say-nothing") != 1 || !strings.Contains(o.out, "decision  allow") {
			t.Errorf("%d: %s%s", o.code, o.out, o.errs)
		}
		o = st.ctl("explain", "builder-1", "place_block", `{"pos":[8,-45,8],"state":"minecraft:stone"}`)
		if o.code != exitDenied || !strings.Contains(o.out, "the bot refuses") || !strings.Contains(o.out, "no rule was asked") {
			t.Errorf("%d: %s%s", o.code, o.out, o.errs)
		}
	})
	t.Run("a lease that a command took goes with its operation, one that was there stays", func(t *testing.T) {
		holder := func() string {
			l, err := st.client().LeaseOf(t.Context(), "builder-1")
			if err != nil {
				t.Fatal(err)
			}
			return string(l.Holder)
		}
		st.ctl("lease", "release", "builder-1")
		look := []string{"submit", "builder-1", "look_at", `{"point":[8,-60,8]}`, "--wait"}
		if o := st.ctl(look...); o.code != exitDone || holder() != "" || strings.Contains(o.out, "lease") {
			t.Errorf("%d: %s held by %q", o.code, o.out, holder())
		}
		st.ctlView(exitDenied, "submit", "builder-1", "place_block", place("4"), "--task", "forbidden")
		if holder() != "" {
			t.Errorf("after a refusal it is held by %q", holder())
		}
		v := st.ctl("submit", "builder-1", "place_block", place("4"), "--task", "careful")
		if v.code != exitDone || holder() != "admin" || !strings.Contains(v.out, "lease     taken for this until") {
			t.Errorf("under way: %s held by %q", v.out, holder())
		}
		if o := st.ctl("lease", "release", "builder-1"); o.code != exitDone {
			t.Errorf("%s", o.errs)
		}
		if o := st.ctl("lease", "acquire", "builder-1"); o.code != exitDone {
			t.Errorf("%s", o.errs)
		}
		if o := st.ctl(look...); o.code != exitDone || holder() != "admin" {
			t.Errorf("one's own: %d: %s held by %q", o.code, o.out, holder())
		}
		agent := st.tokenFile("--principal", "agent", "--scopes", "read,control,execute,cancel")
		if o := ran(t.Context(), "ctl", "--daemon", st.served.Address, "--token-file", agent, "lease", "acquire", "builder-1"); o.code != exitFailed ||
			!strings.Contains(o.errs, "admin holds the lease") || !strings.Contains(o.errs, "lease release builder-1") {
			t.Errorf("%d: %s", o.code, o.errs)
		}
		st.ctl("lease", "release", "builder-1")
	})
	t.Run("after a clear the observation shown is one to go on with", func(t *testing.T) {
		if o := st.ctl("stop", "builder-1"); o.code != exitDone {
			t.Fatal(o.errs)
		}
		o := st.ctl("clear", "builder-1", "--json")
		var a controlplane.ActorView
		if err := json.Unmarshal([]byte(o.out), &a); err != nil || o.code != exitDone {
			t.Fatalf("%d, %v: %s", o.code, err, o.errs)
		}
		c := st.client()
		l, err := c.Acquire(t.Context(), "builder-1", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.Submit(t.Context(), controlplane.SubmitRequest{Actor: "builder-1", Lease: l.ID, Key: "after-the-clear", Epoch: a.Epoch, Sequence: a.Sequence,
			Action: host.Action{Capability: "look_at", Arguments: json.RawMessage(`{"point":[8,-60,8]}`)}})
		if err != nil || v.State != operation.Queued {
			t.Errorf("%v: %+v", err, v)
		}
		st.ctlView(exitDone, "wait", v.ID.String())
		st.ctl("lease", "release", "builder-1")
	})
	t.Run("capabilities are shown with their arguments", func(t *testing.T) {
		if o := st.ctl("capabilities", "builder-1"); o.code != exitDone || !strings.Contains(o.out, "pos                  required  cell that gets the block") {
			t.Errorf("%d: %s", o.code, o.out)
		}
	})
	t.Run("a daemon's folder names the folders of its bots' receipts", func(t *testing.T) {
		bots := filepath.Join(st.data, "bots", "builder-1")
		if o := ran(t.Context(), "receipts", "list", "--data", st.data); o.code != exitUsage || !strings.Contains(o.errs, "--data "+bots) || strings.Contains(o.errs, "probe") {
			t.Errorf("%d: %s", o.code, o.errs)
		}
		if o := ran(t.Context(), "receipts", "list", "--data", bots); o.code != exitDone || !strings.Contains(o.out, "2,-60,1") {
			t.Errorf("%d: %s%s", o.code, o.out, o.errs)
		}
	})
	t.Run("changes are followed", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		r, w := io.Pipe()
		ended := make(chan int, 1)
		go func() {
			ended <- run(ctx, []string{"ctl", "events", "--daemon", st.served.Address, "--data", st.data}, strings.NewReader(""), w, io.Discard)
			w.Close()
		}()
		done := make(chan struct{})
		go func() { // some of these come when the stream is open
			for ctx.Err() == nil {
				st.ctl("submit", "builder-1", "look_at", `{"point":[8,-60,8]}`, "--wait")
			}
			close(done)
		}()
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if strings.Contains(lines.Text(), "succeeded") && strings.Contains(lines.Text(), "builder-1") {
				break
			}
		}
		stop()
		go io.Copy(io.Discard, r)
		if code := <-ended; code != exitDone {
			t.Errorf("it ends with %d", code)
		}
		<-done
	})
	t.Run("CP-77,CP-78/a key is one operation, and no other", func(t *testing.T) {
		look := `{"point":[5,-60,5]}`
		v := st.ctlView(exitDone, "submit", "builder-1", "look_at", look, "--key", "k", "--wait")
		if again := st.ctlView(exitDone, "submit", "builder-1", "look_at", look, "--key", "k", "--wait"); again.ID != v.ID {
			t.Errorf("%s, was %s", again.ID, v.ID)
		}
		if o := st.ctl("submit", "builder-1", "look_at", `{"point":[6,-60,5]}`, "--key", "k"); o.code != exitFailed || !strings.Contains(o.errs, "conflict") {
			t.Errorf("another request under it: %d: %s", o.code, o.errs)
		}
		if o := st.ctl("--json", "submit", "builder-1", "look_at", `{"point":[6,-60,5]}`, "--key", "k"); !strings.Contains(o.out, `"code":"conflict"`) {
			t.Errorf("a program is told %s", o.out)
		}
	})
	t.Run("a wait that is over before its operation is not done", func(t *testing.T) {
		o := st.ctl("submit", "builder-1", "place_block", place("4"), "--task", "careful", "--wait", "--timeout", "50ms", "--json")
		var v operation.View
		if err := json.Unmarshal([]byte(o.out), &v); err != nil || o.code != exitFailed || v.State != operation.AwaitingConfirmation || !strings.Contains(o.errs, "ctl wait "+v.ID.String()) {
			t.Errorf("%d, %v: %s", o.code, err, o.errs)
		}
		if o := st.ctl("wait", v.ID.String(), "--timeout", "50ms"); o.code != exitFailed {
			t.Errorf("%d: %s", o.code, o.errs)
		}
		st.ctlView(exitDone, "cancel", v.ID.String())
		if o := st.ctl("wait", v.ID.String(), "--timeout", "50ms"); o.code != exitFailed || !strings.Contains(o.errs, "cancelled") {
			t.Errorf("%d: %s", o.code, o.errs)
		}
	})
	t.Run("whom a token speaks for is told", func(t *testing.T) {
		if o := st.ctl("token", "whoami"); o.code != exitDone || !strings.Contains(o.out, "admin") || !strings.Contains(o.out, "confirm") {
			t.Errorf("%d: %s%s", o.code, o.out, o.errs)
		}
	})
	t.Run("what is not understood is a matter of usage", func(t *testing.T) {
		for _, args := range [][]string{
			{"actor", "NOBODY"}, {"actor", "nobody"}, {"read", "builder-1", "nonsense"}, {"read", "builder-1", "world_status", "{"},
			{"submit", "builder-1", "look_at", "@/does/not/exist"}, {"ops", "show", "7"}, {"ops", "list", "--state", "done"},
			{"token", "create", "--principal", "x", "--scopes", "everything"}, {"token", "create", "--principal", "x", "--expires", "0"},
			{"token", "create", "--principal", "x", "--expires", "-5s"}, {"token", "create"}, {"token", "create", "--principal", "x", "--kind", "host", "--scopes", "read"},
			{"submit", "builder-1", "place_block", `{"pos":[1,2],"state":"minecraft:stone"}`}, {"explain", "builder-1", "place_block", `{"pos":[1,2,3],"state":"minecraft:stoone"}`},
			{"submit", "builder-1", "world_status"}, {"read", "builder-1", "chat_since", `{"cursor":5.5}`}, {"token", "create", "--principal", "x", "-o", os.Args[0]}, {"nonsense"}, {"lease", "nonsense"},
			{"build", "no.schem", "builder-1", "--at", "1,2,3"}, {"build", "no.schem", "builder-1"}, {"cancel", "x"},
			{"blueprint", "put", "no.schem"}, {"confirm", "x", "--approve", "--deny"},
		} {
			if o := st.ctl(args...); o.code != exitUsage {
				t.Errorf("%v ends with %d: %s", args, o.code, o.errs)
			}
		}
	})
	t.Run("a token that was revoked is good for nothing", func(t *testing.T) {
		file := st.tokenFile("--principal", "agent", "--id", "short-lived")
		as := func() outcome {
			return ran(t.Context(), "ctl", "--daemon", st.served.Address, "--token-file", file, "actors")
		}
		if o := as(); o.code != exitDone {
			t.Fatal(o.errs)
		}
		if o := st.ctl("token", "revoke", "short-lived"); o.code != exitDone {
			t.Fatal(o.errs)
		}
		if o := as(); o.code != exitDenied || !strings.Contains(o.errs, "token_revoked") {
			t.Errorf("%d: %s", o.code, o.errs)
		}
		if o := st.ctl("token", "list"); !strings.Contains(o.out, "revoked") || strings.Contains(o.out, "bw_") {
			t.Errorf("%s", o.out)
		}
	})
	t.Run("CP-94/cancelling undoes nothing", func(t *testing.T) {
		v := st.ctlView(exitDone, "submit", "builder-1", "place_block", place("4"), "--task", "careful")
		if v := st.ctlView(exitDone, "cancel", v.ID.String()); v.State != operation.Cancelled {
			t.Errorf("it is %s", v.State)
		}
		if st.block(2, -60, 1) != "minecraft:stone" {
			t.Error("a block is gone")
		}
	})
	t.Run("CP-105/a structure is built, each block its own operation", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "twelve.schem")
		if err := os.WriteFile(file, blueprints.Twelve(), 0o600); err != nil {
			t.Fatal(err)
		}
		o := st.ctl("--json", "build", file, "builder-1", "--at", "6,-60,6", "--rate", "0")
		lines := strings.Split(strings.TrimSpace(o.out), "\n")
		var r struct {
			Operation operation.View `json:"operation"`
			Build     built          `json:"build"`
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || o.code != exitDone {
			t.Fatalf("%d, %v: %s%s", o.code, err, o.out, o.errs)
		}
		for i, line := range lines[:len(lines)-1] {
			var change map[string]operation.View
			err := json.Unmarshal([]byte(line), &change)
			v, ok := change["operation"]
			if err != nil || !ok || len(change) != 1 || v.ID != r.Operation.ID || i == 0 && v.Terminal || i == len(lines)-2 && v.State != operation.Succeeded {
				t.Errorf("line %d: %v: %s", i, err, line)
			}
		}
		if len(lines) < 3 {
			t.Errorf("a build is told of in %d lines: %s", len(lines), o.out)
		}
		if !r.Build.Done || r.Build.Proven != r.Build.Steps || r.Build.Steps == 0 || int(r.Operation.Children) < r.Build.Steps {
			t.Errorf("%+v with %d children", r.Build, r.Operation.Children)
		}
		if o := st.ctl("ops", "list", "--parent", r.Operation.ID.String()); strings.Count(o.out, "place_block") < r.Build.Steps {
			t.Errorf("children: %s", o.out)
		}
		if o := st.ctl("blueprint", "list"); !strings.Contains(o.out, "twelve.schem") {
			t.Errorf("%s", o.out)
		}
	})
	t.Run("CP-105/the end of a build that was denied names the rule", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "twelve.schem")
		if err := os.WriteFile(file, blueprints.Twelve(), 0o600); err != nil {
			t.Fatal(err)
		}
		o := st.ctl("--json", "build", file, "builder-1", "--at", "12,-60,6", "--rate", "0", "--task", "forbidden")
		lines := strings.Split(strings.TrimSpace(o.out), "\n")
		var r struct {
			Denied operation.Rejection `json:"denied"`
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || r.Denied.Code != "rule_denied" || !slices.Contains(r.Denied.Rules, "forbidden") {
			t.Errorf("%v: %s", err, o.out)
		}
		for _, want := range []string{"  denied    rule_denied: ", "the build was denied: rule_denied: ", "not for this task", "(forbidden)", "--state rejected"} {
			if !strings.Contains(o.errs, want) || o.code != exitDenied {
				t.Errorf("%d, without %q: %s", o.code, want, o.errs)
			}
		}
	})
	t.Run("a token of another server is named, with the daemon that was asked", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "other.token")
		if err := writePrivate(file, []byte("bw_x\n")); err != nil {
			t.Fatal(err)
		}
		o := ran(t.Context(), "ctl", "--json", "--daemon", st.served.Address, "--token-file", file, "actors")
		for _, want := range []string{"token_wrong", file, st.served.Address, "--token-file", "--daemon", "ctl token create"} {
			if o.code != exitDenied || !strings.Contains(o.errs, want) || want == "token_wrong" && !strings.Contains(o.out, `"code":"token_wrong"`) {
				t.Errorf("%d, without %q: %s%s", o.code, want, o.out, o.errs)
			}
		}
		if strings.Contains(o.errs+o.out, "bw_x") {
			t.Errorf("the secret is told: %s%s", o.out, o.errs)
		}
	})
	t.Run("the scrape has what the bot counts", func(t *testing.T) {
		st.ready()
		text := st.scrape()
		for strings.Contains(text, "\nblockworld_bots 0\n") { // behind the build it joins anew
			st.published(t.Context(), "builder-1")
			text = st.scrape()
		}
		for _, name := range []string{`blockworld_packets_total{actor="builder-1",direction="in"}`, `blockworld_packets_total{actor="builder-1",direction="out"}`,
			`blockworld_bytes_total{actor="builder-1",direction="in"}`, `blockworld_bytes_total{actor="builder-1",direction="out"}`, "blockworld_bots",
			"blockworld_policy_decision_seconds_count", `blockworld_policy_decision_seconds_bucket{le="+Inf"}`, "blockworld_bind_to_decision_seconds_sum"} {
			_, rest, _ := strings.Cut(text, "\n"+name+" ")
			value, _, _ := strings.Cut(rest, "\n")
			if n, err := strconv.ParseFloat(value, 64); err != nil || n <= 0 {
				t.Errorf("%s is %q", name, value)
			}
		}
		if !strings.Contains(text, `blockworld_ticks_late_total{actor="builder-1"} `) {
			t.Error("no late ticks")
		}
	})
	if o := st.ctl("stats"); o.code != exitDone || !strings.Contains(o.out, "attributed") {
		t.Errorf("stats: %d: %s%s", o.code, o.out, o.errs)
	}
}

// bytesBelow is what every file below a folder holds.
func bytesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var data []byte
			data, err = os.ReadFile(path)
			out[path] = string(data)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(out), err)
	}
	return out
}

func TestCtlWithoutADaemon(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if o := ran(t.Context(), "ctl", "--data", data, "actors"); o.code != exitUsage {
		t.Errorf("without a token: %d: %s", o.code, o.errs)
	}
	if err := writePrivate((&config{Data: data}).adminFile(), []byte("bw_x\n")); err != nil {
		t.Fatal(err)
	}
	if o := ran(t.Context(), "ctl", "--data", data, "--daemon", "http://127.0.0.1:1", "actors"); o.code != exitFailed {
		t.Errorf("nothing listens: %d: %s", o.code, o.errs)
	}
	if o := ran(t.Context(), "ctl", "--data", data, "--daemon", "nonsense", "actors"); o.code != exitUsage {
		t.Errorf("no address: %d: %s", o.code, o.errs)
	}
	if o := ran(t.Context(), "ctl", "--data", data, "fsck"); o.code != exitUsage {
		t.Errorf("no store: %d: %s", o.code, o.errs)
	}
	foreign := filepath.Join(data, "foreign.db")
	if err := os.WriteFile(foreign, []byte("not a store"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := ran(t.Context(), "ctl", "fsck", foreign); o.code != exitFailed {
		t.Errorf("a foreign file: %d: %s", o.code, o.errs)
	}
}
