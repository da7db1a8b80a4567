package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"blockworld/bot/hosting"
	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// distant is the daemon as a host in a process of its own has it: it says once when the daemon goes away and once when it is
// back, and ends the host when the daemon refuses it for a reason that does not pass by itself.
type distant struct {
	hosting.Daemon
	base string
	say  func(format string, args ...any)
	end  context.CancelCauseFunc

	mu    sync.Mutex
	why   string // why it is away, as it was said last; empty: it is there
	seen  bool   // it has taken this host before
	ended int    // sessions in a row that ended while it was there
}

// Register implements hosting.Daemon.
func (d *distant) Register(ctx context.Context, m host.Manifest) (host.Session, error) {
	s, err := d.Daemon.Register(ctx, m)
	switch final := refusedHost(err, m.Host); {
	case err == nil:
		d.back(m.Host)
	case ctx.Err() != nil:
	case final != nil:
		d.end(final)
	default:
		d.away(err)
	}
	return s, err
}

// Poll implements hosting.Daemon.
func (d *distant) Poll(ctx context.Context, s host.Session, limit int, wait time.Duration) (host.Batch, error) {
	b, err := d.Daemon.Poll(ctx, s, limit, wait)
	switch code := controlplane.CodeOf(err); {
	case err == nil || ctx.Err() != nil:
	case code == controlplane.CodeUnavailable, code == controlplane.CodeForbidden: // the session is over: registering will tell
		d.lost(s.Host)
	default:
		d.away(err)
	}
	return b, err
}

// twins is how many sessions may end by themselves, with the daemon there all the time, until it is said what that means.
const twins = 3

// lost counts sessions that ended while the daemon was there.
func (d *distant) lost(name host.Name) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended++; d.ended == twins {
		d.say("the sessions of host %s are ended one after another: another process runs as %s with a token of the same name; stop one of the two, or name it otherwise", name, name)
	}
}

// away says that the daemon is away, once for each reason.
func (d *distant) away(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	why := "cannot be reached"
	if !errors.Is(err, client.ErrUnreachable) {
		why = err.Error()
	}
	if why == d.why {
		return
	}
	d.why = why
	d.ended = 0
	d.say("the daemon at %s is away (%s): this host tries again by itself, and its bots stay where they are", d.base, why)
}

// back says that the daemon has taken the host, at the first time and whenever it had been away.
func (d *distant) back(name host.Name) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.seen:
		d.say("the daemon at %s has taken host %s", d.base, name)
	case d.why != "":
		d.say("the daemon at %s is back", d.base)
	}
	d.seen, d.why = true, ""
}

// refusedHost is how a host ends whose registration was refused for good, nil for what may pass by itself.
func refusedHost(err error, name host.Name) error {
	no := func(code int, then string) error {
		return fail(code, fmt.Errorf("the daemon refuses this host: %w; %s", err, then))
	}
	const another = "make one on the daemon's side: `blockworld ctl token create --kind host --principal %s -o host.token`"
	var e *controlplane.Error
	switch {
	case err == nil || errors.Is(err, client.ErrUnreachable):
		return nil
	case errors.Is(err, client.ErrBadBase), errors.Is(err, client.ErrNoAnswer):
		return fail(exitUsage, fmt.Errorf("%w; name the daemon with --daemon", err))
	case !errors.As(err, &e):
		return nil
	}
	switch e.Code {
	case controlplane.CodeForbidden:
		if own := e.Detail["host"]; own != "" {
			return no(exitDenied, fmt.Sprintf("or set `host: %s` in the configuration, which names this one %s", own, name))
		}
		return no(exitDenied, fmt.Sprintf("set `host:` in the configuration, which names this one %s, to the token's name, or "+another, name, name))
	case token.CodeKind, token.CodeWrong, token.CodeExpired, token.CodeRevoked, token.CodeMissing, controlplane.CodeUnauthenticated:
		return no(exitDenied, fmt.Sprintf(another, name))
	case controlplane.CodeInvalid, controlplane.CodeTooLarge, controlplane.CodeNotFound, controlplane.CodeUnknownCapability:
		return no(exitUsage, "is the daemon of the same version as this host?")
	}
	return nil
}
