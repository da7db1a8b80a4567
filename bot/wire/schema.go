package wire

import (
	"fmt"

	"blockworld/worldstate/registry"
)

// A schema tells how long values are that carry no length: components of item stacks, entity metadata, particles in them.
// It is data, generated per version (zz_schema.go), walked by the small interpreter below. What it passes over stays raw.
type schema struct {
	components []int16 // node by component type; -1 unknown
	metadata   []int16 // node by metadata type
	types      []int16 // node by name; -1 not in this version
}

// schemaNode is one step. Its children are schemaKids[first : first+count].
type schemaNode struct {
	op    schemaOp
	n     int16
	first int16
	count int16
}

type schemaOp uint8

const (
	opUnknown schemaOp = iota // cannot be passed over
	opVoid                    // nothing
	opFixed                   // n bytes
	opVarInt
	opVarLong
	opBytes     // VarInt length, bytes
	opNBT       // network NBT
	opOption    // bool, then perhaps the child
	opArray     // VarInt count, then children
	opSeq       // the children one after another
	opSwitch    // VarInt (n 0) or bool (n 1), then the child paired with its value, else the last one
	opHolder    // VarInt; 0: the child follows
	opHolderSet // VarInt; 0: the first child follows, else that many less one of the second
	opRef       // the type of name n
	opStack     // an item stack
	opTemplate  // an item stack that is never empty, id first
	opComponent // a component with its type
)

func schemaOf(p registry.Protocol) *schema {
	if !p.Known() {
		return nil
	}
	return &schemas[p-registry.First]
}

// skipNode passes over what a node describes.
func (io *IO) skipNode(s *schema, at int16) {
	if io.err != nil {
		return
	}
	if at < 0 {
		io.err = errTruncated
		return
	}
	if io.depth++; io.depth > maxDepth {
		io.err = fmt.Errorf("%w: data nested deeper than %d", ErrTooLong, maxDepth)
		return
	}
	io.step(s, schemaNodes[at])
	io.depth--
}

func (io *IO) step(s *schema, n schemaNode) {
	kids := schemaKids[n.first : n.first+n.count]
	switch n.op {
	case opVoid:
	case opFixed:
		io.take(int(n.n))
	case opVarInt:
		io.skipVarInt()
	case opVarLong:
		var v int64
		io.VarLong(&v)
	case opBytes:
		io.take(io.length(MaxInflated))
	case opNBT:
		io.takeNBT()
	case opSeq:
		for _, k := range kids {
			io.skipNode(s, k)
		}
	case opOption:
		var there bool
		if io.Flag(&there) {
			io.skipNode(s, kids[0])
		}
	case opArray:
		for c := io.count(0); c > 0 && io.ok(); c-- {
			io.skipNode(s, kids[0])
		}
	case opSwitch:
		io.skipSwitch(s, n.n == 1, kids)
	case opHolder:
		if io.skipVarInt() == 0 {
			io.skipNode(s, kids[0])
		}
	case opHolderSet:
		io.skipHolderSet(s, kids)
	case opRef:
		io.skipNode(s, s.types[n.n])
	case opStack:
		io.skipStack()
	case opTemplate:
		io.skipVarInt()
		io.skipVarInt()
		io.skipComponents((*IO).skipComponent)
	case opComponent:
		io.skipComponent()
	default:
		io.Fail(errTruncated)
	}
}

func (io *IO) skipVarInt() int32 {
	v := int32(-1)
	io.VarInt(&v)
	return v
}

func (io *IO) skipSwitch(s *schema, isBool bool, kids []int16) {
	var v int32
	if isBool {
		var b bool
		if io.Bool(&b); b {
			v = 1
		}
	} else {
		io.VarInt(&v)
	}
	last := len(kids) - 1
	for i := 0; i < last; i += 2 {
		if int32(kids[i]) == v {
			io.skipNode(s, kids[i+1])
			return
		}
	}
	io.skipNode(s, kids[last])
}

func (io *IO) skipHolderSet(s *schema, kids []int16) {
	n := io.skipVarInt()
	if n == 0 {
		io.skipNode(s, kids[0])
		return
	}
	if n < 0 || int(n)-1 > io.remaining() {
		io.Fail(ErrShort)
	}
	for ; n > 1 && io.ok(); n-- {
		io.skipNode(s, kids[1])
	}
}

// skipStack passes over an item stack.
func (io *IO) skipStack() {
	if !io.Has(ItemComponents) {
		var there bool
		if io.Flag(&there) {
			io.skipVarInt()
			io.take(1)
			io.takeNBT()
		}
		return
	}
	if io.skipVarInt() > 0 {
		io.skipVarInt()
		io.skipComponents((*IO).skipComponent)
	}
}
