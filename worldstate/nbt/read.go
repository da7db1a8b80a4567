package nbt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// What can be wrong with foreign tags.
var (
	ErrInvalid   = errors.New("invalid NBT")
	ErrTruncated = errors.New("NBT ends too early")
	ErrTooDeep   = errors.New("NBT is nested too deeply")
	ErrTooLarge  = errors.New("NBT is too large")
)

// Limits bound what a reader accepts. The zero value stands for the defaults.
type Limits struct {
	Depth  int // levels of lists and compounds; default 512, the game's own limit
	Values int // tags in all; default 1<<20
}

// Default limits.
const (
	DefaultDepth  = 512
	DefaultValues = 1 << 20
)

func (l Limits) filled() Limits {
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Values <= 0 {
		l.Values = DefaultValues
	}
	return l
}

// Parse reads one value in network form: type, content, no name. A lone end tag gives a nil Value. The rest of data
// comes back; the value shares no memory with it.
func Parse(data []byte, l Limits) (v Value, rest []byte, err error) {
	d := decoder{data: data, Limits: l.filled()}
	t := Type(d.byte())
	if d.err == nil && t != TagEnd {
		v = d.value(t)
	}
	if d.err != nil {
		return nil, nil, d.fail()
	}
	return v, d.data[d.at:], nil
}

// ParseNamed reads one value in file form: type, name, content.
func ParseNamed(data []byte, l Limits) (name string, v Value, rest []byte, err error) {
	d := decoder{data: data, Limits: l.filled()}
	t := Type(d.byte())
	if d.err == nil && t != TagEnd {
		name = d.string()
		v = d.value(t)
	}
	if d.err != nil {
		return "", nil, nil, d.fail()
	}
	return name, v, d.data[d.at:], nil
}

// Skip returns what follows one value in network form, without building it.
func Skip(data []byte) (rest []byte, err error) {
	d := decoder{data: data, Limits: Limits{}.filled()}
	if t := Type(d.byte()); d.err == nil && t != TagEnd {
		d.skip(t)
	}
	if d.err != nil {
		return nil, d.fail()
	}
	return d.data[d.at:], nil
}

// decoder reads tags from data; the first error sticks.
type decoder struct {
	data []byte
	at   int
	Limits
	depth  int
	values int
	err    error
}

func (d *decoder) fail() error { return fmt.Errorf("%w (at byte %d)", d.err, d.at) }

// take returns the next n bytes, nil and an error if there are fewer.
func (d *decoder) take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > len(d.data)-d.at {
		d.err = ErrTruncated
		return nil
	}
	b := d.data[d.at : d.at+n]
	d.at += n
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint16() uint16 {
	if b := d.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) string() string { return fromModified(d.take(int(d.uint16()))) }

// count reads the length of an array or list and checks that the remaining bytes can hold that many elements.
func (d *decoder) count(size int) int {
	n := int(int32(d.uint32()))
	if n < 0 {
		d.err = errors.Join(d.err, fmt.Errorf("%w: negative length", ErrInvalid))
		return 0
	}
	if d.err == nil && n > (len(d.data)-d.at)/size {
		d.err = ErrTruncated
	}
	if d.err != nil {
		return 0
	}
	return n
}

// least is the smallest number of bytes that a value of a type takes inside a list.
func least(t Type) int {
	return [...]int{TagEnd: 1, TagByte: 1, TagShort: 2, TagInt: 4, TagLong: 8, TagFloat: 4, TagDouble: 8, TagByteArray: 4,
		TagString: 2, TagList: 5, TagCompound: 1, TagIntArray: 4, TagLongArray: 4}[t]
}

// enter counts a level; leave must follow if it returns true.
func (d *decoder) enter() bool {
	if d.depth++; d.depth > d.Depth && d.err == nil {
		d.err = fmt.Errorf("%w: more than %d levels", ErrTooDeep, d.Depth)
	}
	return d.err == nil
}

func (d *decoder) leave() { d.depth-- }

func (d *decoder) countValue() bool {
	if d.values++; d.values > d.Values && d.err == nil {
		d.err = fmt.Errorf("%w: more than %d values", ErrTooLarge, d.Values)
	}
	return d.err == nil
}

func (d *decoder) value(t Type) Value {
	if !d.countValue() {
		return nil
	}
	switch t {
	case TagByte:
		return Byte(d.byte())
	case TagShort:
		return Short(d.uint16())
	case TagInt:
		return Int(d.uint32())
	case TagLong:
		return Long(d.uint64())
	case TagFloat:
		return Float(math.Float32frombits(d.uint32()))
	case TagDouble:
		return Double(math.Float64frombits(d.uint64()))
	case TagString:
		return String(d.string())
	case TagByteArray:
		return append(ByteArray{}, d.take(d.count(1))...)
	case TagIntArray:
		out := make(IntArray, d.count(4))
		for i := range out {
			out[i] = int32(d.uint32())
		}
		return out
	case TagLongArray:
		out := make(LongArray, d.count(8))
		for i := range out {
			out[i] = int64(d.uint64())
		}
		return out
	case TagList:
		return d.list()
	case TagCompound:
		return d.compound()
	}
	d.err = errors.Join(d.err, fmt.Errorf("%w: tag type %d", ErrInvalid, t))
	return nil
}

// listHead reads element type and number of a list. A list of end tags is empty, whatever its length says below 1.
func (d *decoder) listHead() (Type, int) {
	t := Type(d.byte())
	if t > TagLongArray && d.err == nil {
		d.err = fmt.Errorf("%w: list of tag type %d", ErrInvalid, t)
	}
	if d.err != nil {
		return 0, 0
	}
	n := d.count(least(t))
	if t == TagEnd && n > 0 {
		d.err = fmt.Errorf("%w: list of %d end tags", ErrInvalid, n)
		return 0, 0
	}
	return t, n
}

func (d *decoder) list() Value {
	defer d.leave()
	if !d.enter() {
		return nil
	}
	t, n := d.listHead()
	if d.values+n > d.Values && d.err == nil {
		d.err = fmt.Errorf("%w: more than %d values", ErrTooLarge, d.Values)
	}
	if d.err != nil {
		return nil
	}
	l := &List{Elem: t, Items: make([]Value, 0, n)}
	for range n {
		l.Items = append(l.Items, d.value(t))
		if d.err != nil {
			return nil
		}
	}
	return l
}

func (d *decoder) compound() Value {
	defer d.leave()
	if !d.enter() {
		return nil
	}
	c := Compound{}
	for {
		t := Type(d.byte())
		if d.err != nil {
			return nil
		}
		if t == TagEnd {
			return c
		}
		name := d.string()
		v := d.value(t)
		if d.err != nil {
			return nil
		}
		c[name] = v
	}
}

// fixed is the size of the types that have one, 0 for the others.
var fixed = [...]int{TagByte: 1, TagShort: 2, TagInt: 4, TagLong: 8, TagFloat: 4, TagDouble: 8, TagLongArray: 0}

func (d *decoder) skip(t Type) {
	if t > TagLongArray || t == TagEnd {
		d.err = errors.Join(d.err, fmt.Errorf("%w: tag type %d", ErrInvalid, t))
		return
	}
	if fixed[t] > 0 {
		d.take(fixed[t])
		return
	}
	switch t {
	case TagString:
		d.take(int(d.uint16()))
	case TagByteArray:
		d.take(d.count(1))
	case TagIntArray:
		d.take(4 * d.count(4))
	case TagLongArray:
		d.take(8 * d.count(8))
	case TagList:
		d.skipList()
	case TagCompound:
		d.skipCompound()
	}
}

func (d *decoder) skipList() {
	defer d.leave()
	if !d.enter() {
		return
	}
	t, n := d.listHead()
	if d.err == nil && fixed[t] > 0 {
		d.take(n * fixed[t])
		return
	}
	for i := 0; i < n && d.err == nil; i++ {
		d.skip(t)
	}
}

func (d *decoder) skipCompound() {
	defer d.leave()
	if !d.enter() {
		return
	}
	for d.err == nil {
		t := Type(d.byte())
		if t == TagEnd {
			return
		}
		d.take(int(d.uint16()))
		if d.err == nil {
			d.skip(t)
		}
	}
}
