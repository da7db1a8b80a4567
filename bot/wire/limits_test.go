package wire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zlib"

	"blockworld/worldstate/registry"
)

// stream is a connection whose other side has already said everything.
type stream struct {
	io.Reader
	bytes.Buffer
}

func (s *stream) Read(b []byte) (int, error)  { return s.Reader.Read(b) }
func (s *stream) Write(b []byte) (int, error) { return s.Buffer.Write(b) }

func reader(b []byte, threshold int) *Conn {
	c := NewConn(&stream{Reader: bytes.NewReader(b)}, Clientbound)
	c.SetProtocol(registry.V1_21_7)
	c.SetState(Play)
	c.SetCompression(threshold)
	return c
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// frame puts a length in front.
func frame(parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(appendVarInt(nil, int32(len(body))), body...)
}

// memory returns what f allocates.
func memory(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// TestLimits feeds lengths that nothing stands behind: an error each, and no memory for them.
func TestLimits(t *testing.T) {
	play := func(id int32, body ...byte) []byte { return append(appendVarInt(nil, id), body...) }
	big := appendVarInt(nil, 1<<30)
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"list beyond the packet", play(0x03, 0xFF, 0xFF, 0x03), ErrShort},
		{"list beyond all bounds", play(0x03, big...), ErrTooLong},
		{"negative list", play(0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F), ErrTooLong},
		{"string beyond the packet", play(0x18, 0x20, 'a'), ErrShort},
		{"string beyond all bounds", play(0x18, big...), ErrTooLong},
		{"VarInt of six bytes", play(0x04, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01), ErrMalformed},
		{"NBT list of a billion", play(0x1c, 9, 1, 0x3F, 0xFF, 0xFF, 0xFF), ErrMalformed},
		{"NBT a thousand deep", play(0x1c, append(bytes.Repeat([]byte{9, 9, 0, 0, 0, 1}, 1000), 9, 1, 0, 0, 0, 0)...), ErrMalformed},
		{"components beyond the packet", play(0x14, 0, 0, 0, 0, 1, 1, 0xFF, 0xFF, 0x03, 0), ErrShort},
		{"stack of a negative count, which is empty", play(0x14, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1), ErrTrailing},
		{"chunk data beyond the packet", play(0x27, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0x7F), ErrShort},
		{"left over", play(0x04, 1, 2), ErrTrailing},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			used := memory(func() { _, err = DecodePacket(registry.V1_21_7, Play, Clientbound, c.data) })
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if used > 256<<10 {
				t.Errorf("%d bytes of memory", used)
			}
		})
	}
}

// TestNestedStacks nests bundles within bundles.
func TestNestedStacks(t *testing.T) {
	p := registry.V1_21_7
	const bundle = 41 // bundle_contents
	var body []byte
	for range 5000 {
		body = append(body, 1, 1, 1, 0, bundle, 1)
	}
	data := append([]byte{0x14, 0, 0, 0, 0}, append(body, 0)...)
	if _, err := DecodePacket(p, Play, Clientbound, data); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

// TestFrameLimits feeds frames that lie: each costs itself or, out of step, the stream.
func TestFrameLimits(t *testing.T) {
	keepAlive := play772(&KeepAlive{ID: 5})
	whole := frame([]byte{0}, keepAlive)
	for _, c := range []struct {
		name      string
		data      []byte
		want      error
		goesOn    bool
		threshold int
	}{
		{"frame longer than three bytes say", []byte{0xFF, 0xFF, 0xFF, 0x01}, ErrFrame, false, 0},
		{"frame of nothing", frame(), ErrShort, true, 0},
		{"end in the middle of a frame", []byte{5, 1}, io.ErrUnexpectedEOF, false, 0},
		{"end in the middle of a length", []byte{0x80}, io.ErrUnexpectedEOF, false, 0},
		{"huge frame announced", []byte{0xFF, 0xFF, 0x7F, 1, 2}, io.ErrUnexpectedEOF, false, 0},
		{"inflates to more than allowed", frame(appendVarInt(nil, MaxInflated+1), deflate(make([]byte, MaxInflated+1))), ErrTooLong, true, 0},
		{"inflates to more than it can", frame(appendVarInt(nil, MaxInflated), deflate(nil)), ErrTooLong, true, 0},
		{"inflates to more than it says", frame(appendVarInt(nil, int32(len(keepAlive)-1)), deflate(keepAlive)), ErrMalformed, true, 0},
		{"inflates to less than it says", frame(appendVarInt(nil, int32(len(keepAlive)+1)), deflate(keepAlive)), ErrMalformed, true, 0},
		{"no zlib", frame(appendVarInt(nil, 10), []byte("nonsense..")), ErrMalformed, true, 0},
		{"negative size", frame(appendVarInt(nil, -5), []byte("nonsense..")), ErrTooLong, true, 0},
		{"a packet cut off", frame([]byte{0}, keepAlive[:4]), ErrShort, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := reader(append(bytes.Clone(c.data), whole...), c.threshold)
			if !c.goesOn {
				conn = reader(c.data, c.threshold)
			}
			var err error
			used := memory(func() { _, err = conn.ReadPacket() })
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if used > 256<<10 {
				t.Errorf("%d bytes of memory", used)
			}
			var de *DecodeError
			if errors.As(err, &de) != c.goesOn {
				t.Errorf("a %T", err)
			}
			if !c.goesOn {
				return
			}
			if pk, err := conn.ReadPacket(); err != nil {
				t.Errorf("the stream does not go on: %v", err)
			} else if k, ok := pk.(*KeepAlive); !ok || k.ID != 5 {
				t.Errorf("the stream goes on with %+v", pk)
			}
			if n := conn.Counters().DecodeErrors; n != 1 {
				t.Errorf("%d decode errors counted", n)
			}
		})
	}
}

func play772(pk Packet) []byte {
	b, err := EncodePacket(nil, registry.V1_21_7, Play, Clientbound, pk)
	if err != nil {
		panic(err)
	}
	return b
}

// TestTooLongToWrite refuses what the other side would refuse.
func TestTooLongToWrite(t *testing.T) {
	c := reader(nil, -1)
	if err := c.WritePacket(&CustomPayload{Channel: "a:b", Data: make([]byte, MaxFrame)}); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
	if err := c.WritePacket(&Chat{Message: string(make([]byte, 257))}); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
	if err := c.WritePacket(&BlockEntityTagQuery{}); err != nil {
		t.Error(err)
	}
}

// TestUnknownComponent keeps item and count of a stack with an unknown component, and loses what is behind it.
func TestUnknownComponent(t *testing.T) {
	for _, p := range registry.Protocols() {
		if !Has(p, ItemComponents) {
			continue
		}
		for _, pk := range []Packet{
			&ContainerSetContent{Items: []ItemStack{{Count: 2, Item: 3}, {Count: 5, Item: 6, Form: StackHead, Components: []byte{1, 0, 0xFF, 1, 1, 2, 3}}}},
			&ContainerSetSlot{Item: ItemStack{Count: 5, Item: 6, Form: StackHead, Components: []byte{1, 0, 0xFF, 1, 9}}},
			&SetEquipment{Items: []Equipment{{Slot: 2, Item: ItemStack{Count: 5, Item: 6, Form: StackHead, Components: []byte{1, 0, 0xFF, 1}}}}},
		} {
			data, err := EncodePacket(nil, p, Play, Clientbound, pk)
			if err != nil {
				t.Fatal(err)
			}
			got, truncated, err := decode(new(IO), p, Play, Clientbound, data, true)
			if err != nil || !truncated {
				t.Fatalf("%s %T: truncated %v, %v", p, pk, truncated, err)
			}
			again, err := EncodePacket(nil, p, Play, Clientbound, got)
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("%s %T: %v\n got %x\nwant %x", p, pk, err, again, data)
			}
			head := stacksOf(got)
			if c, ok := got.(*ContainerSetContent); ok {
				if len(c.Items) != 2 || !c.Items[0].Plain() || c.Carried.Form != StackLost {
					t.Errorf("%s: %+v", p, c)
				}
				head = head[1:]
			}
			if s := head[0]; s.Count != 5 || s.Item != 6 || s.Form != StackHead || s.Plain() {
				t.Errorf("%s %T: %+v", p, pk, s)
			}
		}
	}
}
