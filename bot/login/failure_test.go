package login

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLongTexts: what a server says at length is told to people in part, and kept whole.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("\u00e9", 8000)
	k := newKicked(long)
	if k.Reason != long {
		t.Error("the reason is not kept whole")
	}
	for _, text := range []string{k.Error(), newKicked("Server closed " + long).Error(), UnknownProtocol(1, long).Error(), CheckUsername(long).Error()} {
		if n := utf8.RuneCountInString(text); n > maxShown+len(UnknownProtocol(1, "x").Error())+60 || !utf8.ValidString(text) || !strings.Contains(text, "characters more") {
			t.Errorf("%d characters: %.80s", n, text)
		}
	}
	for _, text := range []string{"", "x", strings.Repeat("x", maxShown)} {
		if got := Quote(text); got != `"`+text+`"` {
			t.Errorf("%q became %s", text, got)
		}
	}
}
