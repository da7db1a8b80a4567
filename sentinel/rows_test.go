package sentinel

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"blockworld/effects"
	"blockworld/worldstate/geom"
)

var fiveEffects = []effects.Capability{effects.MoveTo, effects.LookAt, effects.Say, effects.Equip, effects.PlaceBlock}

// TestDenialMatrix: each effect is refused for each of the four reasons, by the rule of that reason alone.
func TestDenialMatrix(t *testing.T) {
	outside := func(f *Facts) {
		f.Self.X, f.PathBounds.Max.X, f.Cells[0], f.CellCount = 100, 100, geom.BlockPos{X: 100, Y: 64, Z: 3}, 1
		f.Clicked, f.Landings = geom.BlockPos{X: 100, Y: 63, Z: 3}, [2]geom.BlockPos{{X: 100, Y: 63, Z: 3}, {X: 100, Y: 64, Z: 3}}
	}
	plot := map[effects.Capability]RuleID{
		effects.MoveTo: RulePathOutside, effects.LookAt: RuleSelfOutside, effects.Say: RuleSelfOutside,
		effects.Equip: RuleSelfOutside, effects.PlaceBlock: RuleOutsideBuildBox,
	}
	for _, c := range fiveEffects {
		for _, reason := range []struct {
			name   string
			break1 func(*Facts)
			rule   RuleID
		}{
			{"plot", outside, plot[c]},
			{"cursor", func(f *Facts) { f.Now.Cursor = PinOf("edited") }, RuleCursorStale},
			{"inventory", func(f *Facts) { f.Synced = Unknown }, RuleInventoryUnsynced},
			{"budget", func(f *Facts) { f.Count.Left = 0 }, RuleBudgetCount},
		} {
			t.Run(fmt.Sprintf("DC-06/%s %s", c, reason.name), func(t *testing.T) {
				f := good(c)
				if d := Decide(&f); !d.Admit {
					t.Fatal("the good case is denied:", d.Explain())
				}
				reason.break1(&f)
				if d := Decide(&f); d.Admit || d.Rule != reason.rule {
					t.Error(d.Explain())
				}
			})
		}
	}
}

func TestOffers(t *testing.T) {
	t.Run("SE-13/only both admit", func(t *testing.T) {
		for _, policy := range []bool{false, true} {
			for _, offered := range []bool{false, true} {
				f := good(effects.PlaceBlock)
				if !policy {
					f.Policy &^= CapabilitySet(effects.PlaceBlock)
				}
				if !offered {
					f.Offered &^= CapabilitySet(effects.PlaceBlock)
				}
				if d := Decide(&f); d.Admit != (policy && offered) {
					t.Errorf("policy %v, offered %v: %s", policy, offered, d.Explain())
				}
			}
		}
	})
	t.Run("SE-12/four of ten are absent and refused", func(t *testing.T) {
		six := CapabilitySet(effects.WorldStatus, effects.InventorySummary, effects.ScanRegion, effects.NearbyEntities, effects.ChatSince, effects.PlaceBlock)
		for _, c := range fiveEffects {
			f := good(c)
			f.Offered = six
			if d := Decide(&f); d.Admit != (c == effects.PlaceBlock) || !d.Admit && d.Rule != RuleNotOffered {
				t.Error(c, d.Explain())
			}
		}
	})
	t.Run("SE-13/empty set means reads only", func(t *testing.T) {
		for _, c := range effects.Capabilities() {
			f := good(c)
			f.Offered = 0
			if d := Decide(&f); d.Admit == c.Effect() {
				t.Error(c, d.Explain())
			}
		}
	})
}

// TestOnlyNarrows: what is admitted was asked for, allowed and offered; and taking anything away never admits more.
func TestOnlyNarrows(t *testing.T) {
	t.Run("SE-25/admitted is part of asked", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c := effects.Capability(rapid.Uint8Range(0, 12).Draw(t, "capability"))
			f := good(c)
			f.Policy = Capabilities(rapid.Uint32().Draw(t, "policy"))
			f.Offered = Capabilities(rapid.Uint32().Draw(t, "offered"))
			for _, r := range Rules() {
				if b := breakers[r.ID]; b != nil && rapid.IntRange(0, 60).Draw(t, r.Name) == 0 && r.ID != RuleNotInPolicy && r.ID != RuleNotOffered {
					b(&f)
				}
			}
			asked := f
			d := Decide(&f)
			if f != asked {
				t.Fatal("the action was substituted")
			}
			if d.Admit && (!f.Policy.Has(c) || c.Effect() && !f.Offered.Has(c) || !c.Valid()) {
				t.Fatal("admitted beyond what is allowed and offered")
			}
			narrow := f
			narrow.Policy &= Capabilities(rapid.Uint32().Draw(t, "less policy"))
			narrow.Offered &= Capabilities(rapid.Uint32().Draw(t, "less offered"))
			narrow.Count.Left -= rapid.Int64Range(0, 20).Draw(t, "less budget")
			if Decide(&narrow).Admit && !d.Admit {
				t.Fatal("taking something away admitted more")
			}
		})
	})
}

// place returns the decision on a placement of these names in the overworld.
func place(item string, makes []string, clicked string, sneak bool, d DimensionKind) Decision {
	f := good(effects.PlaceBlock)
	f.Classes, f.Dimension = Classify(item, makes, clicked, sneak), d
	return Decide(&f)
}

func TestExcludedPlacements(t *testing.T) {
	stone := "minecraft:stone"
	for _, c := range []struct {
		name, item string
		makes      []string
		clicked    string
		sneak      bool
		dim        DimensionKind
		want       RuleID
	}{
		{"ordinary", stone, []string{stone}, stone, false, DimensionOverworld, RuleAdmit},
		{"short name", "stone", []string{"stone"}, "stone", false, DimensionOverworld, RuleAdmit},
		{"SE-47/air", stone, []string{"minecraft:air"}, stone, false, DimensionOverworld, RuleDestructive},
		{"SE-47/sponge", "minecraft:sponge", []string{"minecraft:sponge"}, stone, false, DimensionOverworld, RuleDestructive},
		{"SE-47/shovel", "minecraft:iron_shovel", []string{"minecraft:dirt_path"}, "minecraft:dirt", false, DimensionOverworld, RuleDestructive},
		{"SE-48/flint and steel", "minecraft:flint_and_steel", []string{"minecraft:fire"}, stone, false, DimensionOverworld, RuleFire},
		{"SE-48/fire charge", "minecraft:fire_charge", []string{"minecraft:fire"}, stone, false, DimensionOverworld, RuleFire},
		{"SE-48/lava bucket", "minecraft:lava_bucket", []string{"minecraft:lava"}, stone, false, DimensionOverworld, RuleLava},
		{"SE-48/water bucket", "minecraft:water_bucket", []string{"minecraft:water"}, stone, false, DimensionOverworld, RuleWater},
		{"SE-48/fish bucket", "minecraft:cod_bucket", []string{"minecraft:water"}, stone, false, DimensionOverworld, RuleWater},
		{"SE-48/tnt", "minecraft:tnt", []string{"minecraft:tnt"}, stone, false, DimensionOverworld, RuleExplosives},
		{"SE-48/end crystal", "minecraft:end_crystal", nil, "minecraft:obsidian", false, DimensionOverworld, RuleExplosives},
		{"SE-48/wither skull", "minecraft:wither_skeleton_skull", []string{"minecraft:wither_skeleton_skull"}, "minecraft:soul_sand", false, DimensionOverworld, RuleExplosives},
		{"SE-48/bed at home", "minecraft:red_bed", []string{"minecraft:red_bed"}, stone, false, DimensionOverworld, RuleAdmit},
		{"SE-48/bed in the nether", "minecraft:red_bed", []string{"minecraft:red_bed"}, stone, false, DimensionNether, RuleExplodesHere},
		{"SE-48/bed nobody knows where", "minecraft:red_bed", []string{"minecraft:red_bed"}, stone, false, DimensionUnknown, RuleExplodesHere},
		{"SE-48/anchor at home", "minecraft:respawn_anchor", []string{"minecraft:respawn_anchor"}, stone, false, DimensionOverworld, RuleExplodesHere},
		{"SE-48/anchor in the nether", "minecraft:respawn_anchor", []string{"minecraft:respawn_anchor"}, stone, false, DimensionNether, RuleAdmit},
		{"SE-48/item of another mod", "mod:stone", []string{stone}, stone, false, DimensionOverworld, RuleClassUnknown},
		{"SE-48/item of no version", "minecraft:stoone", []string{stone}, stone, false, DimensionOverworld, RuleClassUnknown},
		{"SE-48/block of no version", stone, []string{"minecraft:unknown[7]"}, stone, false, DimensionOverworld, RuleClassUnknown},
		{"SE-48/food", "minecraft:apple", []string{stone}, stone, false, DimensionOverworld, RuleClassUnknown},
		{"SE-51/a chest answers the click", stone, []string{stone}, "minecraft:chest", false, DimensionOverworld, RuleContainers},
		{"SE-51/sneaking it does not", stone, []string{stone}, "minecraft:chest", true, DimensionOverworld, RuleAdmit},
		{"SE-51/shulker box", stone, []string{stone}, "minecraft:blue_shulker_box", false, DimensionOverworld, RuleContainers},
		{"door", stone, []string{stone}, "minecraft:oak_door", false, DimensionOverworld, RuleInteraction},
		{"boat", "minecraft:oak_boat", nil, stone, false, DimensionOverworld, RuleEntities},
		{"spawner", "minecraft:spawner", []string{"minecraft:spawner"}, stone, false, DimensionOverworld, RuleEntities},
		{"command block", "minecraft:command_block", []string{"minecraft:command_block"}, stone, false, DimensionOverworld, RuleCommands},
		{"sword", "minecraft:iron_sword", nil, stone, false, DimensionOverworld, RulePvP},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := place(c.item, c.makes, c.clicked, c.sneak, c.dim); d.Rule != c.want {
				t.Error(d.Explain())
			}
		})
	}
}

func TestReplacing(t *testing.T) {
	for r, want := range map[Replacement]RuleID{
		ReplacesUnknown: RuleReplaces, ReplacesOther: RuleReplaces, ReplacesAir: RuleAdmit,
		ReplacesOwnKind: RuleAdmit, ReplacesNamed: RuleAdmit, Replacement(9): RuleReplaces,
	} {
		t.Run(fmt.Sprintf("SE-47/replaces %d", r), func(t *testing.T) {
			f := good(effects.PlaceBlock)
			f.Replaces = r
			if d := Decide(&f); d.Rule != want {
				t.Error(d.Explain())
			}
		})
	}
}

func TestExcludedText(t *testing.T) {
	say := func(text string) Decision {
		f := good(effects.Say)
		f.Classes = TextClass(text)
		f.TextLength, f.TextLegal = TextFacts(text)
		return Decide(&f)
	}
	for text, want := range map[string]RuleID{
		"hello": RuleAdmit, "a/b": RuleAdmit,
		"/msg a b": RulePrivateChat, "/tell a b": RulePrivateChat, "/w a b": RulePrivateChat, "/teammsg x": RulePrivateChat,
		"/minecraft:msg a b": RulePrivateChat, "//w a": RulePrivateChat, " /tell a": RulePrivateChat, "/W a": RulePrivateChat,
		"/gamemode creative": RuleCommands, "/": RuleCommands, "/me waves": RuleCommands,
	} {
		t.Run("SE-50/"+text, func(t *testing.T) {
			if d := say(text); d.Rule != want {
				t.Error(d.Explain())
			}
		})
	}
	for text, rule := range map[string]RuleID{"/op me": RuleCommands, "/reload": RuleCommands, "/publish": RuleCommands, "/save-all": RuleCommands} {
		t.Run("SE-52/"+text, func(t *testing.T) {
			if d := say(text); d.Rule != rule || !d.Also.Has(RuleAccount) {
				t.Error(d.Explain())
			}
		})
	}
	t.Run("SE-52/no capability for it", func(t *testing.T) {
		for _, name := range []string{"open_container", "restore", "expose", "install_plugin", "set_password", "break_block"} {
			if c, err := effects.ParseCapability(name); err == nil {
				t.Error(name, "is", c)
			}
		}
		f := good(effects.PlaceBlock + 1)
		if d := Decide(&f); d.Rule != RuleNothingAdmits {
			t.Error(d.Explain())
		}
	})
	for text, ok := range map[string]bool{
		"": false, "   ": false, "a\nb": false, "§4red": false, "\x7f": false, "a\u009b31m": false, string(make([]byte, 3)): false, "\xff": false,
		repeat("x", 256): true, repeat("x", 257): false, repeat("😀", 128): true, repeat("😀", 129): false,
	} {
		if d := say(text); d.Admit != ok {
			t.Errorf("%.20q: %s", text, d.Explain())
		}
	}
}

func repeat(s string, n int) (out string) {
	for range n {
		out += s
	}
	return out
}

func TestPlot(t *testing.T) {
	p := PlotOf(geom.BoxOf(geom.BlockPos{X: 0, Y: 64, Z: 0}, geom.BlockPos{X: 9, Y: 70, Z: 9}))
	if p.Click.Min != (geom.BlockPos{X: -1, Y: 63, Z: -1}) || p.Walk.Max != (geom.BlockPos{X: 15, Y: 76, Z: 15}) {
		t.Error(p)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	for _, bad := range []Plot{
		{Build: p.Build, Click: p.Build.Grow(-1), Walk: p.Walk}, {Build: p.Build, Click: p.Click, Walk: p.Build.Grow(-1)},
		{Build: geom.BlockBox{Min: p.Build.Max, Max: p.Build.Min}, Click: p.Click, Walk: p.Walk},
	} {
		if bad.Validate() == nil {
			t.Error("valid:", bad)
		}
	}
}
