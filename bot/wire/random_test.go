package wire

import (
	"math/rand/v2"
	"reflect"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
	"blockworld/worldstate/registry"
)

// random makes packets with random contents that are valid in one version, by type of field; values that only some
// versions or an independent codec accept are narrowed by name.
type random struct {
	*rand.Rand
	p registry.Protocol
}

func newRandom(seed uint64, p registry.Protocol) random {
	return random{rand.New(rand.NewPCG(seed, uint64(p))), p}
}

// packet fills a packet.
func (r random) packet(pk Packet) {
	r.fill(reflect.ValueOf(pk).Elem(), "")
	switch pk := pk.(type) {
	case *SetEquipment:
		if len(pk.Items) == 0 {
			pk.Items = make([]Equipment, 1)
		}
	case *Commands:
		pk.Data = []byte{1, 0, 0, 0} // a root without children
	case *CustomClickAction:
		pk.Payload = append([]byte{1}, r.nbt()...)
	case *PlayerInfoUpdate:
		r.infoActions(pk)
	}
}

// infoActions keeps to the parts that the version has. The two last ones come together: minecraft-data has exchanged them.
func (r random) infoActions(pk *PlayerInfoUpdate) {
	pk.Actions &= InfoListOrder - 1
	if Has(r.p, PlayerLoadedExists) && r.IntN(2) == 0 { // the same versions that know hats
		pk.Actions |= InfoListOrder | InfoHat
	}
}

// small are the ranges of fields that are numbers of a closed set.
var small = map[string]int64{
	"Intent": 4, "Face": 6, "Action.InteractAction": 3, "Action.ClientAction": 2, "Hand": 2, "Kind.int32": 10, "Particles": 3, "Event.uint8": 13, "GameMode.uint8": 4,
	"Relative": 512, "Parameters": 3, "Slot.uint8": 7,
}

func (r random) int() int64 {
	switch r.IntN(4) {
	case 0:
		return int64(r.IntN(3))
	case 1:
		return int64(r.IntN(1000)) - 500
	case 2:
		return int64(int32(r.Uint32()))
	}
	return int64(r.Uint64())
}

func (r random) text() string {
	letters := []rune("aZ0_ :\"é中")
	var s []rune
	for range r.IntN(12) {
		s = append(s, letters[r.IntN(len(letters))])
	}
	return string(s)
}

func (r random) bytes(max int) []byte {
	b := make([]byte, r.IntN(max))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (r random) nbt() NBT {
	v := nbt.Compound{"a": nbt.Int(r.Uint32()), "text": nbt.String(r.text()), "list": nbt.ListOf(nbt.Byte(1), nbt.Byte(2)), "longs": nbt.LongArray{1, -1}}
	return nbt.Append(nil, []nbt.Value{v, nbt.Compound{}, nbt.String(r.text())}[r.IntN(3)])
}

// fill fills a value by its type.
func (r random) fill(v reflect.Value, name string) {
	if r.special(v, name) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.limited(v, name))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(r.limited(v, name)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(int32(r.int())) / 64)
		if v.Kind() == reflect.Float32 {
			v.SetFloat(float64(float32(v.Float())))
		}
	case reflect.String:
		v.SetString(r.text())
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), name)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(r.bytes(40))
			return
		}
		n := r.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			r.fill(v.Index(i), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.fill(v.Field(i), v.Type().Field(i).Name)
			}
		}
	}
}

// limited is a number that fits its type and its closed set.
func (r random) limited(v reflect.Value, name string) int64 {
	for _, k := range []string{name, name + "." + v.Type().Name()} {
		if n, ok := small[k]; ok {
			return r.Int64N(n)
		}
	}
	n := r.int()
	bits := 8 * v.Type().Size()
	return n << (64 - bits) >> (64 - bits)
}

// special fills types that have rules of their own.
func (r random) special(v reflect.Value, name string) bool {
	var x any
	switch v.Interface().(type) {
	case NBT:
		x = r.nbt()
	case Heightmaps:
		x = AppendHeightmaps(nil, Has(r.p, HeightmapList), Heightmap{Kind: MotionBlocking, Data: []int64{r.int(), 2}}, Heightmap{Kind: WorldSurface})
	case Light:
		x = AppendLight(nil, LightData{SkyMask: []int64{r.int()}, EmptyBlockMask: []int64{5}, Sky: [][]byte{r.bytes(9), r.bytes(9)}})
	case Text:
		x = Literal(r.text())
	case Metadata:
		x = Metadata{9, 0, byte(r.IntN(200)), 7, 3, 1, 2, 3, 4, metadataEnd} // a byte and a float
	case geom.BlockPos:
		x = geom.BlockPos{X: int32(r.IntN(1<<26)) - 1<<25, Y: int32(r.IntN(1<<12)) - 1<<11, Z: int32(r.IntN(1<<26)) - 1<<25}
	case ItemStack:
		x = r.stack()
	case HashedStack:
		x = HashedStack{}
		if r.IntN(2) == 0 {
			x = HashedStack{Item: registry.ItemID(r.IntN(1000)), Count: 1 + int32(r.IntN(64)), Added: []HashedComponent{{3, int32(r.Uint32())}}, Removed: []int32{4}}
		}
	case PackedVec:
		x = PackedVec{Vec: geom.Vec3{float64(int16(r.Uint32())) / 8000, float64(r.IntN(5)), -0.25}}
	case ChatType:
		x = r.chatType()
	case SectionChange:
		x = Change(registry.StateID(r.Uint32()), int32(r.IntN(16)), int32(r.IntN(16)), int32(r.IntN(16)))
	case BodyAction:
		x = StopSleeping + BodyAction(r.IntN(7))
	case PreviousMessage:
		x = PreviousMessage{ID: int32(r.IntN(2)) * int32(r.IntN(100))}
	default:
		return r.byName(v, name)
	}
	v.Set(reflect.ValueOf(x))
	return true
}

func (r random) byName(v reflect.Value, name string) bool {
	switch name {
	case "LerpTime", "Ticks": // VarLongs of which an independent codec reads 32 bits
		v.SetInt(int64(r.Uint32() >> 1))
	case "Keep": // a bool before feature DimensionByIndex, by minecraft-data
		v.SetUint(uint64(r.IntN(2)))
	case "SectionX", "SectionZ", "SectionY":
		v.SetInt(int64(r.IntN(1<<20)) - 1<<19)
	default:
		return false
	}
	return true
}

func (r random) chatType() ChatType {
	if Has(r.p, ChatTypeHolder) && r.IntN(3) == 0 {
		t := new(InlineChatType)
		r.fill(reflect.ValueOf(t).Elem(), "")
		return ChatType{Index: -1, Inline: t}
	}
	return ChatType{Index: int32(r.IntN(1000))}
}

// stack is empty, plain, or with data that needs no component.
func (r random) stack() ItemStack {
	s := ItemStack{Item: registry.ItemID(r.IntN(1500)), Count: int32(r.IntN(100))}
	switch {
	case s.Count == 0:
		return ItemStack{}
	case !Has(r.p, ItemComponents) && r.IntN(2) == 0:
		s.NBT = nbt.Append(nil, nbt.Compound{"Damage": nbt.Int(3)})
	}
	return s
}
