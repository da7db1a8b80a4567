package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"blockworld/worldstate/nbt"
)

func TestPlainJSON(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"a string", `"hello"`, "hello"},
		{"text and extra", `{"text":"a","extra":[{"text":"b"},"c",{"text":"d","bold":true}]}`, "abcd"},
		{"a list", `["x",{"text":"y"},1,true]`, "xy1true"},
		{"a known key", `{"translate":"multiplayer.player.joined","with":["Steve"]}`, "Steve joined the game"},
		{"a numbered pattern", `{"translate":"own.key","fallback":"%2$s then %1$s, 100%%","with":["a","b"]}`, "b then a, 100%"},
		{"an unknown key", `{"translate":"item.minecraft.stick","with":["a",{"text":"b"}]}`, "item.minecraft.stick(a, b)"},
		{"a key alone", `{"translate":"key.only"}`, "key.only"},
		{"missing arguments", `{"translate":"chat.type.text","with":["Steve"]}`, "<Steve> "},
		{"keybind, selector, nbt, score", `[{"keybind":"key.jump"},{"selector":"@p"},{"nbt":"Items"},{"score":{"name":"a","value":"7"}}]`, "[key.jump]@p[Items]7"},
		{"colours and controls", "\"\u00a7cred\\u0007\\u001b[31m\\nline \\u202Eback\"", "red[31m line back"},
		{"null", `null`, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got, ok := PlainJSON([]byte(row.in)); got != row.want || !ok {
				t.Errorf("%q, %v, want %q", got, ok, row.want)
			}
		})
	}
	if got, ok := PlainJSON([]byte("not \x1b json")); got != "not  json" || ok {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestPlainNBT(t *testing.T) {
	mixed := nbt.ListOf(nbt.Compound{"": nbt.String("a")}, nbt.Compound{"text": nbt.String("b")}, nbt.Compound{"": nbt.Int(3)})
	for want, v := range map[string]nbt.Value{
		"hi":    nbt.String("hi"),
		"ab3":   mixed,
		"x2.5":  nbt.Compound{"text": nbt.String("x"), "extra": nbt.ListOf(nbt.Double(2.5))},
		"<a> b": nbt.Compound{"translate": nbt.String("chat.type.text"), "with": nbt.ListOf(nbt.String("a"), nbt.String("b"))},
	} {
		if got, ok := PlainNBT(nbt.Append(nil, v)); got != want || !ok || Plain(nbt.Append(nil, v)) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, ok := PlainNBT([]byte{10, 1}); got != "" || ok {
		t.Errorf("broken NBT gives %q, %v", got, ok)
	}
}

func TestBounds(t *testing.T) {
	deep := nbt.Value(nbt.String("deep"))
	for range 400 {
		deep = nbt.Compound{"text": nbt.String("."), "extra": nbt.ListOf(deep)}
	}
	if got := PlainValue(deep); len(got) > 100 || strings.Contains(got, "deep") {
		t.Errorf("%d bytes from a deep component", len(got))
	}
	if got := PlainValue(nbt.String(strings.Repeat("\u00e4", 50000))); len(got) > MaxBytes || !utf8.ValidString(got) {
		t.Errorf("%d bytes from a long text", len(got))
	}
	if _, ok := PlainJSON([]byte(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))); !ok {
		t.Error("nested JSON does not read")
	}
	if got, ok := PlainJSON([]byte(strings.Repeat("[", 500000))); ok || len(got) > MaxBytes {
		t.Error("endless JSON reads")
	}
}

func check(t *testing.T, s string) {
	if len(s) > MaxBytes || !utf8.ValidString(s) {
		t.Fatalf("%d bytes, valid %v", len(s), utf8.ValidString(s))
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u00a7' {
			t.Fatalf("%q holds %U", s, r)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add(nbt.Append(nil, nbt.Compound{"text": nbt.String("a\u00a7c\x1b"), "extra": nbt.ListOf(nbt.Compound{"translate": nbt.String("chat.type.text")})}))
	f.Add([]byte(`{"translate":"x","fallback":"%9$s %s %","with":[{"text":"\u001b"}]}`))
	f.Add([]byte(`[[[["x"]]]]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _ := PlainNBT(data)
		check(t, s)
		check(t, Plain(data))
		s, _ = PlainJSON(data)
		check(t, s)
	})
}
