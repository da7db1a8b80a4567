package hosting

import (
	"strings"
	"testing"
	"unicode/utf8"

	"blockworld/effects/host"
)

func TestClip(t *testing.T) {
	t.Run("a text fits the protocol whatever an error quotes", func(t *testing.T) {
		for _, s := range []string{"", "short", "short \xff", strings.Repeat("a", host.MaxText), strings.Repeat("a", host.MaxText+1),
			strings.Repeat("\xff", 3*host.MaxText), strings.Repeat("𝄞", host.MaxText), "a" + strings.Repeat("𝄞", host.MaxText),
			"ab" + strings.Repeat("𝄞", host.MaxText), "abc" + strings.Repeat("𝄞", host.MaxText)} {
			got := clip(s)
			if len(got) > host.MaxText || !utf8.ValidString(got) {
				t.Errorf("%.20q of %d bytes becomes %d bytes", s, len(s), len(got))
			}
			if len(s) <= host.MaxText && utf8.ValidString(s) && got != s {
				t.Errorf("%.20q is changed", s)
			}
		}
	})
}
