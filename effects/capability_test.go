package effects

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestCapabilities(t *testing.T) {
	all := Capabilities()
	if len(all) != 10 {
		t.Fatalf("%d capabilities, want 10", len(all))
	}
	effects := 0
	for _, c := range all {
		back, err := ParseCapability(c.String())
		if err != nil || back != c {
			t.Errorf("%s reads back as %v, %v", c, back, err)
		}
		if c.Effect() {
			effects++
			if c.row().mode == RollbackNone {
				t.Errorf("%s has no rollback boundary", c)
			}
		}
		if c.Risk() == RiskUnknown || c.TimeBudget() <= 0 {
			t.Errorf("%s lacks risk or time budget", c)
		}
	}
	if effects != 5 {
		t.Errorf("%d effects, want 5", effects)
	}
	for _, name := range []string{"", "break_block", "use_item", "attack", "Place_Block", "place_block ", "invalid"} {
		if _, err := ParseCapability(name); !errors.Is(err, ErrUnknownCapability) {
			t.Errorf("%q: %v", name, err)
		}
	}
	var zero Capability
	if zero.Valid() || zero.Effect() || zero.Risk() != RiskUnknown || zero.Cancellation() != CancelUnsupportedOnceSent {
		t.Error("the zero capability is not careful")
	}
	if (Rollback{}).Automatic() || Say.Rollback("m").Mode != RollbackNotReversible || MoveTo.Rollback("m").Mode != RollbackCompensating {
		t.Error("rollback boundaries")
	}
}

// requests gives one valid request per capability.
var requests = map[Capability]string{
	WorldStatus:      `{}`,
	InventorySummary: `{}`,
	ScanRegion:       `{"min":[0,60,0],"max":[9,70,9],"block":"minecraft:stone","limit":5}`,
	NearbyEntities:   `{"radius":16.5}`,
	ChatSince:        `{"cursor":7,"limit":10}`,
	MoveTo:           `{"pos":[1,64,-3]}`,
	LookAt:           `{"point":[0.5,65.25,-1]}`,
	Say:              `{"text":"hello"}`,
	Equip:            `{"item":"minecraft:stone"}`,
	PlaceBlock:       `{"pos":[1,64,1],"state":"minecraft:oak_log[axis=x]"}`,
}

func TestSchemas(t *testing.T) {
	for _, c := range Capabilities() {
		var s struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
			Additional *bool          `json:"additionalProperties"`
			Type       string         `json:"type"`
		}
		if err := json.Unmarshal(Schema(c), &s); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if s.Additional == nil || *s.Additional || s.Type != "object" {
			t.Errorf("%s: the schema is open", c)
		}
		r, err := ParseRequest(c.String(), []byte(requests[c]))
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		fields := map[string]bool{}
		for i := range reflect.TypeOf(r).NumField() {
			tag, _, optional := strings.Cut(reflect.TypeOf(r).Field(i).Tag.Get("json"), ",")
			fields[tag] = true
			if s.Properties[tag] == nil {
				t.Errorf("%s: field %s is not in the schema", c, tag)
			}
			if required := strings.Contains(strings.Join(s.Required, " "), tag); required == optional {
				t.Errorf("%s: field %s: required %v, optional %v", c, tag, required, optional)
			}
		}
		for name, p := range s.Properties {
			if text, _ := p.(map[string]any)["description"].(string); text == "" {
				t.Errorf("%s: nothing says what %s is", c, name)
			}
		}
		if len(fields) != len(s.Properties) {
			t.Errorf("%s: %d fields, %d properties", c, len(fields), len(s.Properties))
		}
	}
	if Schema(0) != nil {
		t.Error("the invalid capability has a schema")
	}
}

func TestWrongTypesAreToldInWordsOfJSON(t *testing.T) {
	for _, c := range []struct{ capability, json, want string }{
		{"chat_since", `{"cursor":5.5}`, `property "cursor" is to be a whole number from 0, not 5.5`},
		{"chat_since", `{"cursor":-1}`, `property "cursor" is to be a whole number from 0, not -1`},
		{"chat_since", `{"cursor":"0"}`, `property "cursor" is to be a whole number from 0, not string`},
		{"chat_since", `{"cursor":0,"limit":0.5}`, `property "limit" is to be a whole number, not 0.5`},
		{"nearby_entities", `{"radius":[]}`, `property "radius" is to be a number, not array`},
		{"say", `{"text":{}}`, `property "text" is to be text, not object`},
		{"move_to", `{"pos":[1,2.5,3]}`, "a position is [x,y,z] in whole numbers, not [1,2.5,3]"},
	} {
		_, err := ParseRequest(c.capability, []byte(c.json))
		if !errors.Is(err, ErrBadRequest) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Go") || strings.Contains(err.Error(), "Request") {
			t.Errorf("%s: %v, want %s", c.json, err, c.want)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	cases := []struct {
		name, capability, json string
	}{
		{"unknown property", "say", `{"text":"a","to":"b"}`},
		{"other case", "say", `{"Text":"a"}`},
		{"missing property", "say", `{}`},
		{"doubled property", "say", `{"text":"a","text":"b"}`},
		{"null", "say", `{"text":null}`},
		{"trailing", "say", `{"text":"a"} {}`},
		{"array", "say", `["a"]`},
		{"nothing", "say", ``},
		{"cut off", "say", `{"text":"a"`},
		{"command", "say", `{"text":"/tell x y"}`},
		{"command behind spaces", "say", `{"text":"  /tell x y"}`},
		{"blank", "say", `{"text":"  "}`},
		{"control character", "say", `{"text":"a\nb"}`},
		{"section sign", "say", `{"text":"\u00a7c"}`},
		{"what a terminal obeys in one character", "say", `{"text":"a\u009b31m"}`},
		{"too long", "say", `{"text":"` + strings.Repeat("a", 257) + `"}`},
		{"too long in UTF-16", "say", `{"text":"` + strings.Repeat("\U0001F600", 129) + `"}`},
		{"two coordinates", "move_to", `{"pos":[1,2]}`},
		{"four coordinates", "move_to", `{"pos":[1,2,3,4]}`},
		{"fraction", "move_to", `{"pos":[1.5,2,3]}`},
		{"outside", "move_to", `{"pos":[30000001,2,3]}`},
		{"box upside down", "scan_region", `{"min":[1,1,1],"max":[0,1,1]}`},
		{"box too big", "scan_region", `{"min":[0,0,0],"max":[1000,300,1000]}`},
		{"bad name", "place_block", `{"pos":[1,2,3],"state":"Stone; drop"}`},
		{"radius", "nearby_entities", `{"radius":0}`},
		{"limit", "chat_since", `{"cursor":0,"limit":1025}`},
		{"negative cursor", "chat_since", `{"cursor":-1}`},
		{"infinite", "look_at", `{"point":[1e400,0,0]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseRequest(c.capability, []byte(c.json)); !errors.Is(err, ErrBadRequest) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := ParseRequest("dig", []byte(`{}`)); !errors.Is(err, ErrUnknownCapability) {
		t.Errorf("dig: %v", err)
	}
}

func TestIDs(t *testing.T) {
	id, err := NewActionID(bytes.NewReader([]byte("0123456789abcdefXX")))
	if err != nil || id.String() != "30313233343536373839616263646566" {
		t.Fatalf("%s, %v", id, err)
	}
	back, err := ParseActionID(id.String())
	if err != nil || back != id {
		t.Errorf("%v, %v", back, err)
	}
	if _, err := NewActionID(bytes.NewReader(make([]byte, 16))); err == nil {
		t.Error("the zero id was drawn")
	}
	if _, err := NewMissionID(bytes.NewReader([]byte("short"))); err == nil {
		t.Error("a short source was enough")
	}
	for _, s := range []string{"", "zz", strings.Repeat("g", 32), strings.Repeat("0", 31)} {
		if _, err := ParseMissionID(s); !errors.Is(err, ErrBadID) {
			t.Errorf("%q: %v", s, err)
		}
	}
	var d Digest
	if err := d.UnmarshalText([]byte("x")); !errors.Is(err, ErrBadID) || !strings.Contains(err.Error(), "want 64 hex digits") {
		t.Errorf("a digest: %v", err)
	}
}

func TestCodesHaveWords(t *testing.T) {
	names := map[string]bool{}
	for c := CodeNone; c < codeCount; c++ {
		if c.String() == "" || names[c.String()] {
			t.Errorf("code %d: name %q", c, c.String())
		}
		names[c.String()] = true
		if c != CodeNone && c.Words() == "" {
			t.Errorf("code %s has no words", c)
		}
	}
	if codeCount.String() != "invalid" {
		t.Error("a code outside the set has a name")
	}
}

func TestVerdictZeroIsCareful(t *testing.T) {
	var v Verdict
	if v != UnverifiedEffect || v.MaySendAgain() {
		t.Error("the zero verdict allows something")
	}
	want := map[Verdict][2]string{
		UnverifiedEffect: {"outcome_unknown", "unverified_effect"}, Proven: {"succeeded", ""}, Refused: {"failed", "refused"},
		NotExecuted: {"failed", "not_executed"}, WrongResult: {"failed", "wrong_result"}, 99: {"outcome_unknown", "unverified_effect"},
	}
	for v, w := range want {
		if s, c := v.Operation(); s != w[0] || c != w[1] {
			t.Errorf("%s: %s %s", v, s, c)
		}
	}
}

// FuzzParseRequest: whatever comes, a request that is read is valid, and reads back from its own JSON as itself.
func FuzzParseRequest(f *testing.F) {
	for c, r := range requests {
		f.Add(c.String(), []byte(r))
	}
	f.Add("say", []byte(`{"text":"/op me"}`))
	f.Add("move_to", []byte(`{"pos":[1,2,3],"pos":[1,2,3]}`))
	f.Add("dig", []byte(`{}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		r, err := ParseRequest(name, data)
		if err != nil {
			if !errors.Is(err, ErrBadRequest) && !errors.Is(err, ErrUnknownCapability) {
				t.Errorf("an error of no kind: %v", err)
			}
			return
		}
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseRequest(name, out)
		if err != nil || back != r {
			t.Errorf("%s reads back as %s: %v", data, out, err)
		}
	})
}
