package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The shapes that are taken for a bearer token: TokenPrefix and leastTail characters behind it; or, since the prefix can
// be left out, an unbroken run of letters and digits that is longer than any word.
const (
	TokenPrefix = "bw_"
	leastTail   = 16
	leastRun    = 32 // letters and digits only, both present: hex ids
	leastDashed = 40 // with - and _ too: base64url
)

// textSays is what is read from a line to be said.
type textSays uint8

const (
	textCommand textSays = 1 << iota
	textSecret
	textBad // no UTF-8
)

// secrets are the configured texts that must never be said.
type secrets struct {
	plain  [][]byte            // folded
	packed [][]byte            // folded, letters and digits only; for those that stay long enough to be told apart
	hashed map[[32]byte]string // of whole words; the value is unused
}

// leastPacked is the length from which a secret is also found when spaces or signs were put between its characters.
const leastPacked = 8

// hashedSecret reads "sha256:" and 64 hex digits.
func hashedSecret(s string) (sum [32]byte, hashed, ok bool) {
	digits, hashed := strings.CutPrefix(s, "sha256:")
	if !hashed {
		return sum, false, false
	}
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != len(sum) {
		return sum, true, false
	}
	return [32]byte(b), true, true
}

func (s *secrets) add(text string) {
	if sum, hashed, ok := hashedSecret(text); hashed {
		if ok {
			if s.hashed == nil {
				s.hashed = map[[32]byte]string{}
			}
			s.hashed[sum] = ""
		}
		return
	}
	folded, _ := fold(nil, text)
	s.plain = append(s.plain, folded)
	if p := pack(nil, folded); utf8.RuneCount(p) >= leastPacked {
		s.packed = append(s.packed, p)
	}
}

// read says what a line does besides being said. It allocates nothing for lines within the protocol's limit.
func (s *secrets) read(text string) textSays {
	var space [2048]byte
	folded, says := fold(space[:0], text)
	if says&textSecret == 0 && s.holds(text, folded) {
		says |= textSecret
	}
	return says
}

func (s *secrets) holds(text string, folded []byte) bool {
	for _, p := range s.plain {
		if bytes.Contains(folded, p) {
			return true
		}
	}
	if len(s.packed) > 0 {
		var space [2048]byte
		packed := pack(space[:0], folded)
		for _, p := range s.packed {
			if bytes.Contains(packed, p) {
				return true
			}
		}
	}
	return len(s.hashed) > 0 && s.holdsWord(text)
}

func (s *secrets) holdsWord(text string) bool {
	var space [2048]byte
	for word := range strings.FieldsSeq(text) {
		if s.hasHash(append(space[:0], word...)) {
			return true
		}
		bare := strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) })
		if bare != word && s.hasHash(append(space[:0], bare...)) {
			return true
		}
	}
	return false
}

func (s *secrets) hasHash(word []byte) bool {
	_, ok := s.hashed[sha256.Sum256(word)]
	return ok
}

// fold writes text in lower case into b, without what nobody sees: control and format characters, and colour codes
// (section sign and one more). Full-width letters and signs become plain ones. On the way it finds commands and tokens.
func fold(b []byte, text string) ([]byte, textSays) {
	var says textSays
	var run tokenRun
	lineStart, skip := true, false
	for i := 0; i < len(text); {
		if c := text[i]; c >= 'a' && c <= 'z' && !skip { // most of what is said
			run.letter()
			lineStart = false
			b = append(b, c)
			i++
			continue
		}
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				says |= textBad
			}
			r = plainRune(r)
		}
		i += n
		class := classOfRune(r)
		switch {
		case class == runeBreak:
			lineStart, skip = true, false
			b = append(b, '\n')
			run.end()
			continue
		case skip:
			skip = false
			continue
		case class == runeColour:
			skip = true
			continue
		case class == runeInvisible:
			continue
		case class == runeSlash && lineStart:
			says |= textCommand
		}
		lineStart = lineStart && class == runeSpace
		run.add(class)
		switch {
		case class == runeUpper:
			b = append(b, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
		default:
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	run.end()
	if run.found || prefixed(b) {
		says |= textSecret
	}
	return b, says
}

// runeClass is what a character is to this reading.
type runeClass uint8

const (
	runeOther runeClass = iota
	runeLower
	runeUpper
	runeDigit
	runeDash // - and _
	runeSlash
	runeSpace
	runeBreak     // begins a new line
	runeInvisible // takes no place in a line
	runeColour    // section sign: it and the next character are a colour
)

var asciiClass = func() (t [utf8.RuneSelf]runeClass) {
	for r := range t {
		switch {
		case r == '\n' || r == '\r':
			t[r] = runeBreak
		case r == ' ' || r == '\t':
			t[r] = runeSpace
		case r < ' ' || r == 0x7f:
			t[r] = runeInvisible
		case r >= 'a' && r <= 'z':
			t[r] = runeLower
		case r >= 'A' && r <= 'Z':
			t[r] = runeUpper
		case r >= '0' && r <= '9':
			t[r] = runeDigit
		case r == '-' || r == '_':
			t[r] = runeDash
		case r == '/':
			t[r] = runeSlash
		}
	}
	return t
}()

func classOfRune(r rune) runeClass {
	switch {
	case r >= 0 && r < utf8.RuneSelf:
		return asciiClass[r]
	case r == '§':
		return runeColour
	case r == '\u2028' || r == '\u2029' || r == '\u0085':
		return runeBreak
	case unicode.IsSpace(r):
		return runeSpace
	case r == '\u034F' || r == '\u115F' || r == '\u1160' || r == '\u3164' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector):
		return runeInvisible
	}
	return runeOther
}

// plainRune turns full-width forms into the plain ones, and the other slashes into the slash.
func plainRune(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFF01 + '!'
	case r == '\u2044' || r == '\u2215' || r == '\u29F8':
		return '/'
	}
	return r
}

// pack keeps letters and digits.
func pack(b, folded []byte) []byte {
	for i := 0; i < len(folded); {
		if c := folded[i]; c < utf8.RuneSelf {
			if class := asciiClass[c]; class == runeLower || class == runeDigit {
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(folded[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b = append(b, folded[i:i+n]...)
		}
		i += n
	}
	return b
}

// tokenRun measures unbroken runs of the characters that tokens are made of.
type tokenRun struct {
	dashed, bare       int // characters of the run with - and _ in it, and since the last of those
	dashedHas, bareHas uint8
	found              bool
}

const hasLetter, hasDigit = 1, 2

func (t *tokenRun) letter() {
	t.dashed++
	t.bare++
	t.bareHas |= hasLetter
}

func (t *tokenRun) add(c runeClass) {
	switch c {
	case runeLower, runeUpper:
		t.letter()
	case runeDigit:
		t.dashed++
		t.bare++
		t.bareHas |= hasDigit
	case runeDash:
		t.dashed++
		t.piece()
	default:
		t.end()
	}
}

// piece ends a part of a run without - and _.
func (t *tokenRun) piece() {
	if t.bare >= leastRun && t.bareHas == hasLetter|hasDigit {
		t.found = true
	}
	t.dashedHas |= t.bareHas
	t.bare, t.bareHas = 0, 0
}

func (t *tokenRun) end() {
	t.piece()
	if t.dashed >= leastDashed && t.dashedHas == hasLetter|hasDigit {
		t.found = true
	}
	t.dashed, t.dashedHas = 0, 0
}

// prefixed finds TokenPrefix with a tail behind it in folded text.
func prefixed(folded []byte) bool {
	for {
		i := bytes.Index(folded, []byte(TokenPrefix))
		if i < 0 {
			return false
		}
		folded = folded[i+len(TokenPrefix):]
		n := 0
		for n < len(folded) && tokenByte(folded[n]) {
			n++
		}
		if n >= leastTail {
			return true
		}
	}
}

func tokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
