package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blockworld/controlplane"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
	"blockworld/worldstate/geom"
)

// small is the smallest configuration with a bot.
const small = `
plots:
  - {id: garden, build: "0,-60,0:9,-50,9", owner: alice}
bots:
  - {id: builder-1, address: localhost:25565, username: Builder1, plot: garden}
`

// written writes a configuration file.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "blockworld.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// env is an environment of pairs.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestConfigDefaults(t *testing.T) {
	c, err := loadConfig(written(t, small), env())
	if err != nil {
		t.Fatal(err)
	}
	want := &config{Data: "blockworld-data", Listen: "127.0.0.1:7643", Host: "local",
		Policy: policy.Config{Plots: []policy.Plot{{ID: "garden", World: "minecraft:overworld", Owner: "alice"}}},
		Plots:  []plotConfig{{ID: "garden", Dimension: "minecraft:overworld", Build: boxText{Min: geom.BlockPos{Y: -60}, Max: geom.BlockPos{X: 9, Y: -50, Z: 9}}, Owner: "alice"}},
		Bots:   []botConfig{{ID: "builder-1", Address: "localhost:25565", Username: "Builder1", Auth: "offline", Version: "auto", Plot: "garden"}}}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreUnexported(config{})); diff != "" {
		t.Error(diff)
	}
	if e, err := policy.Compile(c.Policy); err != nil || e.Profile() != policy.Guarded {
		t.Errorf("the policy of a file that names none: %v, %v", e.Profile(), err)
	}
}

func TestConfigRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"an unknown key, with its place", "data: d\ndta: x\n", "[2:1]"},
		{"an unknown key of a bot, with its place", small + "    colour: red\n", "colour"},
		{"a doubled key, with its place", "data: a\ndata: b\n", "[2:1]"},
		{"a second document", "data: a\n---\ndata: b\n", "second YAML document"},
		{"brackets within brackets without end", "data: " + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000), "400000 deep"},
		{"a wrong type", "expose: perhaps\n", "[1:9]"},
		{"a box that is none", strings.Replace(small, "0,-60,0:9,-50,9", "0,-60,0", 1), "X1,Y1,Z1:X2,Y2,Z2"},
		{"a plot without a box", "plots:\n  - id: garden\n", "build is missing"},
		{"a plot twice", "plots:\n  - {id: a, build: \"0,0,0:1,1,1\"}\n  - {id: a, build: \"0,0,0:1,1,1\"}\n", "listed twice"},
		{"a plot of a profile's words", "policy:\n  plots:\n    - id: a\n", "plots are listed under plots"},
		{"a profile that is none", "policy:\n  profile: x\n", "profile"},
		{"a rule of a layer that is none", "policy:\n  rules:\n    - {id: a, layer: moon, result: deny}\n", "layer"},
		{"secrets in the file", "policy:\n  secrets: [hunter22]\n", "BLOCKWORLD_SECRETS_FILE"},
		{"a bot without a plot", strings.Replace(small, ", plot: garden}", "}", 1), "plot is missing"},
		{"a bot on a plot that is not there", strings.Replace(small, "plot: garden}", "plot: orchard}", 1), "no plot orchard"},
		{"a bot without an address", strings.Replace(small, "address: localhost:25565, ", "", 1), "address is missing"},
		{"a port that is none", strings.Replace(small, "localhost:25565", "localhost:255650", 1), "address"},
		{"an account that no server takes", strings.Replace(small, "Builder1", "a name", 1), "builder-1"},
		{"online accounts", strings.Replace(small, "plot: garden}", "plot: garden, auth: microsoft}", 1), "offline is the only one"},
		{"a version that is none", strings.Replace(small, "plot: garden}", "plot: garden, version: 1.8}", 1), "is none of"},
		{"a view distance out of range", strings.Replace(small, "plot: garden}", "plot: garden, view_distance: 64}", 1), "2..32"},
		{"one account twice on a server", small + "  - {id: builder-2, address: LOCALHOST:25565, username: builder1, plot: garden}\n", "lets an account in once"},
		{"a plot of another server", strings.Replace(small, "owner: alice", "owner: alice, server: elsewhere", 1), "lies on elsewhere"},
		{"an id with capitals", strings.Replace(small, "id: builder-1", "id: Builder", 1), "lower case"},
		{"negative budgets", strings.Replace(small, "plot: garden}", "plot: garden, budgets: {uses: -1}}", 1), "negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := written(t, c.text)
			_, err := loadConfig(path, env())
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Fatalf("got %v, want words with %q and the file's name", err, c.says)
			}
			if o := ran(t.Context(), "serve", "-c", path, "--data", t.TempDir()); o.code != exitUsage {
				t.Errorf("serve ends with %d: %s", o.code, o.errs)
			}
		})
	}
}

func TestConfigIsNotThere(t *testing.T) {
	o := ran(t.Context(), "serve", "-c", filepath.Join(t.TempDir(), "none.yaml"))
	if o.code != exitUsage || !strings.Contains(o.errs, "write one") {
		t.Errorf("%d: %s", o.code, o.errs)
	}
}

func TestEnvironmentGoesOverTheFile(t *testing.T) {
	path := written(t, "data: file\nlisten: 127.0.0.1:1\n"+small)
	c, err := loadConfig(path, env("BLOCKWORLD_DATA", "env", "BLOCKWORLD_LISTEN", "127.0.0.1:2", "BLOCKWORLD_EXPOSE", "true"))
	if err != nil || c.Data != "env" || c.Listen != "127.0.0.1:2" || !c.Expose {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := loadConfig(path, env("BLOCKWORLD_EXPOSE", "perhaps")); err == nil {
		t.Error("BLOCKWORLD_EXPOSE=perhaps is taken")
	}
}

func TestSecretsComeFromAFileThatOthersCannotRead(t *testing.T) {
	secrets := filepath.Join(t.TempDir(), "secrets")
	if err := os.WriteFile(secrets, []byte("correct horse\n\n  battery staple \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig(written(t, small), env("BLOCKWORLD_SECRETS_FILE", secrets))
	if err != nil || !cmp.Equal(c.Policy.Secrets, []string{"correct horse", "battery staple"}) {
		t.Errorf("%v, %v", c.Policy.Secrets, err)
	}
	if runtime.GOOS == "windows" {
		return // files have no such rights there
	}
	if err := os.Chmod(secrets, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := loadConfig(written(t, small), env("BLOCKWORLD_SECRETS_FILE", secrets)); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
}

func TestTheReadmesConfigurationWorks(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```yaml\n")
	text, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("the README shows no blockworld.yaml")
	}
	path := written(t, text)
	c, err := loadConfig(path, env())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Bots) == 0 || len(c.Policy.Rules) == 0 || len(c.Policy.Budgets) == 0 {
		t.Error("it shows no bot, no rule or no budget")
	}
	if o := ran(t.Context(), "ctl", "policy", "check", path); o.code != exitDone {
		t.Errorf("policy check ends with %d: %s", o.code, o.errs)
	}
	o := ran(t.Context(), "serve", "-c", path, "--data", t.TempDir(), "--listen", "127.0.0.1:0")
	if o.code != exitDenied || !strings.Contains(o.errs, "blockworld probe") {
		t.Errorf("without a server profile serve ends with %d: %s", o.code, o.errs)
	}
}

func TestWhereTheTokenComesFrom(t *testing.T) {
	f := &face{data: t.TempDir()}
	if _, err := f.token(env()); codeOf(err, 0) != exitUsage {
		t.Errorf("no token at all: %v", err)
	}
	if s, err := f.token(env("BLOCKWORLD_TOKEN", " secret\n")); err != nil || s != "secret" {
		t.Errorf("from the environment: %q, %v", s, err)
	}
	if err := f.asked(controlplane.Errorf(token.CodeExpired, "no")); !strings.Contains(err.Error(), "BLOCKWORLD_TOKEN:") || controlplane.CodeOf(err) != token.CodeExpired {
		t.Error(err)
	}
	if no := controlplane.Errorf(controlplane.CodeForbidden, "no"); f.asked(no) != no || f.asked(nil) != nil {
		t.Error("what has nothing to do with tokens is told as one's")
	}
	path := (&config{Data: f.data}).adminFile()
	if err := writePrivate(path, []byte("admin\n")); err != nil {
		t.Fatal(err)
	}
	if s, err := f.token(env()); err != nil || s != "admin" {
		t.Errorf("from the daemon's folder: %q, %v", s, err)
	}
	if runtime.GOOS == "windows" {
		return // files have no such rights there
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.token(env()); err == nil {
		t.Error("a token that others can read is taken")
	}
}

func TestNamesOfFiles(t *testing.T) {
	for file, want := range map[string]host.Name{"/x/House.SCHEM": "house.schem", "a b.nbt": "a-b.nbt", ".hidden": "hidden", "dach.litematic": "dach.litematic"} {
		if got := host.Name(nameOfFile(file)); got != want || got.Check("name") != nil {
			t.Errorf("%s: %q", file, got)
		}
	}
}
