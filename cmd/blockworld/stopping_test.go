package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestStopping(t *testing.T) {
	waits := func() string { return "one bot ends" }
	stop := func(patience time.Duration, work func(context.Context) error) (string, error) {
		var out lockedBuffer
		p := &printer{g: &globals{}, out: &out, errs: &out}
		ctx, cancel := context.WithCancel(t.Context())
		began := make(chan struct{})
		go func() {
			<-began
			cancel()
		}()
		err := untilStopped(ctx, p, patience, waits, func(ctx context.Context) error {
			close(began)
			return work(ctx)
		})
		return out.String(), err
	}
	t.Run("it says what it waits for, and when that is over", func(t *testing.T) {
		said, err := stop(time.Minute, func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
		if err != nil || !strings.Contains(said, "stopping: one bot ends") || !strings.HasSuffix(said, "stopped\n") {
			t.Errorf("%q, %v", said, err)
		}
	})
	t.Run("it does not wait for ever", func(t *testing.T) {
		over := make(chan struct{})
		defer close(over)
		said, err := stop(time.Millisecond, func(context.Context) error {
			<-over
			return nil
		})
		if codeOf(err, 0) != exitFailed || strings.Contains(said, "stopped") {
			t.Errorf("%q, %v", said, err)
		}
	})
	t.Run("what fails by itself is not stopped", func(t *testing.T) {
		var out lockedBuffer
		failed := errors.New("failed")
		err := untilStopped(t.Context(), &printer{g: &globals{}, out: &out, errs: &out}, time.Minute, waits, func(context.Context) error { return failed })
		if !errors.Is(err, failed) || out.String() != "" {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
}

func TestServeSaysThatItStops(t *testing.T) {
	st := set(t, trialPolicy).serve()
	if o := st.stop(); o.code != exitDone || !strings.Contains(o.errs, "stopping: ") || !strings.Contains(o.errs, "1 bot") || !strings.Contains(o.errs, "stopped") {
		t.Errorf("%d: %s", o.code, o.errs)
	}
}
