package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
	"blockworld/worldstate/text"
)

// Status is what a server says about itself to anybody who asks. Every text in it is untrusted.
type Status struct {
	Version  string // as the server names it
	Protocol int32  // may be unknown to us
	Players  int
	Max      int
	Sample   []string // some of the players, as the server likes to show them
	MOTD     worldstate.Untrusted
	Latency  time.Duration // of the ping exchange; zero if the server does not answer pings
}

// Known says whether we speak the server's protocol.
func (s Status) Known() bool { return registry.Protocol(s.Protocol).Known() }

// PingOptions is how a ping reaches the network. The zero value is the real one.
type PingOptions struct {
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Resolver Resolver
	Now      func() time.Time
	Protocol registry.Protocol // announced in the handshake; zero: the newest known
}

func (o PingOptions) withDefaults() PingOptions {
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Protocol == 0 {
		o.Protocol = registry.Latest
	}
	return o
}

// Ping finds a server and asks it for its status. The context bounds it; give it a deadline. Errors: ErrAddress,
// ErrNotMinecraft, ErrTimeout, or what the network said.
func Ping(ctx context.Context, address string, o PingOptions) (Status, Target, error) {
	o = o.withDefaults()
	target, err := Resolve(ctx, address, o.Resolver)
	if err != nil {
		return Status{}, Target{}, err
	}
	status, err := PingTarget(ctx, target, o)
	return status, target, err
}

// PingTarget asks a server that is already found.
func PingTarget(ctx context.Context, target Target, o PingOptions) (Status, error) {
	o = o.withDefaults()
	raw, err := o.Dial(ctx, "tcp", target.Address())
	if err != nil {
		return Status{}, timeoutOr(ctx, err)
	}
	defer raw.Close()
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	status, err := exchange(raw, target, o)
	if err != nil {
		return Status{}, timeoutOr(ctx, err)
	}
	return status, nil
}

// timeoutOr names the end of the context instead of what it did to the connection.
func timeoutOr(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%w: it does not answer a status ping", ErrTimeout)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// exchange is the status phase: request and response, then ping and pong for the latency.
func exchange(raw net.Conn, target Target, o PingOptions) (Status, error) {
	conn := wire.NewConn(raw, wire.Clientbound)
	conn.SetProtocol(o.Protocol)
	err := conn.WritePacket(&wire.Intention{Protocol: int32(o.Protocol), Host: target.Host, Port: target.Port, Intent: wire.IntentStatus})
	if err != nil {
		return Status{}, err
	}
	conn.SetWriteState(wire.Status)
	conn.SetReadState(wire.Status)
	if err := send(conn, &wire.StatusRequest{}); err != nil {
		return Status{}, err
	}
	p, err := conn.ReadPacket()
	if err != nil {
		return Status{}, fmt.Errorf("%w: its first reply is no status: %w", ErrNotMinecraft, err)
	}
	response, ok := p.(*wire.StatusResponse)
	if !ok {
		return Status{}, fmt.Errorf("%w: its first reply is no status but %T", ErrNotMinecraft, p)
	}
	status, err := parseStatus(response.JSON)
	if err != nil {
		return Status{}, err
	}
	status.Latency = latency(conn, o.Now)
	return status, nil
}

func send(conn *wire.Conn, p wire.Packet) error {
	if err := conn.WritePacket(p); err != nil {
		return err
	}
	return conn.Flush()
}

// latency times one ping; a server that does not answer it has none.
func latency(conn *wire.Conn, now func() time.Time) time.Duration {
	start := now()
	if send(conn, &wire.PingRequest{Time: start.UnixMilli()}) != nil {
		return 0
	}
	for range 4 {
		p, err := conn.ReadPacket()
		if err != nil {
			return 0
		}
		if _, ok := p.(*wire.PongResponse); ok {
			return now().Sub(start)
		}
	}
	return 0
}

// maxSample is how many player names of a status are kept.
const maxSample = 20

// parseStatus reads the status JSON: unknown fields are skipped, texts are made plain.
func parseStatus(s string) (Status, error) {
	var doc struct {
		Version struct {
			Name     string `json:"name"`
			Protocol int32  `json:"protocol"`
		} `json:"version"`
		Players struct {
			Online int `json:"online"`
			Max    int `json:"max"`
			Sample []struct {
				Name string `json:"name"`
			} `json:"sample"`
		} `json:"players"`
		Description json.RawMessage `json:"description"`
	}
	if err := json.Unmarshal([]byte(s), &doc); err != nil {
		return Status{}, fmt.Errorf("%w: its status is not readable: %w", ErrNotMinecraft, err)
	}
	if doc.Version.Protocol == 0 && doc.Version.Name == "" {
		return Status{}, fmt.Errorf("%w: its status names no version; it may still be starting", ErrNotMinecraft)
	}
	out := Status{
		Version: text.Clean(doc.Version.Name), Protocol: doc.Version.Protocol,
		Players: doc.Players.Online, Max: doc.Players.Max,
		MOTD: worldstate.Untrusted(text.Plain(doc.Description)),
	}
	for i, p := range doc.Players.Sample {
		if i == maxSample {
			break
		}
		out.Sample = append(out.Sample, text.Clean(p.Name))
	}
	return out, nil
}
