package nbt

import (
	"encoding/binary"
	"math"
)

// Append writes a value in network form: type, content, no name. A nil value is a lone end tag. Compounds are written
// with sorted names, so equal values give equal bytes.
func Append(dst []byte, v Value) []byte {
	if v == nil {
		return append(dst, byte(TagEnd))
	}
	return appendContent(append(dst, byte(v.Type())), v)
}

// AppendNamed writes a value in file form: type, name, content.
func AppendNamed(dst []byte, name string, v Value) []byte {
	if v == nil {
		return append(dst, byte(TagEnd))
	}
	return appendContent(appendString(append(dst, byte(v.Type())), name), v)
}

func appendContent(dst []byte, v Value) []byte {
	be := binary.BigEndian
	switch v := v.(type) {
	case Byte:
		return append(dst, byte(v))
	case Short:
		return be.AppendUint16(dst, uint16(v))
	case Int:
		return be.AppendUint32(dst, uint32(v))
	case Long:
		return be.AppendUint64(dst, uint64(v))
	case Float:
		return be.AppendUint32(dst, math.Float32bits(float32(v)))
	case Double:
		return be.AppendUint64(dst, math.Float64bits(float64(v)))
	case String:
		return appendString(dst, string(v))
	case ByteArray:
		return append(be.AppendUint32(dst, uint32(len(v))), v...)
	case IntArray:
		dst = be.AppendUint32(dst, uint32(len(v)))
		for _, x := range v {
			dst = be.AppendUint32(dst, uint32(x))
		}
		return dst
	case LongArray:
		dst = be.AppendUint32(dst, uint32(len(v)))
		for _, x := range v {
			dst = be.AppendUint64(dst, uint64(x))
		}
		return dst
	case *List:
		return appendList(dst, v)
	case Compound:
		for _, k := range v.Keys() {
			if v[k] != nil {
				dst = AppendNamed(dst, k, v[k])
			}
		}
		return append(dst, byte(TagEnd))
	}
	return dst
}

// appendList leaves out elements of another type than the list's: they cannot be written.
func appendList(dst []byte, l *List) []byte {
	dst = append(dst, byte(l.Elem))
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	n := uint32(0)
	for _, it := range l.Items {
		if it != nil && it.Type() == l.Elem {
			dst = appendContent(dst, it)
			n++
		}
	}
	binary.BigEndian.PutUint32(dst[at:], n)
	return dst
}
