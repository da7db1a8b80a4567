package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"blockworld/worldstate/registry"
)

// FuzzFrames feeds any bytes to a connection: it ends, and nothing it returns is later changed.
func FuzzFrames(f *testing.F) {
	keep := play772(&KeepAlive{ID: 1})
	f.Add(frame(keep), int16(-1), true)
	f.Add(frame([]byte{0}, keep), int16(0), true)
	f.Add(frame(appendVarInt(nil, int32(len(keep))), deflate(keep)), int16(0), false)
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0x01}, int16(-1), true)
	f.Fuzz(func(t *testing.T, data []byte, threshold int16, plain bool) {
		c := reader(data, int(threshold))
		if !plain {
			if err := c.SetEncryption(make([]byte, 16)); err != nil {
				t.Fatal(err)
			}
		}
		for range len(data) + 2 {
			_, err := c.ReadPacket()
			var de *DecodeError
			if err != nil && !errors.As(err, &de) {
				if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrFrame) {
					t.Fatal(err)
				}
				return
			}
		}
		t.Fatal("the stream does not end")
	})
}

// FuzzPackets decodes any bytes as any packet of any version; what decodes can be written, and reads as the same.
func FuzzPackets(f *testing.F) {
	for i, pl := range places() {
		if i%7 == 0 || pl.p == registry.V26_1 {
			data, err := EncodePacket(nil, pl.p, pl.s, pl.d, pl.random(2))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(pl.p-registry.First), uint8(pl.s), uint8(pl.d), data)
		}
	}
	f.Fuzz(func(t *testing.T, version, state, direction uint8, data []byte) {
		p, s, d := registry.First+registry.Protocol(version%12), State(state%stateCount), Direction(direction%directionCount)
		pk, _, err := decode(new(IO), p, s, d, data, true)
		if err != nil {
			return
		}
		first, err := EncodePacket(nil, p, s, d, pk)
		if err != nil {
			t.Fatalf("%s %+v: %v", PacketName(s, d, pk), pk, err)
		}
		again, err := DecodePacket(p, s, d, first)
		if err != nil {
			t.Fatalf("%s %x: %v", PacketName(s, d, pk), first, err)
		}
		second, err := EncodePacket(nil, p, s, d, again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s: %v\n%x\n%x", PacketName(s, d, pk), err, first, second)
		}
		Redact(p, s, d, data)
	})
}

// FuzzItems decodes any bytes as item stacks and as metadata.
func FuzzItems(f *testing.F) {
	f.Add(uint8(11), []byte{5, 6, 1, 0, 3, 7})
	f.Add(uint8(0), []byte{1, 5, 6, 10, 0})
	f.Add(uint8(8), []byte{1, 1, 1, 0, 41, 1, 1, 1, 0, 0})
	f.Add(uint8(8), []byte(Metadata{0, 0, 4, 9, 3, 0, 0, 0, 0, metadataEnd}))
	f.Fuzz(func(t *testing.T, version uint8, data []byte) {
		p := registry.First + registry.Protocol(version%12)
		for _, read := range []func(*IO, *ItemStack){(*IO).ItemStack, (*IO).UntrustedStack} {
			io := IO{buf: data, p: p, reading: true, keep: true}
			var s ItemStack
			read(&io, &s)
			if io.ok() || io.truncated() {
				s.Split(p)
			}
		}
		n := 0
		Metadata(data).Each(p, func(_ uint8, _ int32, value []byte) bool { n += 2 + len(value); return true })
		if n > len(data) {
			t.Errorf("%d bytes of metadata in %d", n, len(data))
		}
	})
}

// FuzzCapture reads any bytes as a capture.
func FuzzCapture(f *testing.F) {
	f.Add(capture(f, CaptureRecord{Clientbound, Play, 5e6, []byte{1, 2, 3}}, CaptureRecord{Serverbound, Login, 9e9, nil}))
	f.Add([]byte(captureMagic))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, data) })
}
