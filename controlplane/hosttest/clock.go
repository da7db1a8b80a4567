package hosttest

import (
	"sync"
	"time"
)

// Clock is time that moves only when it is told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts a clock at a fixed moment.
func NewClock() *Clock { return &Clock{now: time.UnixMilli(1_700_000_000_000).UTC()} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves it.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
