package login

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAddress(t *testing.T) {
	for in, want := range map[string]struct {
		host string
		port uint16
	}{
		"example.org": {"example.org", 0}, " example.org:25570 ": {"example.org", 25570}, "127.0.0.1": {"127.0.0.1", 0},
		"[::1]:25565": {"::1", 25565}, "[::1]": {"::1", 0}, "::1": {"::1", 0}, "localhost:1": {"localhost", 1},
	} {
		if host, port, err := ParseAddress(in); err != nil || host != want.host || port != want.port {
			t.Errorf("%q: %q %d %v", in, host, port, err)
		}
	}
	for _, in := range []string{"", " ", ":25565", "a:b", "a:0", "a:65536", "a:-1", "[::1", "[::1]x", "[::1]25565", "a b", "http://x", "a:1:2", "x\x00y"} {
		if _, _, err := ParseAddress(in); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"example.org", "example.org:25565", "[::1]:25565", "::1", ":", "[", "[]", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, _, err := ParseAddress(s)
		if err == nil && host == "" {
			t.Errorf("%q has no host", s)
		}
	})
}

type records map[string][]*net.SRV

func (r records) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	if found, ok := r[service+" "+proto+" "+name]; ok {
		return "", found, nil
	}
	return "", nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func TestResolve(t *testing.T) {
	dns := records{
		"minecraft tcp play.example":  {{Target: "node7.example.", Port: 25599}},
		"minecraft tcp empty.example": {},
		"minecraft tcp odd.example":   {{Target: ".", Port: 25599}},
	}
	for in, want := range map[string]Target{
		"play.example":       {"play.example", "node7.example", 25599},
		"play.example:25565": {"play.example:25565", "play.example", 25565},
		"none.example":       {"none.example", "none.example", 25565},
		"empty.example":      {"empty.example", "empty.example", 25565},
		"odd.example":        {"odd.example", "odd.example", 25565},
		"127.0.0.1":          {"127.0.0.1", "127.0.0.1", 25565},
		"localhost":          {"localhost", "localhost", 25565},
	} {
		got, err := Resolve(context.Background(), in, dns)
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
	if _, err := Resolve(context.Background(), "", dns); !errors.Is(err, ErrAddress) {
		t.Errorf("empty: %v", err)
	}
	if got := (Target{Host: "::1", Port: 5}).Address(); got != "[::1]:5" {
		t.Errorf("address %s", got)
	}
}
