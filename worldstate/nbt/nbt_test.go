package nbt

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// value draws a tree of at most depth levels below it.
func value(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		last := TagLongArray
		kind := Type(rapid.IntRange(int(TagByte), int(last)).Draw(t, "kind"))
		if depth == 0 && (kind == TagList || kind == TagCompound) {
			kind = TagInt
		}
		return valueOf(t, kind, depth)
	})
}

func valueOf(t *rapid.T, kind Type, depth int) Value {
	switch kind {
	case TagByte:
		return Byte(rapid.Int8().Draw(t, "byte"))
	case TagShort:
		return Short(rapid.Int16().Draw(t, "short"))
	case TagInt:
		return Int(rapid.Int32().Draw(t, "int"))
	case TagLong:
		return Long(rapid.Int64().Draw(t, "long"))
	case TagFloat:
		return Float(rapid.Float32().Draw(t, "float"))
	case TagDouble:
		return Double(rapid.Float64().Draw(t, "double"))
	case TagString:
		return String(rapid.String().Draw(t, "string"))
	case TagByteArray:
		return append(ByteArray{}, rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes")...)
	case TagIntArray:
		return append(IntArray{}, rapid.SliceOfN(rapid.Int32(), 0, 9).Draw(t, "ints")...)
	case TagLongArray:
		return append(LongArray{}, rapid.SliceOfN(rapid.Int64(), 0, 9).Draw(t, "longs")...)
	case TagList:
		elem := Type(rapid.IntRange(int(TagByte), int(TagLongArray)).Draw(t, "elem"))
		if depth <= 1 && (elem == TagList || elem == TagCompound) {
			elem = TagString
		}
		l := &List{Elem: elem, Items: []Value{}}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			l.Items = append(l.Items, valueOf(t, elem, depth-1))
		}
		return l
	default:
		c := Compound{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			c[rapid.String().Draw(t, "name")] = value(max(depth-1, 0)).Draw(t, "entry")
		}
		return c
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value(4).Draw(t, "value")
		data := Append(nil, v)
		tail := []byte{1, 2, 3}
		back, rest, err := Parse(append(bytes.Clone(data), tail...), Limits{})
		if err != nil || !bytes.Equal(rest, tail) || !cmp.Equal(v, back) {
			t.Fatalf("%v: %v\n%s", err, rest, cmp.Diff(v, back))
		}
		if rest, err := Skip(append(bytes.Clone(data), tail...)); err != nil || !bytes.Equal(rest, tail) {
			t.Fatalf("skip: %v, %v", rest, err)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if _, _, err := Parse(data[:cut], Limits{}); !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at %d of %d: %v", cut, len(data), err)
		}
		if _, err := Skip(data[:cut]); !errors.Is(err, ErrTruncated) {
			t.Fatalf("skip cut at %d of %d: %v", cut, len(data), err)
		}
		name, named, rest, err := ParseNamed(AppendNamed(nil, "röot", v), Limits{})
		if err != nil || name != "röot" || len(rest) > 0 || !cmp.Equal(v, named) {
			t.Fatalf("named: %q %v", name, err)
		}
	})
}

func nested(kind Type, levels int) []byte {
	data := []byte{byte(kind)}
	for range levels {
		if kind == TagList {
			data = append(data, byte(TagList), 0, 0, 0, 1)
		} else {
			data = append(data, byte(TagCompound), 0, 0)
		}
	}
	return append(data, make([]byte, 5+levels)...)
}

func TestBounds(t *testing.T) {
	rows := []struct {
		name string
		data []byte
		want error
	}{
		{"a thousand lists", nested(TagList, 1000), ErrTooDeep},
		{"a thousand compounds", nested(TagCompound, 1000), ErrTooDeep},
		{"a huge byte array", []byte{7, 0x7f, 0xff, 0xff, 0xff, 1}, ErrTruncated},
		{"a huge int array", []byte{11, 0x7f, 0xff, 0xff, 0xff, 1}, ErrTruncated},
		{"a huge long array", []byte{12, 0x7f, 0xff, 0xff, 0xff, 1}, ErrTruncated},
		{"a huge list of compounds", []byte{9, 10, 0x7f, 0xff, 0xff, 0xff, 1}, ErrTruncated},
		{"a negative length", []byte{12, 0xff, 0xff, 0xff, 0xff}, ErrInvalid},
		{"a list of end tags", []byte{9, 0, 0, 0, 0, 2, 0, 0}, ErrInvalid},
		{"a list of an unknown type", []byte{9, 13, 0, 0, 0, 0}, ErrInvalid},
		{"an unknown type", []byte{13, 0}, ErrInvalid},
		{"an unknown type inside", []byte{10, 99, 0, 0, 0}, ErrInvalid},
		{"nothing", nil, ErrTruncated},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, _, err := Parse(row.data, Limits{}); !errors.Is(err, row.want) {
				t.Errorf("Parse: %v, want %v", err, row.want)
			}
			if _, err := Skip(row.data); !errors.Is(err, row.want) {
				t.Errorf("Skip: %v, want %v", err, row.want)
			}
		})
	}
	if _, _, err := Parse(nested(TagList, 500), Limits{}); err != nil {
		t.Errorf("500 levels: %v", err)
	}
	many := Append(nil, &List{Elem: TagByte, Items: make([]Value, 0)})
	many = append(many[:2], 0, 0, 0, 200)
	many = append(many, make([]byte, 200)...)
	if _, _, err := Parse(many, Limits{Values: 100}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many values: %v", err)
	}
	if v, rest, err := Parse([]byte{0, 7}, Limits{}); v != nil || len(rest) != 1 || err != nil {
		t.Errorf("a lone end tag: %v %v %v", v, rest, err)
	}
}

func TestModifiedUTF8(t *testing.T) {
	for _, s := range []string{"", "plain", "gr\u00fc\u00dfe", "a\x00b", "\U0001F600 smile", "\uffff"} {
		v, _, err := Parse(Append(nil, String(s)), Limits{})
		if err != nil || v != String(s) {
			t.Errorf("%q gives %q, %v", s, v, err)
		}
	}
	if got := Append(nil, String("\x00")); !bytes.Equal(got, []byte{8, 0, 2, 0xc0, 0x80}) {
		t.Errorf("NUL is written as %x", got)
	}
	for in, want := range map[string]string{"\xff": "\ufffd", "\xed\xa0\xbdx": "\ufffdx", "\xc3": "\ufffd", "\xed\xa0\xbd\xed\xa0\xbd": "\ufffd\ufffd"} {
		if got := fromModified([]byte(in)); got != want {
			t.Errorf("%x gives %q, want %q", in, got, want)
		}
	}
	long := Append(nil, String(strings.Repeat("\u00fc", 40000)))
	if v, rest, err := Parse(long, Limits{}); err != nil || len(rest) > 0 || len(v.(String)) != 65534 {
		t.Errorf("a string that is too long: %v", err)
	}
}

func TestFile(t *testing.T) {
	root := Compound{"Version": Int(3), "Name": String("house"), "Size": IntArray{1, 2, 3}, "Bits": LongArray{math.MinInt64}}
	raw := AppendNamed(nil, "Schematic", root)
	var zipped, zlibbed bytes.Buffer
	if err := WriteFile(&zipped, "Schematic", root); err != nil {
		t.Fatal(err)
	}
	z := zlib.NewWriter(&zlibbed)
	if _, err := z.Write(raw); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"gzip": zipped.Bytes(), "zlib": zlibbed.Bytes(), "plain": raw} {
		got, v, err := ReadFile(bytes.NewReader(data), 0, Limits{})
		if err != nil || got != "Schematic" || !cmp.Equal(v, root) {
			t.Errorf("%s: %q %v %v", name, got, v, err)
		}
		if _, _, err := ReadFile(bytes.NewReader(data), int64(len(raw))-1, Limits{}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s, one byte too many: %v", name, err)
		}
		if _, _, err := ReadFile(bytes.NewReader(data[:len(data)/2]), 0, Limits{}); !errors.Is(err, ErrTruncated) {
			t.Errorf("%s, half of it: %v", name, err)
		}
	}
	var bomb bytes.Buffer
	g := gzip.NewWriter(&bomb)
	if _, err := g.Write(make([]byte, 10<<20)); err != nil || g.Close() != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadFile(&bomb, 1<<20, Limits{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a bomb: %v", err)
	}
	for name, data := range map[string]string{"empty": "", "text": "hello, I am not NBT", "a broken header": "\x1f\x8bxxxxxxxxxxxxxx"} {
		if _, _, err := ReadFile(strings.NewReader(data), 0, Limits{}); !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTruncated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAccessors(t *testing.T) {
	c := Compound{"b": Byte(1), "l": Long(1 << 40), "f": Float(1.5), "s": String("x"), "c": Compound{}, "list": ListOf(Int(1), Int(2)),
		"ba": ByteArray{1}, "la": LongArray{2}, "ia": IntArray{3}, "big": ListOf(Long(1 << 40))}
	if v, ok := c.Bool("b"); !v || !ok {
		t.Error("Bool")
	}
	if v, ok := c.Int("l"); v != 1<<40 || !ok {
		t.Error("Int")
	}
	if v, ok := c.Float("f"); v != 1.5 || !ok {
		t.Error("Float")
	}
	if v, ok := c.Ints("list"); !ok || !cmp.Equal(v, []int32{1, 2}) {
		t.Error("Ints of a list")
	}
	if _, ok := c.Ints("big"); ok {
		t.Error("Ints takes what does not fit")
	}
	if _, ok := c.Int("s"); ok {
		t.Error("a string is an Int")
	}
	if _, ok := c.Compound("missing"); ok {
		t.Error("a missing entry is there")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range [][]byte{nested(TagList, 1000), nested(TagCompound, 20), {0}, {7, 0x7f, 0xff, 0xff, 0xff}, {9, 10, 0, 0, 0, 2, 0, 0},
		Append(nil, Compound{"a": ListOf(Compound{"b": String("\x00\U0001F600")}), "c": LongArray{1, 2}})} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, rest, err := Parse(data, Limits{})
		skipped, skipErr := Skip(data)
		if err == nil && (skipErr != nil || len(skipped) != len(rest)) {
			t.Fatalf("Parse leaves %d bytes, Skip %d, %v", len(rest), len(skipped), skipErr)
		}
		if err != nil && !errors.Is(err, ErrTooLarge) && skipErr == nil {
			t.Fatalf("Skip accepts what Parse does not: %v", err)
		}
		if err == nil {
			out := Append(nil, v)
			if back, _, err := Parse(out, Limits{}); err != nil || !bytes.Equal(out, Append(nil, back)) {
				t.Fatalf("written again it does not read: %v", err)
			}
		}
		_, _, _ = ReadFile(bytes.NewReader(data), 1<<16, Limits{})
	})
}
