package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/effects"
	"blockworld/effects/host"
)

func TestArgumentsAreShownAsTheirSchemaSays(t *testing.T) {
	args, err := argumentsOf(json.RawMessage(`{"type":"object","properties":{
		"z":{"type":"integer","minimum":0,"maximum":1024,"description":"how many"},
		"pos":{"type":"array","items":{"type":"integer","minimum":-30000000,"maximum":30000000},"minItems":3,"maxItems":3,"description":"cell, in blocks"},
		"radius":{"type":"number","exclusiveMinimum":0,"maximum":256},"rate":{"type":"number","minimum":0.5},
		"id":{"type":"string","pattern":"^[0-9a-f]{64}$"},"text":{"type":"string","minLength":1,"maxLength":256},"form":{"type":"string","pattern":"^a+$"},"word":{"type":"string","pattern":"^[a-z_/\\[\\]-]+$"},
		"mirror":{"enum":["x","z"]},"partial":{"type":"boolean"},"names":{"type":"array","items":{"type":"string"},"maxItems":64},"any":{}
	},"required":["z","pos"]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []argument{
		{"z", "whole number, 0 to 1024", "how many", true},
		{"pos", "list of 3, each a whole number, -30000000 to 30000000", "cell, in blocks", true},
		{"any", "anything", "", false},
		{"form", "text, of the form ^a+$", "", false},
		{"id", "64 hex digits", "", false},
		{"mirror", "x or z", "", false},
		{"names", "list of up to 64, each a text", "", false},
		{"partial", "true or false", "", false},
		{"radius", "number, above 0, to 256", "", false},
		{"rate", "number, from 0.5", "", false},
		{"text", "text, 1 to 256 characters", "", false},
		{"word", "text, of a-z_/[]-", "", false},
	}
	if len(args) != len(want) {
		t.Fatalf("%+v", args)
	}
	for i := range want {
		if args[i] != want[i] {
			t.Errorf("%+v, want %+v", args[i], want[i])
		}
	}
}

func TestEveryCapabilityIsShownWithItsArguments(t *testing.T) {
	for _, c := range effects.Capabilities() {
		var out bytes.Buffer
		view := v1.Capability{CapabilityView: controlplane.CapabilityView{Capability: host.Capability{Name: c.String(), Schema: effects.Schema(c)}}}
		tellCapability(&printer{g: &globals{}, out: &out}, &view)
		args, err := argumentsOf(effects.Schema(c))
		if err != nil || strings.Contains(out.String(), "anything") {
			t.Errorf("%s: %v: %s", c, err, out.String())
		}
		for _, a := range args {
			if !strings.Contains(out.String(), "    "+a.name) || !strings.Contains(out.String(), a.about) || a.about == "" {
				t.Errorf("%s: %s is not shown: %s", c, a.name, out.String())
			}
		}
	}
}

func TestReadableJSONSteersNoTerminal(t *testing.T) {
	got := readable(json.RawMessage(`{"b":"\u003cx\u003e \u0026\u001b[2J\n","a":[1, -2.5,3e9],"c":[ "[\n 1,  2 ]", {} ]}`))
	if want := "{\n  \"b\": \"<x> &\\u001b[2J\\n\",\n  \"a\": [1, -2.5, 3e9],\n  \"c\": [\n    \"[\\n 1,  2 ]\",\n    {}\n  ]\n}"; got != want {
		t.Errorf("%q", got)
	}
	if got := readable(json.RawMessage("{\"a\":\"\u202e\u009b\"}")); strings.ContainsAny(got, "\u202e\u009b") {
		t.Errorf("%q", got)
	}
	if got := readable(json.RawMessage("no\nJSON\x1b")); got != "no JSON" {
		t.Errorf("%q", got)
	}
	if b, err := plainJSON(map[string]string{"a": "<&>"}); err != nil || string(b) != `{"a":"<&>"}` {
		t.Errorf("%s, %v", b, err)
	}
}
