package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"

	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// stream is what a server sends while a player looks around, as bytes on the wire and as its deflated parts.
type stream struct {
	bytes.Reader
	protocol registry.Protocol
	wire     []byte
	frames   int
	deflated [][]byte
	sizes    []int
}

// Write lets a stream be a connection that nobody writes to.
func (*stream) Write(b []byte) (int, error) { return len(b), nil }

// The stream's make: columns, each with light, and small packets behind it.
const (
	streamColumns   = 64
	streamSmall     = 20
	streamThreshold = 256
)

func recordStream(t *tileset) (*stream, error) {
	s := &stream{protocol: t.protocol}
	if err := s.add(&wire.LoginPlay{EntityID: 1}); err != nil {
		return nil, err
	}
	for i := range int32(streamColumns) {
		light := wire.LightData{SkyMask: []int64{0xFF}, Sky: make([][]byte, 8)}
		for j := range light.Sky {
			light.Sky[j] = bytes.Repeat([]byte{byte(i), 0xFF}, 1024)
		}
		packets := []wire.Packet{
			&wire.LevelChunkWithLight{
				Pos: geom.ChunkPos{X: i % 16, Z: i / 16},
				Heightmaps: wire.AppendHeightmaps(nil, wire.Has(t.protocol, wire.HeightmapList), wire.Heightmap{Kind: wire.MotionBlocking, Data: make([]int64, 37)},
					wire.Heightmap{Kind: wire.WorldSurface, Data: make([]int64, 37)}),
				Data: t.at(int(i)), Light: wire.AppendLight(nil, light),
			},
			&wire.SetEquipment{EntityID: i, Items: []wire.Equipment{{Slot: 1, Item: wire.ItemStack{Count: 1, Item: 5}}}},
		}
		for j := range int32(streamSmall) {
			packets = append(packets, &wire.MoveEntityPosRot{EntityID: i*streamSmall + j, DX: int16(i), DY: 5, Yaw: wire.Angle(j)})
		}
		for _, pk := range packets {
			if err := s.add(pk); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// add frames a packet as a server with zlib's usual level does.
func (s *stream) add(pk wire.Packet) error {
	data, err := wire.EncodePacket(nil, s.protocol, wire.Play, wire.Clientbound, pk)
	if err != nil {
		return err
	}
	s.frames++
	if len(data) < streamThreshold {
		s.frame(0, data)
		return nil
	}
	var z bytes.Buffer
	w, err := zlib.NewWriterLevel(&z, 6)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	s.deflated, s.sizes = append(s.deflated, z.Bytes()), append(s.sizes, len(data))
	s.frame(len(data), z.Bytes())
	return nil
}

func (s *stream) frame(size int, body []byte) {
	head := appendVarint(nil, size)
	s.wire = appendVarint(s.wire, len(head)+len(body))
	s.wire = append(append(s.wire, head...), body...)
}

func appendVarint(b []byte, n int) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// toMirror reads the whole stream into a fresh mirror.
func (s *stream) toMirror(reg *registry.Registry, store *worldstate.SectionStore, events *[]worldstate.Event) error {
	s.Reset(s.wire)
	c := wire.NewConn(s, wire.Clientbound)
	c.SetProtocol(s.protocol)
	c.SetState(wire.Play)
	c.SetCompression(streamThreshold)
	m := worldstate.NewMirror(reg, store)
	ctx := wire.NewEventContext(reg)
	ctx.DimensionTypes = []worldstate.Dimension{{Name: "minecraft:overworld", MinY: -64, Height: 384}}
	ctx.Biomes = 64
	for range s.frames {
		pk, err := c.ReadPacket()
		if err != nil {
			return err
		}
		*events = wire.AppendEvents((*events)[:0], pk, ctx)
		for _, ev := range *events {
			if err := m.Apply(ev); err != nil {
				return err
			}
		}
	}
	if n := len(m.View().Columns()); n != streamColumns {
		return fmt.Errorf("the stream left %d columns of %d", n, streamColumns)
	}
	return nil
}

func benchStream(_ context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, t := range b.sets() {
		s, err := recordStream(t)
		if err != nil {
			return nil, err
		}
		reg, err := registry.Load(t.protocol)
		if err != nil {
			return nil, err
		}
		inflate, err := s.inflater()
		if err != nil {
			return nil, err
		}
		store := worldstate.NewSectionStore()
		var events []worldstate.Event
		ns := sideBySide(b.rounds,
			func(n int) {
				for range n {
					if e := s.toMirror(reg, store, &events); e != nil {
						err = e
						return
					}
				}
			},
			func(n int) {
				for range n {
					if e := inflate(); e != nil {
						err = e
						return
					}
				}
			})
		if err != nil {
			return nil, err
		}
		rates, limit := ns[0].per(1e9*float64(s.frames)), ns[1].per(1e9*float64(s.frames))
		f := rates.figure("stream to mirror, "+t.what, "packets/s").beside(rates, limit, "inflating alone")
		f.Note = fmt.Sprintf("%d packets, %d of them deflated, %.2f MB on the wire", s.frames, len(s.deflated), float64(len(s.wire))/1e6)
		out = append(out, f.goal(f.Ratio >= 0.75, ">= 75 % of inflating alone"))
	}
	return out, nil
}

// inflater inflates every deflated frame into one buffer.
func (s *stream) inflater() (func() error, error) {
	z, err := zlib.NewReader(bytes.NewReader(s.deflated[0]))
	if err != nil {
		return nil, err
	}
	src, buf := bytes.NewReader(nil), make([]byte, wire.MaxInflated)
	return func() error {
		for i, d := range s.deflated {
			src.Reset(d)
			if err := z.(zlib.Resetter).Reset(src, nil); err != nil {
				return err
			}
			if _, err := io.ReadFull(z, buf[:s.sizes[i]]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
