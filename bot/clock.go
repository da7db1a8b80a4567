package bot

import (
	"sync"
	"time"
)

// Clock is time as a bot sees it. The zero Options use the real one; tests pass Stepped.
type Clock interface {
	Now() time.Time
	// Timer fires once after d on its channel. Stop releases it; a stopped timer never fires afterwards.
	Timer(d time.Duration) Timer
}

// Timer is one pending wake-up of a Clock.
type Timer interface {
	C() <-chan time.Time
	Stop()
}

// RealClock is the machine's clock.
type RealClock struct{}

// Now is time.Now.
func (RealClock) Now() time.Time { return time.Now() }

// Timer is time.NewTimer.
func (RealClock) Timer(d time.Duration) Timer { return realTimer{time.NewTimer(d)} }

type realTimer struct{ t *time.Timer }

func (r realTimer) C() <-chan time.Time { return r.t.C }
func (r realTimer) Stop()               { r.t.Stop() }

// Stepped is a clock that moves only when Advance is called. Advance hands each wake-up over synchronously: it returns
// after the receivers have taken the wake-ups that came due, so what they do next comes before what the caller does
// through Bot.Do afterwards.
type Stepped struct {
	mu     sync.Mutex
	now    time.Time
	made   uint64 // timers so far: those due at the same moment fire in the order in which they were made
	timers map[*steppedTimer]struct{}
}

// NewStepped starts a stepped clock at a time.
func NewStepped(start time.Time) *Stepped {
	return &Stepped{now: start, timers: make(map[*steppedTimer]struct{})}
}

// Now is the time reached so far.
func (s *Stepped) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Timer registers a wake-up d from now. One that is already due fires at the next Advance.
func (s *Stepped) Timer(d time.Duration) Timer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	t := &steppedTimer{clock: s, number: s.made, at: s.now.Add(d), c: make(chan time.Time), gone: make(chan struct{})}
	s.timers[t] = struct{}{}
	return t
}

// Advance moves time forward by d, firing what comes due in its order of time.
func (s *Stepped) Advance(d time.Duration) {
	s.mu.Lock()
	end := s.now.Add(d)
	s.mu.Unlock()
	for {
		t, at := s.next(end)
		if t == nil {
			return
		}
		select {
		case t.c <- at:
		case <-t.gone:
		}
	}
}

// next takes the earliest timer due by end, or moves the clock to end.
func (s *Stepped) next(end time.Time) (*steppedTimer, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first *steppedTimer
	for t := range s.timers {
		if !t.at.After(end) && (first == nil || t.before(first)) {
			first = t
		}
	}
	if first == nil {
		s.now = end
		return nil, end
	}
	delete(s.timers, first)
	if first.at.After(s.now) {
		s.now = first.at
	}
	return first, s.now
}

type steppedTimer struct {
	clock  *Stepped
	number uint64
	at     time.Time
	c      chan time.Time
	gone   chan struct{}
	once   sync.Once
}

func (t *steppedTimer) before(o *steppedTimer) bool {
	return t.at.Before(o.at) || t.at.Equal(o.at) && t.number < o.number
}

func (t *steppedTimer) C() <-chan time.Time { return t.c }

func (t *steppedTimer) Stop() {
	t.clock.mu.Lock()
	delete(t.clock.timers, t)
	t.clock.mu.Unlock()
	t.once.Do(func() { close(t.gone) })
}
