package conformance_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane/conformance"
	"blockworld/effects/host"
)

// tried runs the suite over a scripted host.
func tried(t *testing.T, l lies) []conformance.Result {
	t.Helper()
	h := &scripted{lies: l}
	s := conformance.New(conformance.Options{Patience: 300 * time.Millisecond, Quiet: 20 * time.Millisecond, Sent: h.count})
	h.d = s.Desk
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.live(ctx)
	}()
	defer func() { stop(); <-ended }()
	return s.Run(t.Context(), nil)
}

func told(all []conformance.Result) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%-18s %-8s %s\n", r.Check, r.Status, r.Reason)
	}
	return b.String()
}

func failures(all []conformance.Result) (out []string) {
	for _, r := range all {
		if r.Status == conformance.Failed {
			out = append(out, r.Check)
		}
	}
	return out
}

func TestAHostThatKeepsItsWordConforms(t *testing.T) {
	t.Run("CP-82,CP-88/a host that keeps its word passes every check", func(t *testing.T) {
		all := tried(t, lies{})
		if !conformance.Conforms(all) {
			t.Errorf("it fails %v\n%s", failures(all), told(all))
		}
		for _, r := range all {
			if r.Status == conformance.Skipped && r.Check != "progress" {
				t.Errorf("%s is skipped: %s", r.Check, r.Reason)
			}
		}
	})
}

func TestAHostThatBreaksItsWordIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		lies  lies
		check string
	}{
		{"CP-92/it registers again and publishes nothing", lies{neverPublishesAgain: true}, "session_over"},
		{"its sequences fall", lies{sequencesFall: true}, "publication"},
		{"CP-11/binding sends", lies{bindingSends: true}, "bind"},
		{"CP-07/it binds under an epoch that is over", lies{bindsOldEpochs: true}, "stale_epoch"},
		{"CP-83/it answers a question once only", lies{answersOnce: true}, "replayed_question"},
		{"CP-88/it carries out what comes again", lies{repeats: true}, "redelivery"},
		{"CP-86/it changes an outcome", lies{changesOutcome: true}, "redelivery"},
		{"CP-84/it does not acknowledge again", lies{forgetsAcks: true}, "repeated_ack"},
		{"CP-86/its outcome is lost with the answer", lies{noOutbox: true}, "repeated_outcome"},
		{"CP-87/it takes what it never bound", lies{takesAnything: true}, "unknown_operation"},
		{"CP-97/it goes on under a stop", lies{ignoresStop: true}, "stop"},
		{"it reports before it accepts", lies{outcomeFirst: true}, "delivery"},
		{"it shows a token that it was not given", lies{oldToken: true}, "session_token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := tried(t, c.lies)
			if conformance.Conforms(all) || !slices.Contains(failures(all), c.check) {
				t.Errorf("%s does not fail:\n%s", c.check, told(all))
			}
		})
	}
}

func TestNobodyComes(t *testing.T) {
	s := conformance.New(conformance.Options{Patience: 10 * time.Millisecond, Quiet: time.Millisecond})
	all := s.Run(t.Context(), nil)
	if conformance.Conforms(all) || all[0].Status != conformance.Failed || all[1].Status != conformance.Skipped {
		t.Errorf("no host at all conforms:\n%s", told(all))
	}
}

func TestAnActionThatNobodyOffers(t *testing.T) {
	h := &scripted{}
	s := conformance.New(conformance.Options{Patience: 300 * time.Millisecond, Quiet: time.Millisecond, Action: host.Action{Capability: "place_block"}})
	h.d = s.Desk
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go h.live(ctx)
	all := s.Run(t.Context(), nil)
	if got := failures(all); !slices.Equal(got, []string{"publication"}) || !strings.Contains(told(all), "no actor publishes the effect place_block") {
		t.Errorf("got %v\n%s", got, told(all))
	}
}
