package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blockworld/worldstate/registry"
)

func capture(t testing.TB, records ...CaptureRecord) []byte {
	var b bytes.Buffer
	w, err := NewCaptureWriter(&b, CaptureHeader{Protocol: registry.V1_21_7, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCapture(t *testing.T) {
	want := []CaptureRecord{
		{Clientbound, Play, 0, play772(&KeepAlive{ID: 1})},
		{Serverbound, Play, 1500 * time.Millisecond, []byte{0x1b, 0, 0, 0, 0, 0, 0, 0, 1}},
		{Clientbound, Configuration, 2 * time.Second, []byte{0x70}},
	}
	data := capture(t, want...)
	r, err := NewCaptureReader(bytes.NewReader(data))
	if err != nil || r.Header != (CaptureHeader{registry.V1_21_7, "test"}) {
		t.Fatal(r, err)
	}
	for _, w := range want {
		got, err := r.Next()
		if d := cmp.Diff(w, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Error(err)
	}
	for n := range data {
		readAll(t, data[:n])
	}
	for _, bad := range []string{"", "BWCAP2\n", "something else"} {
		if _, err := NewCaptureReader(bytes.NewReader([]byte(bad))); !errors.Is(err, ErrCapture) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// readAll reads what it can; a file that was cut off ends with an error that says so.
func readAll(t testing.TB, data []byte) {
	r, err := NewCaptureReader(bytes.NewReader(data))
	for err == nil {
		_, err = r.Next()
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrCapture) {
		t.Fatalf("%d bytes: %v", len(data), err)
	}
}

// TestRedact looks for secrets in what a capture holds of packets that are full of them.
func TestRedact(t *testing.T) {
	secret := []byte("s3cr3t-s3cr3t")
	text := string(secret)
	var signature [256]byte
	copy(signature[:], secret)
	session := ChatSession{PublicKey: secret, KeySignature: secret}
	for _, c := range []struct {
		s  State
		d  Direction
		pk Packet
	}{
		{Handshake, Serverbound, &Intention{Host: "localhost\x00" + text}},
		{Login, Clientbound, &HelloClientbound{PublicKey: secret, Challenge: secret}},
		{Login, Serverbound, &Key{Secret: secret, Challenge: secret}},
		{Login, Clientbound, &CustomQuery{Channel: "velocity:player_info", Data: secret}},
		{Login, Serverbound, &CustomQueryAnswer{Understood: true, Data: secret}},
		{Login, Serverbound, &CookieResponse{Key: "a:b", Present: true, Payload: secret}},
		{Configuration, Serverbound, &CookieResponse{Key: "a:b", Present: true, Payload: secret}},
		{Play, Clientbound, &StoreCookie{Key: "a:b", Payload: secret}},
		{Play, Clientbound, &ResourcePackPush{URL: "https://user:" + text + "@example.org/pack.zip?token=" + text}},
		{Play, Serverbound, &Chat{Message: "hello", Signed: true, Signature: signature}},
		{Play, Serverbound, &ChatCommand{Command: "login " + text}},
		{Play, Serverbound, &ChatCommandSigned{Command: "msg a b", Signatures: []ArgumentSignature{{"b", signature}}}},
		{Play, Serverbound, &ChatCommandSigned{Command: "register " + text + " " + text}},
		{Play, Serverbound, &ChatSessionUpdate{Session: session}},
		{Play, Clientbound, &PlayerChat{Signed: true, Signature: signature, Previous: []PreviousMessage{{Signature: signature}}}},
		{Play, Clientbound, &PlayerInfoUpdate{Actions: InfoInitializeChat, Entries: []PlayerInfo{{HasSession: true, Session: session}}}},
	} {
		p := registry.V1_21_7
		data, err := EncodePacket(nil, p, c.s, c.d, c.pk)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, secret) {
			t.Fatalf("%T holds no secret", c.pk)
		}
		before := bytes.Clone(data)
		for _, cut := range []int{len(data), len(data) - 1} {
			got := Redact(p, c.s, c.d, data[:cut])
			if bytes.Contains(got, secret) {
				t.Errorf("%T cut at %d of %d keeps its secret: %q", c.pk, cut, len(data), got)
			}
			if cut == len(data) {
				if _, err := DecodePacket(p, c.s, c.d, got); err != nil {
					t.Errorf("%T: %v", c.pk, err)
				}
			}
		}
		if !bytes.Equal(before, data) {
			t.Errorf("%T: the packet itself was changed", c.pk)
		}
	}
	plain := play772(&SystemChat{Content: Literal("hello")})
	if got := Redact(registry.V1_21_7, Play, Clientbound, plain); !bytes.Equal(got, plain) {
		t.Error("a packet without secrets was changed")
	}
}
