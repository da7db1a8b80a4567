package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ruled is a configuration with a rule, whose lines are told by their number.
func ruled(rule, rest string) string {
	return `policy:
  rules:
    - id: a-rule
` + rule + `      result: allow
plots:
  - {id: garden, build: "0,-60,0:9,-50,9"}
bots:
  - id: builder-1
    address: localhost:25565
    username: Builder1
    plot: garden
` + rest
}

func TestNamesThatMustBeThere(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"a scope", ruled("      layer: server\n      scopes: [garden, gardne]\n", ""), "[5:24] rule a-rule: scopes: there is no plot gardne; there is garden"},
		{"an actor", ruled("      layer: actor\n      subject: bilder-1\n", ""), "[5:16] rule a-rule: subject: no bot is called bilder-1; there is builder-1"},
		{"a server", ruled("      layer: server\n      subject: localhost\n", ""), "[5:16] rule a-rule: subject: no bot goes to a server localhost; there is localhost:25565"},
		{"a world without its whole name", ruled("      layer: world\n      subject: overworld\n", ""), "[5:16] rule a-rule: subject: worlds have their whole name: write minecraft:overworld"},
		{"a budget's actor", "policy:\n  budgets:\n    - {id: b, layer: actor, subject: x, max_count: 1}\n" + small, "[3:38] budget b: subject: no bot is called x"},
		{"a bot's plot", small[:strings.LastIndex(small, "garden")] + "gardne}\n", "[5:73] bot builder-1: there is no plot gardne"},
		{"a plot's server", strings.Replace(small, "owner: alice", "server: nowhere, owner: alice", 1), "its plot garden lies on nowhere"},
		{"a remote bot with a local one's name", small + "remote:\n  - {actor: builder-1, address: a}\n", "[7:6] bot builder-1 is listed twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := written(t, c.text)
			if _, err := loadConfig(path, env()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v\nwant %q in\n%s", err, c.says, c.text)
			}
		})
	}
	t.Run("all that is missing is told at once", func(t *testing.T) {
		_, err := loadConfig(written(t, ruled("      layer: actor\n      subject: x\n      scopes: [y]\n", "")), env())
		if err == nil || !strings.Contains(err.Error(), "called x") || !strings.Contains(err.Error(), "no plot y") {
			t.Errorf("%v", err)
		}
	})
}

func TestNamesThatAreThere(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"of this file", ruled("      layer: actor\n      subject: builder-1\n      scopes: [garden]\n", "")},
		{"every one", ruled("      layer: actor\n      subject: \"*\"\n", "")},
		{"a server by its whole identity", ruled("      layer: server\n      subject: localhost:25565 (paper, 1)\n", "")},
		{"a remote bot", ruled("      layer: actor\n      subject: far-1\n", "remote:\n  - {actor: far-1, address: far.example.org}\n")},
		{"a remote bot's server", ruled("      layer: server\n      subject: far.example.org\n", "remote:\n  - {actor: far-1, address: far.example.org}\n")},
		{"a task", ruled("      layer: task\n      subject: anything\n", "")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := loadConfig(written(t, c.text), env())
			if err != nil || len(got.notes) > 0 {
				t.Errorf("%v, %v", err, got)
			}
		})
	}
	t.Run("what may be meant is a note", func(t *testing.T) {
		got, err := loadConfig(written(t, "policy:\n  rules:\n    - {id: r, layer: actor, subject: x, result: allow}\n    - {id: s, layer: world, subject: mod:moon, result: allow}\n"), env())
		if err != nil || len(got.notes) != 2 || !strings.HasPrefix(got.notes[0], "[3:38]") || !strings.Contains(got.notes[1], "mod:moon") {
			t.Errorf("%v, %v", err, got)
		}
	})
}

func TestServeCheck(t *testing.T) {
	t.Parallel()
	const rules = `
policy:
  profile: open
  rules:
    - {id: r, layer: owner, subject: agnet, kinds: [chat.say], result: deny}
`
	st := set(t, rules)
	check := func(want int) (r checked, o outcome) {
		t.Helper()
		o = ran(t.Context(), "serve", "--check", "--json", "-c", st.config)
		if json.Unmarshal([]byte(o.out), &r); o.code != want {
			t.Fatalf("%d, want %d: %s%s", o.code, want, o.out, o.errs)
		}
		return r, o
	}
	stranger := func(notes []string) bool {
		return slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "[7:38] rule r: subject: nobody is agnet yet") })
	}
	t.Run("it says what would be there, and starts nothing", func(t *testing.T) {
		r, o := check(exitDone)
		if r.Store != "new" || len(r.Bots) != 1 || !stranger(r.Notes) || !strings.Contains(o.errs, "nothing was started") {
			t.Errorf("%+v\n%s", r, o.errs)
		}
		if _, err := os.Stat(filepath.Join(st.data, controlFile)); err == nil {
			t.Error("a store was made")
		}
	})
	st.start()
	t.Run("a daemon says the same", func(t *testing.T) {
		if !stranger(st.served.Notes) || len(st.served.Notes) != 1 {
			t.Errorf("%q", st.served.Notes)
		}
	})
	t.Run("beside a daemon", func(t *testing.T) {
		if r, _ := check(exitDone); r.Store != "in use" {
			t.Errorf("%+v", r)
		}
	})
	st.tokenFile("--principal", "agnet", "--scopes", "read")
	st.stop()
	t.Run("a principal with a token is no stranger", func(t *testing.T) {
		if r, _ := check(exitDone); r.Store != "there" || len(r.Notes) != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("what would fail fails", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if o := ran(t.Context(), "serve", "--check", "-c", st.config, "--listen", l.Addr().String()); o.code != exitFailed {
			t.Errorf("a taken address: %d: %s", o.code, o.errs)
		}
		if o := ran(t.Context(), "serve", "--check", "-c", st.config, "--data", t.TempDir()); o.code != exitDenied || !strings.Contains(o.errs, "probe") {
			t.Errorf("no server profile: %d: %s", o.code, o.errs)
		}
	})
}

func TestFinishedOperationsAreKeptAsLongAsTold(t *testing.T) {
	if c, err := loadConfig(written(t, "retain: 720h\n"), env()); err != nil || c.Retain.String() != "720h0m0s" {
		t.Errorf("%v, %v", c, err)
	}
	for _, text := range []string{"retain: -1h\n", "retain: long\n", "retain: 30\n"} {
		if _, err := loadConfig(written(t, text), env()); err == nil || !strings.Contains(err.Error(), "[1:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWordsThatAreNoneHaveTheirPlace(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{strings.Replace(small, "0,-60,0:9,-50,9", "0,-60,0", 1), "[3:25]"},
		{"policy:\n  profile: opne\n", "[2:12]"},
		{"policy:\n  rules:\n    - {id: a, layer: moon, result: deny}\n", "[3:22]"},
		{"policy:\n  rules:\n    - {id: a, layer: server, result: dney}\n", "[3:38]"},
		{"policy:\n  rules:\n    - {id: a, layer: server, kinds: [world.palce], result: deny}\n", "[3:38]"},
		{"# opne\ndata: \"opne\"\npolicy: {profile: opne}\n", "opne"}, // it stands there twice: which one is not told
	} {
		_, err := loadConfig(written(t, c.text), env())
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v\nwant %s in\n%s", err, c.says, c.text)
		}
	}
}
