package wire

import (
	"bytes"
	"testing"

	"blockworld/worldstate/registry"
	"github.com/google/go-cmp/cmp"
)

type pipe struct{ bytes.Buffer }

// TestConn writes packets with compression and encryption and reads them back.
func TestConn(t *testing.T) {
	var p pipe
	w, r := NewConn(&p, Clientbound), NewConn(&p, Serverbound)
	for _, c := range []*Conn{w, r} {
		c.SetProtocol(registry.V1_21_7)
		c.SetState(Play)
		c.SetCompression(64)
		if err := c.SetEncryption(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
	}
	want := []Packet{
		&KeepAlive{ID: 7}, &CustomPayload{Channel: "a:b", Data: bytes.Repeat([]byte("x"), 9000)}, &ClientTickEnd{},
	}
	for _, pk := range want {
		if err := w.WritePacket(pk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, pk := range want {
		got, err := r.ReadPacket()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(pk, got); d != "" {
			t.Error(d)
		}
	}
}
