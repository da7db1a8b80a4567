package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/worldstate/registry"
)

// pair joins a client and a server over memory.
func pair(t *testing.T) (client, server *Conn) {
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	return NewConn(a, Clientbound), NewConn(b, Serverbound)
}

// send writes packets from a goroutine, since a pipe has no memory.
func send(t *testing.T, c *Conn, packets ...Packet) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	for _, pk := range packets {
		if err := c.WritePacket(pk); err != nil {
			t.Fatal(err)
		}
	}
	go func() { done <- c.Flush() }()
	return done
}

func receive(t *testing.T, c *Conn, want ...Packet) {
	t.Helper()
	for _, w := range want {
		got, err := c.ReadPacket()
		if err != nil {
			t.Fatalf("want %T: %v", w, err)
		}
		if d := cmp.Diff(w, got, compare); d != "" {
			t.Error(d)
		}
	}
}

// TestLogin goes through every state of a connection, encrypted and compressed on the way, reading sides following by
// themselves.
func TestLogin(t *testing.T) {
	for _, p := range registry.Protocols() {
		client, server := pair(t)
		for _, c := range []*Conn{client, server} {
			c.SetProtocol(p)
			c.FollowReads(true)
		}
		client.SetReadState(Login)
		secret := []byte("0123456789abcdef")

		hello := &HelloServerbound{Name: "Bot"}
		intention := &Intention{Protocol: int32(p), Host: "localhost", Port: 25565, Intent: IntentLogin}
		if err := client.WritePacket(intention); err != nil {
			t.Fatal(err)
		}
		client.SetWriteState(Login)
		done := send(t, client, hello)
		receive(t, server, intention, hello)
		<-done

		server.SetWriteState(Login)
		encryption := &HelloClientbound{PublicKey: []byte{1}, Challenge: []byte{2}, Authenticate: true}
		done = send(t, server, encryption)
		receive(t, client, encryption)
		<-done

		key := &Key{Secret: []byte{3}, Challenge: []byte{4}}
		if err := client.WritePacket(key); err != nil {
			t.Fatal(err)
		}
		if err := client.SetEncryption(secret); err != nil {
			t.Fatal(err)
		}
		done = send(t, client)
		receive(t, server, key)
		<-done
		if err := server.SetEncryption(secret); err != nil {
			t.Fatal(err)
		}

		compression := &LoginCompression{Threshold: 20}
		finished := &LoginFinished{Profile: GameProfile{Name: "Bot", Properties: []ProfileProperty{{Name: "textures", Value: "a long value that is compressed"}}}}
		if err := server.WritePacket(compression); err != nil {
			t.Fatal(err)
		}
		server.SetCompression(20)
		done = send(t, server, finished)
		receive(t, client, compression, finished)
		<-done

		client.SetWriteCompression(20)
		done = send(t, client, &LoginAcknowledged{})
		receive(t, server, &LoginAcknowledged{})
		<-done
		client.SetWriteState(Configuration)
		server.SetWriteState(Configuration)
		done = send(t, server, &FinishConfiguration{})
		receive(t, client, &FinishConfiguration{})
		<-done
		done = send(t, client, &FinishConfiguration{})
		receive(t, server, &FinishConfiguration{})
		<-done
		client.SetWriteState(Play)
		server.SetWriteState(Play)
		done = send(t, server, &StartConfiguration{})
		receive(t, client, &StartConfiguration{})
		<-done
		if client.ReadState() != Configuration || server.ReadState() != Play {
			t.Error(client.ReadState(), server.ReadState())
		}
	}
}

// TestUnknownFrames skips and counts what is not in the table, large ones without inflating them.
func TestUnknownFrames(t *testing.T) {
	large := append([]byte{0x70}, bytes.Repeat([]byte{7}, 1<<20)...) // set_title_text or the like
	conn := reader(bytes.Join([][]byte{
		frame([]byte{0}, []byte{0x70, 1, 2}),
		frame([]byte{0}, []byte{0x70, 1}),
		frame([]byte{0}, []byte{0xFF, 0x7F}),
		frame(appendVarInt(nil, int32(len(large))), deflate(large)),
		frame([]byte{0}, play772(&KeepAlive{ID: 1})),
	}, nil), 0)
	var pk Packet
	var err error
	if used := memory(func() { pk, err = conn.ReadPacket() }); used > 256<<10 {
		t.Errorf("%d bytes of memory", used)
	}
	if k, ok := pk.(*KeepAlive); !ok || k.ID != 1 || err != nil {
		t.Fatal(pk, err)
	}
	c := conn.Counters()
	want := map[UnknownPacket]uint64{{Play, 0x70}: 3, {Play, 0x3FFF}: 1}
	if d := cmp.Diff(want, c.Unknown); d != "" || c.FramesIn != 5 || c.DecodeErrors != 0 {
		t.Errorf("%+v %s", c, d)
	}
	if _, err := conn.ReadPacket(); err != io.EOF {
		t.Error(err)
	}
}

// TestUnknownBounded does not let a server fill memory with made-up ids.
func TestUnknownBounded(t *testing.T) {
	var c counts
	for id := range int32(5000) {
		c.unknownPacket(Play, id)
	}
	if len(c.unknown) != maxUnknown+1 || c.unknown[UnknownPacket{Play, -1}] != 5000-maxUnknown {
		t.Error(len(c.unknown))
	}
}

// TestFrames hands frames through as a proxy does.
func TestFrames(t *testing.T) {
	big := &LevelChunkWithLight{Data: bytes.Repeat([]byte{1, 2, 3}, 5000)}
	var out bytes.Buffer
	w := NewConn(&stream{Reader: &out}, Serverbound)
	w.stream = &out
	w.SetProtocol(registry.V1_21_7)
	w.SetState(Play)
	w.SetCompression(64)
	for _, data := range [][]byte{play772(big), {0x70, 1}, play772(&KeepAlive{ID: 3})} {
		if err := w.WriteFrame(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := reader(out.Bytes(), 64)
	var frames [][]byte
	for {
		f, err := r.ReadFrame()
		if err != nil {
			break
		}
		frames = append(frames, f)
	}
	if len(frames) != 3 || !bytes.Equal(frames[0], play772(big)) || !bytes.Equal(frames[1], []byte{0x70, 1}) {
		t.Fatal(len(frames))
	}
	if pk, err := r.Decode(frames[0]); err != nil || len(pk.(*LevelChunkWithLight).Data) != 15000 {
		t.Error(err)
	}
	if _, err := r.Decode(frames[1]); !errors.Is(err, ErrUnknownPacket) {
		t.Error(err)
	}
	if c := w.Counters(); c.FramesOut != 3 || c.BytesOut != uint64(r.Counters().BytesIn) {
		t.Errorf("%+v %+v", c, r.Counters())
	}
}

// dribble returns one byte at a time.
type dribble struct{ r io.Reader }

func (d dribble) Read(b []byte) (int, error) { return d.r.Read(b[:1]) }

// TestDribble reads frames that come byte by byte, encrypted from the middle on.
func TestDribble(t *testing.T) {
	var out bytes.Buffer
	w := NewConn(&out, Serverbound)
	w.SetState(Play)
	want := []Packet{&KeepAlive{ID: 1}, &KeepAlive{ID: 2}, &Commands{Data: bytes.Repeat([]byte{9}, 40000)}, &KeepAlive{ID: 3}}
	for i, pk := range want {
		if i == 1 {
			if err := w.SetEncryption(make([]byte, 16)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WritePacket(pk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{false, true} {
		var src io.Reader = bytes.NewReader(out.Bytes())
		if !all {
			src = dribble{src}
		}
		r := NewConn(&stream{Reader: src}, Clientbound)
		r.SetState(Play)
		receive(t, r, want[0])
		if err := r.SetEncryption(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		receive(t, r, want[1:]...)
	}
}

// TestNothingShared checks that packets stay as they were when the connection reads on.
func TestNothingShared(t *testing.T) {
	var b []byte
	for i := range byte(200) {
		b = append(b, frame([]byte{0}, play772(&CustomPayload{Channel: "a:b", Data: bytes.Repeat([]byte{i}, 100)}))...)
		z := play772(&CustomPayload{Channel: "a:b", Data: bytes.Repeat([]byte{i}, 3000+int(i)*20)})
		b = append(b, frame(appendVarInt(nil, int32(len(z))), deflate(z))...)
	}
	conn := reader(b, 0)
	var kept []*CustomPayload
	for range 400 {
		pk, err := conn.ReadPacket()
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, pk.(*CustomPayload))
	}
	for i, pk := range kept {
		if !bytes.Equal(pk.Data, bytes.Repeat([]byte{byte(i / 2)}, len(pk.Data))) {
			t.Fatalf("packet %d has changed", i)
		}
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// TestIdleReader does not spin on a reader that brings nothing.
func TestIdleReader(t *testing.T) {
	c := NewConn(&stream{Reader: idle{}}, Clientbound)
	if _, err := c.ReadPacket(); err != io.ErrNoProgress {
		t.Error(err)
	}
	if err := c.SetEncryption([]byte("short")); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}
