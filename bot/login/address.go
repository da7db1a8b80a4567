package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// DefaultPort is the port of a Minecraft server when neither the address nor an SRV record names one.
const DefaultPort = 25565

// ErrAddress is an address that cannot name a server.
var ErrAddress = errors.New("not a server address")

// Resolver looks up SRV records; *net.Resolver is one.
type Resolver interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, addrs []*net.SRV, err error)
}

// Target is where a server is and what it was called.
type Target struct {
	Typed string // as the person wrote it; part of the server's identity
	Host  string // after the SRV lookup; sent in the handshake, as the vanilla client does
	Port  uint16
}

// Address is host:port for a dialer.
func (t Target) Address() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

// ParseAddress splits host, host:port, [v6] and [v6]:port. A missing port is 0.
func ParseAddress(s string) (host string, port uint16, err error) {
	s = strings.TrimSpace(s)
	host = s
	rest := ""
	switch {
	case s == "":
		return "", 0, fmt.Errorf("%w: it is empty; write HOST or HOST:PORT", ErrAddress)
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", 0, fmt.Errorf("%w: %q misses the closing bracket", ErrAddress, s)
		}
		host, rest = s[1:end], s[end+1:]
	case strings.Count(s, ":") > 1:
		if net.ParseIP(s) == nil {
			return "", 0, fmt.Errorf("%w: %q; write an IPv6 address with a port as [ADDRESS]:PORT", ErrAddress, s)
		}
	default:
		if i := strings.IndexByte(s, ':'); i >= 0 {
			host, rest = s[:i], s[i:]
		}
	}
	if host == "" || len(host) > 255 || strings.ContainsAny(host, " /\\@\x00") {
		return "", 0, fmt.Errorf("%w: %q; write HOST or HOST:PORT", ErrAddress, s)
	}
	if rest == "" {
		return host, 0, nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(rest, ":"), 10, 16)
	if err != nil || n == 0 || rest[0] != ':' {
		return "", 0, fmt.Errorf("%w: %q; the port is a number from 1 to 65535", ErrAddress, s)
	}
	return host, uint16(n), nil
}

// Resolve finds where a server is. A name without a port is looked up as _minecraft._tcp SRV record first; any failure
// of that look-up means that there is no record, as the vanilla client takes it. A nil resolver looks nothing up.
func Resolve(ctx context.Context, address string, r Resolver) (Target, error) {
	host, port, err := ParseAddress(address)
	if err != nil {
		return Target{}, err
	}
	t := Target{Typed: strings.TrimSpace(address), Host: host, Port: port}
	if port != 0 {
		return t, nil
	}
	t.Port = DefaultPort
	if r == nil || host == "localhost" || net.ParseIP(host) != nil {
		return t, nil
	}
	_, records, err := r.LookupSRV(ctx, "minecraft", "tcp", host)
	if err != nil || len(records) == 0 || records[0].Port == 0 {
		return t, ctx.Err()
	}
	if name := strings.TrimSuffix(records[0].Target, "."); name != "" {
		t.Host, t.Port = name, records[0].Port
	}
	return t, nil
}
