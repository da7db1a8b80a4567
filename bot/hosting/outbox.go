package hosting

import (
	"context"
	"time"

	"blockworld/effects/host"
)

// pumpEvery is how often the outbox is looked at without being asked to; retryAfter spaces what was not taken.
const (
	pumpEvery  = 5 * time.Second
	retryAfter = 500 * time.Millisecond
)

// pump brings outcomes to the daemon: those of the journal's outbox and those of what has no mark. Each is told until the
// daemon takes it or says for good that it will not.
func (r *runner) pump(ctx context.Context) {
	tick := time.NewTicker(pumpEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.settled:
		}
		for ctx.Err() == nil {
			if err := r.drain(ctx); err == nil {
				break
			} else if ctx.Err() == nil {
				r.h.cfg.Log.Warn("outcomes wait", "actor", r.cfg.ID, "error", err)
				sleep(ctx, retryAfter)
			}
		}
	}
}

// drain tells everything that can be told.
func (r *runner) drain(ctx context.Context) error {
	messages, err := r.journal.Outbox()
	if err != nil {
		return err
	}
	for _, m := range messages {
		r.mu.Lock()
		j := r.jobs[m.Action]
		waits := j != nil && !j.done
		r.mu.Unlock()
		if waits { // what this process sees of it belongs into its outcome
			continue
		}
		o, err := r.outcome(m.Action, j)
		if err != nil {
			return err
		}
		if err := r.report(ctx, o); err != nil {
			return err
		}
		r.at(AfterOutcome)
		if err := r.journal.AckOutbox(m.Number); err != nil {
			return err
		}
		r.forget(m.Action, o.Status)
	}
	return r.drainLoose(ctx)
}

// drainLoose tells the outcomes of what has no mark.
func (r *runner) drainLoose(ctx context.Context) error {
	r.mu.Lock()
	var loose []host.Outcome
	for _, j := range r.jobs {
		if j.loose != nil {
			loose = append(loose, *j.loose)
		}
	}
	r.mu.Unlock()
	for _, o := range loose {
		if err := r.report(ctx, o); err != nil {
			return err
		}
		r.forget(o.Op, o.Status)
	}
	return nil
}

// forget drops what is known of an operation that has ended.
func (r *runner) forget(op host.OpID, s host.Status) {
	if s == host.Unknown {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, op)
}

// asSaid is an outcome as it was told first: what only this process saw of it, where the bot ended up, belongs to every
// repeat of it too.
func (r *runner) asSaid(o host.Outcome) host.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, again := r.said[o.Op]
	if again && old.Status == o.Status && old.Code == o.Code && old.Evidence == o.Evidence {
		return old
	}
	if !again {
		r.saidIDs = append(r.saidIDs, o.Op)
	}
	r.said[o.Op] = o
	for len(r.saidIDs) > mostPrepared {
		delete(r.said, r.saidIDs[0])
		r.saidIDs = r.saidIDs[1:]
	}
	return o
}

// report tells one outcome. A daemon that says for good that it does not take it is not asked again.
func (r *runner) report(ctx context.Context, o host.Outcome) error {
	o = r.asSaid(o)
	err := r.h.with(ctx, func(s host.Session) error { return r.h.cfg.Daemon.Outcome(ctx, s, o) })
	if err != nil && r.h.final(err) {
		r.h.cfg.Log.Warn("the daemon does not take an outcome", "operation", o.Op, "status", o.Status, "error", err)
		return nil
	}
	return err
}
