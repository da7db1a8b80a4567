package main

import (
	"context"
	"fmt"
	"time"
)

// stopTime is how long a service has to end in good order after it was told to stop.
const stopTime = 20 * time.Second

// untilStopped works until work returns. When ctx ends first it says what is waited for, and waits no longer than patience:
// what has not ended then is left as a kill would leave it, which the next start is made for.
func untilStopped(ctx context.Context, p *printer, patience time.Duration, waitsFor func() string, work func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	p.say("stopping: %s; Ctrl-C again ends at once, and loses nothing either", waitsFor())
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case err := <-done:
		if err == nil {
			p.say("stopped")
		}
		return err
	case <-limit.C:
		return fail(exitFailed, fmt.Errorf("not everything has ended within %v: what is left is judged at the next start", patience))
	}
}

// several counts things in words.
func several(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
