package controlplane

import (
	"io"
	"time"

	"github.com/hashicorp/go-hclog"

	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// Point names a moment at which a crash must lose and repeat nothing.
type Point string

// The points of the daemon's side. At is called outside of every lock.
const (
	BeforeSubmit  Point = "before_submit"  // the request is checked, the host not asked
	AfterBind     Point = "after_bind"     // bound, not stored
	AfterStore    Point = "after_store"    // stored, not answered, not polled
	AfterDelivery Point = "after_delivery" // the attempt is durable, the batch has not left
	AfterAck      Point = "after_ack"      // durable, not answered
	AfterOutcome  Point = "after_outcome"  // durable, not answered
	DuringExpiry  Point = "during_expiry"  // a lease is over, its operations are not fenced
	DuringEpoch   Point = "during_epoch"   // an epoch is published, the old one's operations are not fenced
	AfterConfirm  Point = "after_confirm"  // durable, not answered
	AfterCancel   Point = "after_cancel"   // durable, not answered
)

// Options make a gateway. Engine, Policy, Now and Rand are required; every other zero means its default.
type Options struct {
	Engine store.Engine
	Policy *policy.Engine
	Owners map[host.Name]host.Name // actor -> principal that may stop and clear it
	Homes  map[host.Name]host.Name // actor -> host that alone may register it, any other is refused
	Now    func() time.Time
	Rand   io.Reader
	At     func(Point) // called at every crash point; nil: nothing
	Log    hclog.Logger

	SessionTTL   time.Duration // of a host without a call; 30 s
	AnswerWait   time.Duration // for a host's answer to a gateway request; 25 s, at most 25 s
	ResendAfter  time.Duration // a gateway request without an answer is sent once more; 5 s
	RedeliverMin time.Duration // a delivery without acknowledgement comes again after; 10 s, doubling
	RedeliverMax time.Duration // longest of these, and for what was accepted; 2 min
	ConfirmTicks int64         // game ticks that a challenge lives; 12000 (10 minutes)
	Retain       time.Duration // finished operations are pruned after; 0: never
	SweepEvery   time.Duration // 20 ms; how exact waits and leases end when Run is running
}

func (o Options) withDefaults() Options {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&o.SessionTTL, 30*time.Second)
	def(&o.AnswerWait, MaxWaitMS*time.Millisecond)
	o.AnswerWait = min(o.AnswerWait, MaxWaitMS*time.Millisecond)
	def(&o.ResendAfter, 5*time.Second)
	def(&o.RedeliverMin, 10*time.Second)
	def(&o.RedeliverMax, 2*time.Minute)
	def(&o.SweepEvery, 20*time.Millisecond)
	if o.ConfirmTicks <= 0 {
		o.ConfirmTicks = 12_000
	}
	if o.At == nil {
		o.At = func(Point) {}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return o
}
