package text

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"blockworld/worldstate/nbt"
)

// What a component may cost. What lies beyond is left out.
const (
	MaxBytes = 8192 // of the plain text
	maxDepth = 32   // components within components
	maxParts = 4096 // components in all
)

// Plain reads a component in either form: network NBT, told by its first byte, or JSON. Bytes that are neither give
// themselves, cleaned.
func Plain(data []byte) string {
	if len(data) > 0 && nbt.Type(data[0]) <= nbt.TagLongArray {
		if s, ok := PlainNBT(data); ok {
			return s
		}
	}
	s, _ := PlainJSON(data)
	return s
}

// PlainNBT reads a component in network NBT. Bytes that are none give the empty text and false.
func PlainNBT(data []byte) (string, bool) {
	v, _, err := nbt.Parse(data, nbt.Limits{})
	if err != nil {
		return "", false
	}
	return PlainValue(v), true
}

// PlainJSON reads a component in JSON, quoted strings included. Bytes that are not JSON give themselves, cleaned, and false.
func PlainJSON(data []byte) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return Clean(string(data)), false
	}
	return PlainValue(fromJSON(v, 0)), true
}

// PlainValue reads a component that is parsed already.
func PlainValue(v nbt.Value) string {
	var p printer
	p.value(v, 0)
	return Clean(p.out.String())
}

// fromJSON makes the same tree that NBT gives. Numbers become their digits.
func fromJSON(v any, depth int) nbt.Value {
	if depth > 2*maxDepth {
		return nil
	}
	switch v := v.(type) {
	case string:
		return nbt.String(v)
	case bool:
		return nbt.String(strconv.FormatBool(v))
	case json.Number:
		return nbt.String(v)
	case []any:
		l := &nbt.List{}
		for _, it := range v {
			l.Items = append(l.Items, fromJSON(it, depth+1))
		}
		return l
	case map[string]any:
		c := nbt.Compound{}
		for k, it := range v {
			c[k] = fromJSON(it, depth+1)
		}
		return c
	}
	return nil
}

// printer writes components one after the other until its bounds are reached.
type printer struct {
	out   strings.Builder
	parts int
}

func (p *printer) add(s string) {
	if room := 2*MaxBytes - p.out.Len(); len(s) > room {
		s = s[:max(room, 0)]
	}
	p.out.WriteString(s)
}

func (p *printer) value(v nbt.Value, depth int) {
	if p.parts++; p.parts > maxParts || depth > maxDepth || p.out.Len() >= 2*MaxBytes {
		return
	}
	switch v := v.(type) {
	case nbt.String:
		p.add(string(v))
	case *nbt.List:
		for _, it := range v.Items {
			p.value(it, depth+1)
		}
	case nbt.Compound:
		p.compound(v, depth)
	default:
		if i, ok := nbt.Integer(v); ok {
			p.add(strconv.FormatInt(i, 10))
		} else if f, ok := nbt.Number(v); ok {
			p.add(strconv.FormatFloat(f, 'g', -1, 64))
		}
	}
}

// compound writes the content that a component has, then its siblings. An entry without a name wraps an element of a
// list of mixed types (1.21.5 and later).
func (p *printer) compound(c nbt.Compound, depth int) {
	if c["text"] != nil {
		p.value(c["text"], depth+1)
	} else if c[""] != nil {
		p.value(c[""], depth+1)
	} else if key, ok := c.Str("translate"); ok {
		p.translate(key, c, depth)
	} else if key, ok := c.Str("keybind"); ok {
		p.add("[" + key + "]")
	} else if selector, ok := c.Str("selector"); ok {
		p.add(selector)
	} else if score, ok := c.Compound("score"); ok {
		p.value(score["value"], depth+1)
	} else if path, ok := c.Str("nbt"); ok {
		p.add("[" + path + "]")
	}
	if c["extra"] != nil {
		p.value(c["extra"], depth+1)
	}
}

// translate writes a translated text: in English if it is one of the few that a bot often sees, by the component's own
// fallback, or as its key with the arguments behind it.
func (p *printer) translate(key string, c nbt.Compound, depth int) {
	var args []nbt.Value
	if l, ok := c.List("with"); ok {
		args = l.Items
	}
	pattern, ok := english[key]
	if !ok {
		pattern, ok = c.Str("fallback")
	}
	if ok {
		p.format(pattern, args, depth)
		return
	}
	p.add(key)
	if len(args) == 0 {
		return
	}
	p.add("(")
	for i, a := range args {
		if i > 0 {
			p.add(", ")
		}
		p.value(a, depth+1)
	}
	p.add(")")
}

// format puts arguments in for %s and %1$s, as the game does. Arguments that are missing are left out.
func (p *printer) format(pattern string, args []nbt.Value, depth int) {
	next := 0
	for pattern != "" {
		before, after, found := strings.Cut(pattern, "%")
		p.add(before)
		if !found {
			return
		}
		pattern = after
		digits := 0
		for digits < len(pattern) && pattern[digits] >= '0' && pattern[digits] <= '9' {
			digits++
		}
		switch {
		case strings.HasPrefix(pattern, "%"):
			p.add("%")
			pattern = pattern[1:]
		case strings.HasPrefix(pattern, "s") || strings.HasPrefix(pattern, "d"):
			p.argument(args, next, depth)
			next++
			pattern = pattern[1:]
		case digits > 0 && digits < 4 && (strings.HasPrefix(pattern[digits:], "$s") || strings.HasPrefix(pattern[digits:], "$d")):
			n, _ := strconv.Atoi(pattern[:digits]) // digits alone, at most three
			p.argument(args, n-1, depth)
			pattern = pattern[digits+2:]
		default:
			p.add("%")
		}
	}
}

func (p *printer) argument(args []nbt.Value, i, depth int) {
	if i >= 0 && i < len(args) {
		p.value(args[i], depth+1)
	}
}

// Clean makes foreign text fit for a terminal or a log: valid UTF-8, line breaks and tabs as spaces, no control or
// invisible format characters, no colour codes, at most MaxBytes bytes.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var out strings.Builder
	skip := false
	for _, r := range s {
		if skip { // the letter of a colour code
			skip = false
			continue
		}
		switch {
		case r == '\u00a7':
			skip = true
			continue
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029':
			r = ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			continue
		}
		if out.Len()+utf8.RuneLen(r) > MaxBytes {
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

// plain tells whether nothing is to be cleaned: short printable ASCII.
func plain(s string) bool {
	if len(s) > MaxBytes {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
