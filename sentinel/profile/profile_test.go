package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blockworld/effects"
	"blockworld/sentinel"
)

func example() Profile {
	return Profile{
		Version: Version, Address: "localhost:25565", Mode: "attached", Probed: time.UnixMilli(1_700_000_000_000).UTC(),
		Server: Server{Identity: "localhost:25565|1f|minecraft:overworld", HashedSeed: "1f", Dimensions: []string{"minecraft:overworld"}, Protocol: 772, Brand: "vanilla: \"yes\"\n# no"},
		Found:  Found{Acks: FindingExpected, Fence: FindingYes, Counters: FindingYes, Inventory: FindingYes, HeldSlot: FindingYes, Chat: []string{"system"}},
		Offers: map[string]Offer{
			"place_block": {Least: Grade(effects.Acknowledged), Reachable: Grade(effects.Attributed), Why: "fence and counters"},
			"move_to":     {Least: Grade(effects.Processed), Reachable: Grade(effects.Observed)},
		},
		Attribution: AttributionCounter, Rate: 8,
	}
}

func TestRoundTrip(t *testing.T) {
	p := example()
	path := Path(t.TempDir(), p.Address)
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back); d != "" {
		t.Error(d)
	}
	a, _ := p.Generation()
	b, _ := back.Generation()
	if a != b || a == (effects.Digest{}) {
		t.Error("generation changed by writing and reading")
	}
	back.Rate = 9
	if c, _ := back.Generation(); c == a {
		t.Error("another rate is another generation")
	}
	left, _ := filepath.Glob(filepath.Dir(path) + "/*")
	if len(left) != 1 {
		t.Error("something was left behind:", left)
	}
}

func TestErrorsNamePlaces(t *testing.T) {
	good, err := example().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"unknown key", "rate: 8", "rte: 8", "unknown field \"rte\""},
		{"doubled key", "rate: 8", "rate: 8\nrate: 9", "already defined"},
		{"word outside its set", "fence: \"yes\"", "fence: maybe", "none of"},
		{"wrong type", "rate: 8", "rate: [1]", ""},
		{"rate", "rate: 8", "rate: -1", "rate: -1 is outside"},
		{"mode", "mode: attached", "mode: both", "neither attached nor managed"},
		{"version", "version: 1", "version: 2", "version: 2"},
		{"least above reachable", "least: acknowledged\n    reachable: attributed", "least: attributed\n    reachable: observed", "above reachable"},
		{"read offered", "move_to:", "scan_region:", "it is a read"},
		{"eleventh capability", "move_to:", "break_block:", "unknown capability"},
		{"frozen and attributed", "used: expected", "used: frozen", "acknowledged is the best"},
		{"account", "mode: attached", "mode: attached\naccount: Builder", "account: \"Builder\""},
		{"witness", "mode: attached", "mode: attached\nwitness: two words", "witness: \"two words\""},
		{"protocol", "protocol: 772", "protocol: 47", "protocol: 47"},
		{"no protocol", "protocol: 772", "protocol: 0", "server.protocol"},
		{"seed", "hashed_seed: 1f", "hashed_seed: seed", "hashed_seed"},
		{"dimension", "- minecraft:overworld", "- \"\"", "server.dimensions"},
		{"game mode", "brand:", "game_mode: god\n  brand:", "game_mode: \"god\""},
		{"chat", "- system", "- shouted", "found.chat"},
		{"fence unknown", "fence: \"yes\"", "fence: unknown", "observed is the best"},
		{"counters gone", "counters: \"yes\"", "counters: \"no\"", "acknowledged is the best"},
		{"nobody attributes", "attribution: counter", "attribution: none", "attribution: counter"},
		{"second document", "rate: 8", "rate: 8\n---\nrate: 9", "a second document begins here"},
		{"second document behind an end", "rate: 8", "rate: 8\n...\n{}", "a second document begins here"},
		{"fence gone", "fence: \"yes\"", "fence: \"no\"", "observed is the best"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(string(good), c.from, c.to, 1)
			if changed == string(good) {
				t.Fatalf("nothing to change in\n%s", good)
			}
			_, err := Parse([]byte(changed))
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nin\n%s", err, changed)
			}
		})
	}
	_, err = Parse([]byte(strings.Replace(string(good), "rate: 8", "rte: 8", 1)))
	if err == nil || !strings.Contains(err.Error(), ":1]") {
		t.Error("no line and column in", err)
	}
}

// TestDocuments: one document with its marks is a profile, the line of a second one is named.
func TestDocuments(t *testing.T) {
	good, err := example().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse([]byte("# by hand\n---\n" + string(good))); err != nil {
		t.Error(err)
	}
	lines := strings.Count(string(good), "\n")
	_, err = Parse([]byte(string(good) + "# more\n---\n" + string(good)))
	if want := fmt.Sprintf("[%d:1]", lines+2); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestNotWritten says where and what to do.
func TestNotWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := Path(file, "localhost")
	if err := example().Save(path); !errors.Is(err, ErrNotWritten) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "may write") {
		t.Error(err)
	}
}

func TestHostileFiles(t *testing.T) {
	for _, data := range []string{
		strings.Repeat("[", maxFile), strings.Repeat("a: ", maxFile/3), strings.Repeat("- ", maxFile/2), strings.Repeat("x", maxFile+1),
		"a: &a [x,x]\nb: &b [*a,*a]\nc: *b\n", "\x00", "address: *nowhere",
	} {
		if _, err := Parse([]byte(data)); !errors.Is(err, ErrInvalid) || len(err.Error()) > 1100 {
			t.Errorf("%.20q...: %.200v", data, err)
		}
	}
}

func TestOffers(t *testing.T) {
	t.Run("SE-13/empty set means reads only", func(t *testing.T) {
		var p Profile
		if p.Capabilities() != sentinel.Reads {
			t.Errorf("%b", p.Capabilities())
		}
	})
	p := example()
	if p.Capabilities() != sentinel.Reads|sentinel.CapabilitySet(effects.PlaceBlock, effects.MoveTo) {
		t.Errorf("%b", p.Capabilities())
	}
	if _, ok := p.Offer(effects.Say); ok {
		t.Error("say is not offered")
	}
	if o, ok := p.Offer(effects.PlaceBlock); !ok || effects.Grade(o.Least) != effects.Acknowledged {
		t.Error(o, ok)
	}
	if (&Profile{}).UsesPerSecond() != DefaultRate {
		t.Error("default rate")
	}
}

func TestPath(t *testing.T) {
	seen := map[string]string{}
	for _, a := range []string{"localhost:25565", "mc.example.org", "mc.example.org:25565", "[::1]:25565", "__1_:25565", "../../etc/passwd",
		"..", "a/b", "a_b", "a:b", "A:B", strings.Repeat("x", 300), "", "..:1", "é", "è"} {
		name := fileName(a)
		if strings.ContainsAny(name, `/\:`) || strings.HasPrefix(name, "..") || len(name) > 120 {
			t.Errorf("%q -> %q", a, name)
		}
		if was, ok := seen[name]; ok && !strings.EqualFold(was, a) {
			t.Errorf("%q and %q share %q", was, a, name)
		}
		seen[name] = a
	}
	if fileName("localhost:25565") != "localhost_25565.yaml" {
		t.Error(fileName("localhost:25565"))
	}
	if _, err := Load(Path(t.TempDir(), "nowhere")); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
}

// FuzzParse: any bytes give a profile or an error, and a profile that is read can be written and read again.
func FuzzParse(f *testing.F) {
	good, _ := example().Marshal()
	f.Add(good)
	f.Add([]byte("version: 1\naddress: x\nmode: attached\n"))
	f.Add([]byte("a: &a [*a, *a]\n"))
	f.Add([]byte("offers: {place_block: {least: none}}"))
	f.Add([]byte("version: !!binary x\n? \n- "))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		out, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(out); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
}
