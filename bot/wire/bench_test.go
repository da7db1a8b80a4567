package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zlib"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// The stream of the benchmarks: columns, each followed by small packets, as a server sends while a player looks around.
// 1.20.5, whose columns are packed as the captured ones are.
const streamProtocol = registry.V1_20_5

// columns returns the captured columns of the test data, or made-up bytes of their size.
func columns(tb testing.TB) [][]byte {
	dir := os.Getenv("BLOCKWORLD_TEST_DATA")
	var index []struct{ File string }
	b, err := os.ReadFile(filepath.Join(dir, "chunks", "index.json"))
	if err == nil {
		err = json.Unmarshal(b, &index)
	}
	if dir == "" || err != nil {
		tb.Skip("BLOCKWORLD_TEST_DATA is not set, so there are no captured columns to measure with")
	}
	var out [][]byte
	for _, f := range index {
		data, err := os.ReadFile(filepath.Join(dir, "chunks", f.File))
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// recorded is a stream on the wire and its deflated parts.
type recorded struct {
	wire     []byte
	frames   int
	deflated [][]byte
	sizes    []int
}

func record(tb testing.TB) recorded {
	cols := columns(tb)
	var r recorded
	add := func(pk Packet) {
		data, err := EncodePacket(nil, streamProtocol, Play, Clientbound, pk)
		if err != nil {
			tb.Fatal(err)
		}
		r.frames++
		if len(data) < 256 {
			r.wire = append(r.wire, frame([]byte{0}, data)...)
			return
		}
		z := deflate(data)
		r.wire = append(r.wire, frame(appendVarInt(nil, int32(len(data))), z)...)
		r.deflated, r.sizes = append(r.deflated, z), append(r.sizes, len(data))
	}
	add(&LoginPlay{EntityID: 1})
	for i := range int32(240) {
		light := LightData{SkyMask: []int64{0xFF}, Sky: make([][]byte, 8)}
		for j := range light.Sky {
			light.Sky[j] = bytes.Repeat([]byte{byte(i), 0xFF}, 1024)
		}
		add(&LevelChunkWithLight{
			Pos:        geom.ChunkPos{X: i % 16, Z: i / 16},
			Heightmaps: AppendHeightmaps(nil, false, Heightmap{MotionBlocking, make([]int64, 37)}, Heightmap{WorldSurface, make([]int64, 37)}),
			Data:       cols[int(i)%len(cols)], Light: AppendLight(nil, light),
		})
		add(&SetEquipment{EntityID: i, Items: []Equipment{{Slot: 1, Item: ItemStack{Count: 1, Item: 5}}}})
		for j := range int32(20) {
			add(&MoveEntityPosRot{EntityID: i*20 + j, DX: int16(i), DY: 5, Yaw: Angle(j)})
		}
	}
	return r
}

func (r recorded) reader() *Conn {
	c := NewConn(&stream{Reader: bytes.NewReader(r.wire)}, Clientbound)
	c.SetProtocol(streamProtocol)
	c.SetState(Play)
	c.SetCompression(256)
	return c
}

func report(b *testing.B, r recorded) {
	b.ReportMetric(float64(r.frames)*float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

// BenchmarkInflateAlone is the limit of the stream: inflating its frames into one buffer, nothing else.
func BenchmarkInflateAlone(b *testing.B) {
	r := record(b)
	buf := make([]byte, MaxInflated)
	z, err := zlib.NewReader(bytes.NewReader(r.deflated[0]))
	if err != nil {
		b.Fatal(err)
	}
	src := bytes.NewReader(nil)
	for b.Loop() {
		for i, d := range r.deflated {
			src.Reset(d)
			if err := z.(zlib.Resetter).Reset(src, nil); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(z, buf[:r.sizes[i]]); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, r)
}

// BenchmarkReadPackets decodes the stream.
func BenchmarkReadPackets(b *testing.B) {
	r := record(b)
	b.ReportAllocs()
	for b.Loop() {
		c := r.reader()
		for range r.frames {
			if _, err := c.ReadPacket(); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, r)
}

// BenchmarkStreamToMirror decodes the stream and applies its facts to a mirror.
func BenchmarkStreamToMirror(b *testing.B) {
	r := record(b)
	reg, err := registry.Load(streamProtocol)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	store := worldstate.NewSectionStore()
	for b.Loop() {
		c := r.reader()
		m := worldstate.NewMirror(reg, store)
		ctx := NewEventContext(reg)
		ctx.DimensionTypes = []worldstate.Dimension{{Name: "minecraft:overworld", MinY: -64, Height: 384}}
		ctx.Biomes = 64
		var events []worldstate.Event
		for range r.frames {
			pk, err := c.ReadPacket()
			if err != nil {
				b.Fatal(err)
			}
			events = AppendEvents(events[:0], pk, ctx)
			for _, ev := range events {
				if err := m.Apply(ev); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	report(b, r)
}

// BenchmarkSmallPackets encodes and decodes packets that are not compressed.
func BenchmarkSmallPackets(b *testing.B) {
	data, err := EncodePacket(nil, streamProtocol, Play, Serverbound, &UseItemOn{Sequence: 5, Pos: geom.BlockPos{X: 1, Y: 2, Z: 3}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		pk, err := DecodePacket(streamProtocol, Play, Serverbound, data)
		if err != nil {
			b.Fatal(err)
		}
		if data, err = EncodePacket(data[:0], streamProtocol, Play, Serverbound, pk); err != nil {
			b.Fatal(err)
		}
	}
}
