package builder

import (
	"context"
	"errors"
	"time"

	"blockworld/bot"
	"blockworld/bot/login"
	"blockworld/effects/mission"
)

// Result is how the work ended.
type Result struct {
	Done    bool            // every step done, and an inspection after a fresh join found every cell as planned
	Waiting mission.Waiting // what the mission waits for, if it is not done
	Step    int             // the step that is about, -1 for none
	Stuck   string          // why a place that must be seen cannot be reached
	Short   []mission.Shortage
	Summary mission.Summary
	Quit    bool // Site.Quit was called and everything sent has its verdict

	rejoin bool
}

// Joiner makes a session; bot.Join with the caller's options. The site's Entering and Entered must be among them (see
// Hook).
type Joiner func(ctx context.Context) (*bot.Bot, error)

// Hook puts the site's part into the options of a session.
func (s *Site) Hook(o *bot.Options) {
	o.Entering = s.Entering
	o.Entered = func(id bot.Identity) error { return s.Entered(id.String()) }
}

// Retry says how reconnects are spaced.
type Retry struct {
	Backoff bot.Backoff
	Sleep   func(ctx context.Context, d time.Duration) error // nil: a timer
	Unit    func() float64                                   // random in [0,1); nil: always 0
}

// Work joins and builds until the mission is done, waits for its owner, or ctx ends. When the server is away it comes
// back by itself, as Retry says. Errors are those that coming back does not mend, ctx's among them.
func (s *Site) Work(ctx context.Context, join Joiner, retry Retry) (Result, error) {
	if retry.Sleep == nil {
		retry.Sleep = sleep
	}
	if retry.Unit == nil {
		retry.Unit = func() float64 { return 0 }
	}
	s.Team.enters(s.Self)
	defer s.Team.leaves(s.Self)
	for {
		if s.quits.Load() {
			return Result{Quit: true, Step: -1, Summary: s.mission.Summary()}, nil
		}
		began := time.Now()
		r, err := s.session(ctx, join)
		switch {
		case ctx.Err() != nil:
			return Result{Waiting: mission.WaitServerAway, Step: -1, Summary: s.mission.Summary()}, ctx.Err()
		case err == nil && !r.rejoin:
			return r, nil
		case err == nil:
			continue // the mission itself asked for a fresh join
		case !passing(err):
			return Result{Step: -1, Summary: s.mission.Summary()}, err
		}
		away := mission.WaitServerAway
		if errors.Is(err, login.ErrKicked) {
			away = mission.WaitKicked
		}
		s.Report(Waiting{For: away, Step: -1})
		s.Report(Rejoining{err.Error()})
		wait, more := retry.Backoff.Next(time.Since(began), retry.Unit())
		if !more {
			return Result{Waiting: away, Step: -1, Summary: s.mission.Summary()}, err
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return Result{Waiting: away, Step: -1, Summary: s.mission.Summary()}, err
		}
	}
}

// session joins once and works until that session ends.
func (s *Site) session(ctx context.Context, join Joiner) (Result, error) {
	s.mission.Joining(s.Self)
	b, err := join(ctx)
	if err != nil {
		s.mission.Left(s.Self, mission.AwayServer)
		return Result{}, err
	}
	defer b.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := newWorker(s, b, cancel)
	s.current.Store(w)
	b.Listen(w)
	err = b.Run(ctx)
	s.current.Store(nil)
	w.dropAll("the session ended")
	away := mission.AwayServer
	if errors.Is(err, login.ErrKicked) {
		away = mission.AwayKicked
	}
	s.mission.Left(s.Self, away)
	if w.phase == over {
		return w.result, w.err
	}
	return Result{}, err
}

// passing says whether an error may be gone when the bot comes back: the server stopped, the network broke, a kick.
func passing(err error) bool {
	return errors.Is(err, bot.ErrConnection) || errors.Is(err, login.ErrTimeout) || errors.Is(err, login.ErrKicked)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
