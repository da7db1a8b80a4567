package nbt

import (
	"unicode/utf16"
	"unicode/utf8"
)

// fromModified turns Java's modified UTF-8 (NUL as two bytes, characters beyond the first plane as two surrogates of
// three bytes each) into UTF-8. Bytes that are not valid become U+FFFD.
func fromModified(b []byte) string {
	plain := true
	for _, c := range b {
		if c >= 0x80 || c == 0 {
			plain = false
			break
		}
	}
	if plain {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		r, n := modifiedRune(b[i:])
		i += n
		if utf16.IsSurrogate(r) {
			low, m := rune(0), 0
			if i < len(b) {
				low, m = modifiedRune(b[i:])
			}
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r = pair
				i += m
			} else {
				r = utf8.RuneError
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// modifiedRune reads one UTF-16 unit from its one, two or three bytes. b is not empty.
func modifiedRune(b []byte) (r rune, n int) {
	cont := func(i int) bool { return i < len(b) && b[i]&0xc0 == 0x80 }
	switch c := b[0]; {
	case c < 0x80:
		return rune(c), 1
	case c&0xe0 == 0xc0 && cont(1):
		return rune(c&0x1f)<<6 | rune(b[1]&0x3f), 2
	case c&0xf0 == 0xe0 && cont(1) && cont(2):
		return rune(c&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
	}
	return utf8.RuneError, 1
}

// maxString is the longest string a tag can hold, in bytes of modified UTF-8.
const maxString = 1<<16 - 1

// appendString writes a string with its length. A longer one than a tag can hold is cut at a character.
func appendString(dst []byte, s string) []byte {
	start := len(dst)
	dst = append(dst, 0, 0)
	for _, r := range s {
		before := len(dst)
		switch {
		case r == 0:
			dst = append(dst, 0xc0, 0x80)
		case r < 0x10000:
			dst = utf8.AppendRune(dst, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			for _, u := range [2]rune{hi, lo} {
				dst = append(dst, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0xbf, 0x80|byte(u)&0xbf)
			}
		}
		if len(dst)-start-2 > maxString {
			dst = dst[:before]
			break
		}
	}
	n := len(dst) - start - 2
	dst[start], dst[start+1] = byte(n>>8), byte(n)
	return dst
}
