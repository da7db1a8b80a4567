package policy

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blockworld/effects/host"
)

const aToken = "bw_0123456789abcdef_q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k"

func TestKernelDeniesItsClassesUnderEveryProfile(t *testing.T) {
	classes := []struct {
		row  string
		code Code
		name string
		tag  host.Name
	}{
		{"CP-17", CodeKernelCode, "code.execute", "arbitrary_code"},
		{"CP-18", CodeKernelFiles, "file.write", "file-access"},
		{"CP-19", CodeKernelNative, "native.call", "native_call"},
		{"CP-20", CodeKernelAuthority, "authority.grant", "slash_command"},
		{"CP-21", CodeKernelSecret, "secret.tell", "secret_exposure"},
	}
	for _, p := range everyProfile {
		e := compiled(t, allowAll(p))
		for _, c := range classes {
			for _, name := range []string{c.name, string(c.tag)} {
				t.Run(fmt.Sprintf("%s/as kind %s under %s", c.row, name, p), func(t *testing.T) {
					v := placing()
					v.Kind = name
					wants(t, e.Decide(asks(v), nil), Deny, c.code)
				})
				t.Run(fmt.Sprintf("%s/as tag %s under %s", c.row, name, p), func(t *testing.T) {
					v := placing()
					v.Tags = []host.Name{"harmless", host.Name(name)}
					f := asks(placing(), v)
					f.Confirmed = true
					wants(t, e.Decide(f, nil), Deny, c.code)
				})
			}
		}
		t.Run("CP-36/kernel classes stay denied under "+p.String(), func(t *testing.T) {
			v := saying("/gamemode creative")
			wants(t, e.Decide(asks(v), nil), Deny, CodeKernelAuthority)
		})
	}
}

func TestWhatIsSaid(t *testing.T) {
	c := allowAll(Open)
	c.Secrets = []string{"Tr0ub4dor&3", "correct horse battery staple", "pass-1",
		// of the word open-sesame-7
		"sha256:" + sha256Hex("open-sesame-7")}
	e := compiled(t, c)
	for _, line := range []struct {
		row, text string
		code      Code
	}{
		{"CP-20", "/op bot", CodeKernelAuthority},
		{"CP-20", "  \t/op bot", CodeKernelAuthority},
		{"CP-20", "\u200b\u200d/op bot", CodeKernelAuthority},
		{"CP-20", "§a§l/op bot", CodeKernelAuthority},
		{"CP-20", "／op bot", CodeKernelAuthority},
		{"CP-20", "∕op bot", CodeKernelAuthority},
		{"CP-20", "\u00a0/say hi", CodeKernelAuthority},
		{"CP-20", "hello\n/op bot", CodeKernelAuthority},
		{"CP-20", "hello\r/op bot", CodeKernelAuthority},
		{"CP-20", "hello§\n/op bot", CodeKernelAuthority},
		{"CP-20", "//set stone", CodeKernelAuthority},
		{"CP-20", "/", CodeKernelAuthority},
		{"CP-20", "\x00\x01/op", CodeKernelAuthority},
		{"CP-20", "east/west", CodeRuleAllowed},
		{"CP-20", "and/or what? 1 / 2", CodeRuleAllowed},
		{"CP-20", "the command is: /op", CodeRuleAllowed},
		{"CP-21", aToken, CodeKernelSecret},
		{"CP-21", "my token is " + aToken + ", keep it", CodeKernelSecret},
		{"CP-21", strings.ToUpper(aToken), CodeKernelSecret},
		{"CP-21", strings.TrimPrefix(aToken, "bw_"), CodeKernelSecret},
		{"CP-21", aToken[len(aToken)-43:], CodeKernelSecret},
		{"CP-21", aToken[:24], CodeKernelSecret},
		{"CP-21", "bw_0123456789\u200babcdef_xyz", CodeKernelSecret},
		{"CP-21", "ｂｗ_0123456789abcdef", CodeKernelSecret},
		{"CP-21", "0123456789abcdef0123456789abcdef", CodeKernelSecret},
		{"CP-21", "q83v-SNFZ4mrze8B_0VniavN7wEjRWeJ-83vASNFZ4k", CodeKernelSecret},
		{"CP-21", "north-wall-2-is-done", CodeRuleAllowed},
		{"CP-21", "bw_short", CodeRuleAllowed},
		{"CP-21", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaah", CodeRuleAllowed},
		{"CP-21", "12345678901234567890123456789012345678901234567890", CodeRuleAllowed},
		{"CP-21", "the password is tr0ub4dor&3!", CodeKernelSecret},
		{"CP-21", "t r 0 u b 4 d o r 3", CodeKernelSecret},
		{"CP-21", "T-r-0-u-b-4-d-o-r-3", CodeKernelSecret},
		{"CP-21", "tr0ub§a4dor&3", CodeKernelSecret},
		{"CP-21", "Correct  Horse Battery Staple", CodeKernelSecret},
		{"CP-21", "xPASS-1x", CodeKernelSecret},
		{"CP-21", "pass 1 of the mountain", CodeRuleAllowed},
		{"CP-21", "say open-sesame-7.", CodeKernelSecret},
		{"CP-21", "open-sesame-8", CodeRuleAllowed},
		{"CP-21", "correct horse", CodeRuleAllowed},
		{"CP-20", "", CodeRuleAllowed},
		{"CP-20", "grüß dich, 世界", CodeRuleAllowed},
		{"CP-20", "bad \xff bytes", CodeInvalidEffect},
	} {
		t.Run(fmt.Sprintf("%s/say %q", line.row, line.text), func(t *testing.T) {
			d := e.Decide(asks(saying(line.text)), nil)
			if d.Code != line.code {
				t.Errorf("decided %s (%s), want %s", d.Code, d.Reason, line.code)
			}
			if line.code == CodeKernelSecret && strings.Contains(bytesOf(t, d)+bytesOf(t, e.Explain(asks(saying(line.text)), nil)), line.text) {
				t.Error("the refusal repeats the secret")
			}
		})
	}
}

func TestKernelDeniesWhatIsNotRegistered(t *testing.T) {
	for _, p := range everyProfile {
		c := allowAll(p)
		c.Plots = []Plot{
			{ID: "home", Owner: "alice"}, {ID: "nobody-knows"},
			{ID: "far", Owner: "alice", Server: "other.example"}, {ID: "nether", Owner: "alice", World: "minecraft:the_nether"},
			{ID: "near", Owner: "alice", Server: "play.example", World: "minecraft:overworld"}, {ID: "whole", Owner: "alice", Server: here},
		}
		e := compiled(t, c)
		one := func(change func(*host.Preview)) *Facts {
			v := placingOn("home")
			change(&v)
			return asks(v)
		}
		for _, row := range []struct {
			name   string
			change func(*host.Preview)
			result Result
			code   Code
		}{
			{"CP-22/world.unknown", func(v *host.Preview) { v.Kind = "world.unknown" }, Deny, CodeUnknownEffect},
			{"CP-22/no kind", func(v *host.Preview) { v.Kind = "" }, Deny, CodeUnknownEffect},
			{"CP-22/upper case", func(v *host.Preview) { v.Kind = "World.Place" }, Deny, CodeUnknownEffect},
			{"CP-23/a foreign plot", func(v *host.Preview) { v.Scope = "not-mine" }, Deny, CodeUnknownScope},
			{"CP-23/a plot of another server", func(v *host.Preview) { v.Scope = "far" }, Deny, CodeUnknownScope},
			{"CP-23/a plot of another world", func(v *host.Preview) { v.Scope = "nether" }, Deny, CodeUnknownScope},
			{"CP-23/a plot of this server by its address", func(v *host.Preview) { v.Scope = "near" }, Allow, CodeRuleAllowed},
			{"CP-23/a plot of this server by its identity", func(v *host.Preview) { v.Scope = "whole" }, Allow, CodeRuleAllowed},
			{"CP-24/target not loaded", func(v *host.Preview) { v.Ownership = "unknown" }, Deny, CodeOwnershipUnknown},
			{"CP-24/no ownership", func(v *host.Preview) { v.Ownership = "" }, Deny, CodeOwnershipUnknown},
			{"CP-24/a word of the host's own", func(v *host.Preview) { v.Ownership = "mine" }, Deny, CodeOwnershipUnknown},
			{"CP-24/plot without an owner", func(v *host.Preview) { v.Scope, v.Ownership = "nobody-knows", "own" }, Deny, CodeOwnershipUnknown},
			{"CP-22/a placement that calls itself a read", func(v *host.Preview) { v.Operation = "read" }, Deny, CodeInvalidEffect},
			{"CP-22/an operation outside the set", func(v *host.Preview) { v.Operation = "glance" }, Deny, CodeInvalidEffect},
			{"CP-22/a risk outside the set", func(v *host.Preview) { v.Risk = "" }, Deny, CodeInvalidEffect},
			{"CP-42/a quantity below nothing", func(v *host.Preview) { v.Quantity = -1 }, Deny, CodeInvalidEffect},
			{"CP-38/a tag that is no name", func(v *host.Preview) { v.Tags = []host.Name{"Safe=True"} }, Deny, CodeInvalidEffect},
			{"CP-38/too many tags", func(v *host.Preview) {
				for i := range host.MaxEffects + 1 {
					v.Tags = append(v.Tags, host.Name(fmt.Sprintf("t%d", i)))
				}
			}, Deny, CodeInvalidEffect},
			{"CP-39/nothing wrong", func(v *host.Preview) {}, Allow, CodeRuleAllowed},
		} {
			t.Run(row.name+" under "+p.String(), func(t *testing.T) { wants(t, e.Decide(one(row.change), nil), row.result, row.code) })
		}
		t.Run("CP-13/an action without effects under "+p.String(), func(t *testing.T) {
			wants(t, e.Decide(asks(), nil), Deny, CodeInvalidEffect)
		})
		t.Run("CP-13/an action with too many effects under "+p.String(), func(t *testing.T) {
			f := asks()
			for range host.MaxEffects + 1 {
				f.Effects = append(f.Effects, placing())
			}
			wants(t, e.Decide(f, nil), Deny, CodeInvalidEffect)
		})
	}
}

func TestKernelChecksTheContextAgain(t *testing.T) {
	t.Run("CP-25/profile x does not load", func(t *testing.T) {
		if _, err := ParseYAML([]byte("profile: x\n")); err == nil || !strings.Contains(err.Error(), "guarded, survival, open, privileged-custom") {
			t.Errorf("error %v", err)
		}
		if _, err := ParseJSON([]byte(`{"profile":"x"}`)); err == nil {
			t.Error("loaded")
		}
	})
	t.Run("CP-25/a number outside the set does not compile", func(t *testing.T) {
		if _, err := Compile(Config{Profile: 99}); err == nil || !strings.Contains(err.Error(), "profile") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("CP-25/an engine that was never compiled denies everything", func(t *testing.T) {
		wants(t, (&Engine{}).Decide(asks(placing()), nil), Deny, CodeInvalidProfile)
		wants(t, (*Engine)(nil).Decide(asks(placing()), nil), Deny, CodeInvalidProfile)
		wants(t, (&Engine{compiled: true, profile: 99}).Decide(asks(placing()), nil), Deny, CodeInvalidProfile)
	})
	for _, p := range everyProfile {
		e := compiled(t, allowAll(p))
		for _, epoch := range []host.Epoch{{}, {Host: 1, World: 1}, {World: 1, Timeline: 1}, {Host: 1, Timeline: 1}} {
			t.Run(fmt.Sprintf("CP-26/epoch %v under %s", epoch, p), func(t *testing.T) {
				f := asks(placing())
				f.Epoch = epoch
				wants(t, e.Decide(f, nil), Deny, CodeInvalidEpoch)
			})
		}
		for _, name := range []host.Name{"", "Alice", "al ice", "-alice", "alice\n", host.Name(strings.Repeat("a", 65))} {
			t.Run(fmt.Sprintf("CP-27/principal %q under %s", name, p), func(t *testing.T) {
				f := asks(placing())
				f.Principal = name
				wants(t, e.Decide(f, nil), Deny, CodeInvalidPrincipal)
			})
			t.Run(fmt.Sprintf("CP-27/actor %q under %s", name, p), func(t *testing.T) {
				f := asks(placing())
				f.Actor = name
				wants(t, e.Decide(f, nil), Deny, CodeInvalidActor)
			})
		}
	}
	t.Run("CP-37/a rule for a server is not slipped past by not knowing where one is", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Rules: []Rule{{ID: "no", Layer: LayerServer, Subject: "play.example", Result: Deny}}})
		f := asks(placing())
		f.Server = ""
		wants(t, e.Decide(f, nil), Deny, CodeUnknownServer)
		e = compiled(t, Config{Profile: Open, Rules: []Rule{{ID: "no", Layer: LayerWorld, Subject: "minecraft:the_end", Result: Deny}}})
		f = asks(placing())
		f.World = ""
		wants(t, e.Decide(f, nil), Deny, CodeUnknownServer)
	})
}

// triggers hold, for each row of the kernel, facts that it refuses.
var triggers = [kernelCount]func(*Facts, *Engine){
	kernelCode:      func(f *Facts, _ *Engine) { f.Effects = append(f.Effects, tagged("code.run")) },
	kernelFiles:     func(f *Facts, _ *Engine) { f.Effects = append(f.Effects, tagged("file.read")) },
	kernelNative:    func(f *Facts, _ *Engine) { f.Effects = append(f.Effects, tagged("native.call")) },
	kernelAuthority: func(f *Facts, _ *Engine) { f.Effects = append(f.Effects, saying("/stop")) },
	kernelSecret:    func(f *Facts, _ *Engine) { f.Effects = append(f.Effects, saying(aToken)) },
	kernelEffect: func(f *Facts, _ *Engine) {
		v := placing()
		v.Kind = "world.wish"
		f.Effects = append(f.Effects, v)
	},
	kernelScope: func(f *Facts, _ *Engine) { f.Effects = append(f.Effects, placingOn("nowhere")) },
	kernelOwnership: func(f *Facts, _ *Engine) {
		v := placing()
		v.Ownership = "unknown"
		f.Effects = append(f.Effects, v)
	},
	kernelShape: func(f *Facts, _ *Engine) {
		v := placing()
		v.Operation = "move"
		f.Effects = append(f.Effects, v)
	},
	kernelProfile:   func(_ *Facts, e *Engine) { e.compiled = false },
	kernelEpoch:     func(f *Facts, _ *Engine) { f.Epoch.World = 0 },
	kernelPrincipal: func(f *Facts, _ *Engine) { f.Principal = "Alice" },
	kernelActor:     func(f *Facts, _ *Engine) { f.Task = "No Name" },
	kernelServer:    func(f *Facts, _ *Engine) { f.Server = "" },
}

func tagged(tag host.Name) host.Preview {
	v := placing()
	v.Tags = []host.Name{tag}
	return v
}

// triggered returns engine and facts that are right but for the given rows.
func triggered(t fataler, rows kernelSet) (*Engine, *Facts) {
	c := allowAll(Open)
	c.Rules = append(c.Rules, Rule{ID: "elsewhere", Layer: LayerServer, Subject: "other.example", Result: Deny})
	e, f := compiled(t, c), asks(placing())
	for id := range kernelCount {
		if rows.has(id) {
			triggers[id](f, e)
		}
	}
	return e, f
}

func TestFirstKernelRowOwnsTheRefusal(t *testing.T) {
	for i := range kernelCount {
		t.Run(string(kernel[i].code), func(t *testing.T) {
			e, f := triggered(t, 1<<i)
			wants(t, e.Decide(f, nil), Deny, kernel[i].code)
			e, f = triggered(t, wholeKernel&^(1<<i-1)) // i and all behind it
			wants(t, e.Decide(f, nil), Deny, kernel[i].code)
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := kernelSet(rapid.Uint16Range(1, uint16(wholeKernel)).Draw(t, "rows"))
		e, f := triggered(t, rows)
		if d := e.Decide(f, nil); d.Code != kernel[rows.first()].code {
			t.Errorf("rows %b: decided %s, want %s", rows, d.Code, kernel[rows.first()].code)
		}
	})
}

func TestEveryKernelRowIsNeeded(t *testing.T) {
	codes := map[Code]bool{}
	for i := range kernelCount {
		e, f := triggered(t, 1<<i)
		if d := e.decide(f, nil, wholeKernel&^(1<<i)); d.Code == kernel[i].code {
			t.Errorf("without its row %s is still refused by %s", kernel[i].code, d.Code)
		} else if d.Result != Allow {
			t.Errorf("without its row %s is refused by %s: the case does not stand alone", kernel[i].code, d.Code)
		}
		if kernel[i].why == "" || codes[kernel[i].code] {
			t.Errorf("row %d has no words or another's code", i)
		}
		codes[kernel[i].code] = true
	}
	e, f := triggered(t, 0)
	wants(t, e.Decide(f, nil), Allow, CodeRuleAllowed)
}
