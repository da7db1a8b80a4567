package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"blockworld/bot/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve answers one connection with a script.
func serve(script func(c *wire.Conn, raw net.Conn)) PingOptions {
	return PingOptions{
		Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				c := wire.NewConn(theirs, wire.Serverbound)
				c.FollowReads(true)
				c.SetWriteState(wire.Status)
				script(c, theirs)
			}()
			return ours, nil
		},
		Now: func() time.Time { return time.UnixMilli(1000) },
	}
}

// request reads handshake and request.
func request(c *wire.Conn) bool {
	_, err1 := c.ReadPacket()
	_, err2 := c.ReadPacket()
	return err1 == nil && err2 == nil
}

func reply(c *wire.Conn, p wire.Packet) {
	c.WritePacket(p)
	c.Flush()
}

const statusJSON = `{"version":{"name":"1.21.8\u001b[31m","protocol":772},"players":{"max":20,"online":3,"sample":[{"name":"a\u0007b"}]},
"description":{"text":"Hello ","extra":["world"]},"favicon":"data:image/png;base64,xx","enforcesSecureChat":true}`

func TestPing(t *testing.T) {
	status, target, err := Ping(context.Background(), "127.0.0.1:4", serve(func(c *wire.Conn, _ net.Conn) {
		if !request(c) {
			return
		}
		reply(c, &wire.StatusResponse{JSON: statusJSON})
		if p, err := c.ReadPacket(); err == nil {
			reply(c, &wire.PongResponse{Time: p.(*wire.PingRequest).Time})
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := Status{Version: status.Version, Protocol: 772, Players: 3, Max: 20, Sample: status.Sample, MOTD: "Hello world"}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
	if strings.ContainsAny(status.Version+status.Sample[0], "\x1b\x07") || !strings.HasPrefix(status.Version, "1.21.8") {
		t.Errorf("version %q, sample %q", status.Version, status.Sample)
	}
	if !status.Known() || target.Port != 4 {
		t.Errorf("known %v, target %+v", status.Known(), target)
	}
}

func TestPingFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		script func(*wire.Conn, net.Conn)
		want   error
	}{
		"closes at once":       {func(*wire.Conn, net.Conn) {}, nil},
		"closes on request":    {func(c *wire.Conn, _ net.Conn) { request(c) }, ErrNotMinecraft},
		"speaks HTTP":          {func(c *wire.Conn, raw net.Conn) { request(c); fmt.Fprint(raw, "HTTP/1.1 400 Bad Request\r\n\r\n") }, ErrNotMinecraft},
		"no JSON":              {func(c *wire.Conn, _ net.Conn) { request(c); reply(c, &wire.StatusResponse{JSON: "hello"}) }, ErrNotMinecraft},
		"JSON without version": {func(c *wire.Conn, _ net.Conn) { request(c); reply(c, &wire.StatusResponse{JSON: "{}"}) }, ErrNotMinecraft},
		"pong first":           {func(c *wire.Conn, _ net.Conn) { request(c); reply(c, &wire.PongResponse{}) }, ErrNotMinecraft},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Ping(context.Background(), "127.0.0.1:4", serve(tt.script))
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("hangs", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_, _, err := Ping(ctx, "127.0.0.1:4", serve(func(c *wire.Conn, _ net.Conn) { request(c); c.ReadPacket() }))
		if !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no pong", func(t *testing.T) {
		status, _, err := Ping(context.Background(), "127.0.0.1:4", serve(func(c *wire.Conn, _ net.Conn) {
			request(c)
			reply(c, &wire.StatusResponse{JSON: statusJSON})
		}))
		if err != nil || status.Latency != 0 {
			t.Errorf("latency %v, %v", status.Latency, err)
		}
	})
}

func FuzzParseStatus(f *testing.F) {
	for _, s := range []string{statusJSON, "{}", "[]", `{"version":{"protocol":-1},"description":"x"}`, `{"players":{"sample":[null]}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		status, err := parseStatus(s)
		if err != nil {
			if !errors.Is(err, ErrNotMinecraft) {
				t.Errorf("an error of no kind: %v", err)
			}
			return
		}
		if len(status.Sample) > maxSample {
			t.Errorf("%d names are kept", len(status.Sample))
		}
		for _, shown := range append(status.Sample, status.Version, string(status.MOTD)) {
			if strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
				t.Errorf("%q holds a control character", shown)
			}
		}
	})
}

func FuzzBrand(f *testing.F) {
	f.Add(wireString("Paper"))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := brandText(data); len(got) > 4*256 {
			t.Errorf("brand of %d bytes", len(got))
		}
	})
}
