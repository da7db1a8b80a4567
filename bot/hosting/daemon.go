package hosting

import (
	"context"
	"errors"
	"time"

	"blockworld/effects"
	"blockworld/effects/host"
)

// Daemon is the host's side of a control plane. Every call may fail and be tried again: the daemon takes repeats without a
// change. An error that implements ErrorCode() string says by a stable word what is wrong; see Code.
type Daemon interface {
	Register(ctx context.Context, m host.Manifest) (host.Session, error)
	Renew(ctx context.Context, s host.Session) (host.Session, error)
	Unregister(ctx context.Context, s host.Session) error
	Publish(ctx context.Context, s host.Session, p host.Publication) error
	// Poll waits at most wait (0 to 25 s) for up to limit (1 to 64) items.
	Poll(ctx context.Context, s host.Session, limit int, wait time.Duration) (host.Batch, error)
	Answer(ctx context.Context, s host.Session, a host.Answer) error
	Ack(ctx context.Context, s host.Session, a host.Ack) error
	Run(ctx context.Context, s host.Session, r host.Run) error
	Outcome(ctx context.Context, s host.Session, o host.Outcome) error
	SubmitChild(ctx context.Context, s host.Session, c host.Child) (host.ChildView, error)
	Blueprint(ctx context.Context, s host.Session, d effects.Digest) ([]byte, error)
}

// Code is the stable word of a daemon's error, empty when it has none and may pass by itself. Config.CodeOf can say it for
// errors that do not.
func (h *Host) code(err error) string {
	if err == nil {
		return ""
	}
	if h.cfg.CodeOf != nil {
		return h.cfg.CodeOf(err)
	}
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return ""
}

// final says whether a refusal stays one, however often the same is said again.
func (h *Host) final(err error) bool {
	switch h.code(err) {
	case "invalid", "too_large", "not_found", "conflict", "stale", "capacity", "denied", "unknown_capability":
		return true
	}
	return errors.Is(err, host.ErrInvalid)
}
