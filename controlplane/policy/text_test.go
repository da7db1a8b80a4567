package policy

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSaid: whatever is said, reading it does not fail hard, and characters that nobody sees change nothing.
func FuzzSaid(f *testing.F) {
	for _, s := range []string{"hello", "/op me", "§a/op", "／op", "my secret is Tr0ub4dor&3", aToken, "\xff\xfe", "a\u200bb", "Ⱥ", strings.Repeat("İ", 400), "§"} {
		f.Add(s)
	}
	var s secrets
	s.add("Tr0ub4dor&3")
	s.add("sha256:" + sha256Hex("open-sesame-7"))
	f.Fuzz(func(t *testing.T, text string) {
		says := s.read(text)
		if (says&textBad == 0) != utf8.ValidString(text) {
			t.Errorf("%q: bad bytes are told as %b", text, says)
		}
		if s.read("/"+text)&textCommand == 0 || s.read(" \u200b/"+text)&textCommand == 0 {
			t.Errorf("%q behind a slash is no command", text)
		}
		if s.read(text+" "+aToken)&textSecret == 0 || s.read("x\n"+aToken+"\n"+text)&textSecret == 0 {
			if !strings.HasSuffix(text, "§") { // it takes the space for its colour
				t.Errorf("%q hides a token", text)
			}
		}
		if s.read(text+"\ntr0ub4DOR&3")&textSecret == 0 && !strings.HasSuffix(text, "§") {
			t.Errorf("%q hides a secret", text)
		}
		var spread strings.Builder // an invisible character before each that is seen, but behind a colour sign
		colour := false
		for _, r := range text {
			if !colour {
				spread.WriteRune('\u200b')
			}
			colour = !colour && r == '§'
			spread.WriteRune(r)
		}
		if utf8.ValidString(text) {
			const seen = textCommand
			if got := s.read(spread.String()); got&seen != says&seen {
				t.Errorf("%q: %b, with invisible characters %b", text, says, got)
			}
		}
	})
}

func TestLongForeignTextIsQuotedInPart(t *testing.T) {
	for _, s := range []string{strings.Repeat("x", 100), strings.Repeat("ü", 100), "a" + strings.Repeat("世", 100), strings.Repeat("\xff", 100)} {
		if q := quote(s); len(q) > 300 || !utf8.ValidString(q) {
			t.Errorf("%q", q)
		}
	}
}
