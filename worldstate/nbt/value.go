package nbt

import "slices"

// Type is the tag byte of a value.
type Type byte

// The tag types.
const (
	TagEnd Type = iota
	TagByte
	TagShort
	TagInt
	TagLong
	TagFloat
	TagDouble
	TagByteArray
	TagString
	TagList
	TagCompound
	TagIntArray
	TagLongArray
)

var typeNames = [...]string{"end", "byte", "short", "int", "long", "float", "double", "byte array", "string", "list", "compound", "int array", "long array"}

// String returns the type's name for people.
func (t Type) String() string {
	if int(t) >= len(typeNames) {
		return "invalid"
	}
	return typeNames[t]
}

// Value is one tag. The set is closed: Byte, Short, Int, Long, Float, Double, ByteArray, String, *List, Compound,
// IntArray, LongArray. A nil Value is the absent one (a lone end tag).
type Value interface{ Type() Type }

// The kinds of values. A List's elements all have its element type.
type (
	Byte      int8
	Short     int16
	Int       int32
	Long      int64
	Float     float32
	Double    float64
	ByteArray []byte
	String    string
	IntArray  []int32
	LongArray []int64
	Compound  map[string]Value
	List      struct {
		Elem  Type // TagEnd only for an empty list
		Items []Value
	}
)

// Type returns the tag type of the value.
func (Byte) Type() Type      { return TagByte }
func (Short) Type() Type     { return TagShort }
func (Int) Type() Type       { return TagInt }
func (Long) Type() Type      { return TagLong }
func (Float) Type() Type     { return TagFloat }
func (Double) Type() Type    { return TagDouble }
func (ByteArray) Type() Type { return TagByteArray }
func (String) Type() Type    { return TagString }
func (IntArray) Type() Type  { return TagIntArray }
func (LongArray) Type() Type { return TagLongArray }
func (Compound) Type() Type  { return TagCompound }
func (*List) Type() Type     { return TagList }

// ListOf makes a list of values of one type; the element type is that of the first one.
func ListOf(items ...Value) *List {
	l := &List{Items: items}
	if len(items) > 0 {
		l.Elem = items[0].Type()
	}
	return l
}

// Integer returns any whole number kind as int64.
func Integer(v Value) (int64, bool) {
	switch v := v.(type) {
	case Byte:
		return int64(v), true
	case Short:
		return int64(v), true
	case Int:
		return int64(v), true
	case Long:
		return int64(v), true
	}
	return 0, false
}

// Number returns any number kind as float64.
func Number(v Value) (float64, bool) {
	switch v := v.(type) {
	case Float:
		return float64(v), true
	case Double:
		return float64(v), true
	}
	i, ok := Integer(v)
	return float64(i), ok
}

// Int returns an entry of any whole number kind; false if it is missing or of another kind.
func (c Compound) Int(name string) (int64, bool) { return Integer(c[name]) }

// Float returns an entry of any number kind.
func (c Compound) Float(name string) (float64, bool) { return Number(c[name]) }

// Bool returns an entry of any whole number kind as a truth value.
func (c Compound) Bool(name string) (value, ok bool) {
	i, ok := c.Int(name)
	return i != 0, ok
}

// Str returns a string entry.
func (c Compound) Str(name string) (string, bool) {
	s, ok := c[name].(String)
	return string(s), ok
}

// Compound returns a compound entry.
func (c Compound) Compound(name string) (Compound, bool) {
	v, ok := c[name].(Compound)
	return v, ok
}

// List returns a list entry.
func (c Compound) List(name string) (*List, bool) {
	v, ok := c[name].(*List)
	return v, ok
}

// Bytes returns a byte array entry.
func (c Compound) Bytes(name string) ([]byte, bool) {
	v, ok := c[name].(ByteArray)
	return v, ok
}

// Longs returns a long array entry.
func (c Compound) Longs(name string) ([]int64, bool) {
	v, ok := c[name].(LongArray)
	return v, ok
}

// Ints returns an entry that is an int array, or a list of whole numbers that fit.
func (c Compound) Ints(name string) ([]int32, bool) {
	switch v := c[name].(type) {
	case IntArray:
		return v, true
	case *List:
		out := make([]int32, 0, len(v.Items))
		for _, it := range v.Items {
			i, ok := Integer(it)
			if !ok || int64(int32(i)) != i {
				return nil, false
			}
			out = append(out, int32(i))
		}
		return out, true
	}
	return nil, false
}

// Keys returns the names of a compound, sorted.
func (c Compound) Keys() []string {
	keys := make([]string, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
