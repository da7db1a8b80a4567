package hosting

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel/journal"
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
				if code := r.h.code(err); code == "disk_full" || code == "read_only" {
					r.broken(err) // a prepared build has nobody else who could make room
				}
				sleep(ctx, retryAfter)
			}
		}
	}
}

// mostTold is how many outcomes are told at once: a daemon puts what comes together to disk together.
const mostTold = 16

// drain tells everything that can be told.
func (r *runner) drain(ctx context.Context) error {
	if !r.pumps(ctx) {
		return ctx.Err()
	}
	defer r.pumped()
	messages, err := r.journal.Outbox()
	if err != nil {
		return err
	}
	var told []uint64
	var failed error
	for _, part := range r.tellable(messages) {
		numbers, err := r.tellAll(ctx, part)
		told = append(told, numbers...)
		failed = errors.Join(failed, err)
	}
	if len(told) > 0 {
		failed = errors.Join(failed, r.acknowledge(told))
	}
	return errors.Join(failed, r.drainLoose(ctx))
}

// pumps waits for the right to tell outcomes; pumped gives it back.
func (r *runner) pumps(ctx context.Context) bool {
	select {
	case r.pumping <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *runner) pumped() { <-r.pumping }

// tellable leaves out what is not done with, and gives the rest in parts in which no action comes twice.
func (r *runner) tellable(messages []journal.Message) (parts [][]journal.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var part []journal.Message
	in := map[effects.ActionID]bool{}
	for _, m := range messages {
		if j := r.jobs[m.Action]; j != nil && !j.done || r.acked[m.Number] { // what this process sees of it belongs into its outcome
			continue
		}
		if in[m.Action] || len(part) == mostTold {
			parts, part = append(parts, part), nil
			clear(in)
		}
		in[m.Action] = true
		part = append(part, m)
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// tellAll tells the outcomes of some actions side by side, and returns the messages of those that were taken.
func (r *runner) tellAll(ctx context.Context, part []journal.Message) (told []uint64, failed error) {
	errs := make([]error, len(part))
	var all sync.WaitGroup
	for i, m := range part {
		all.Go(func() { errs[i] = r.tellOne(ctx, m) })
	}
	all.Wait()
	for i, m := range part {
		if errs[i] == nil {
			told = append(told, m.Number)
		}
	}
	return told, errors.Join(errs...)
}

func (r *runner) tellOne(ctx context.Context, m journal.Message) error {
	r.mu.Lock()
	j := r.jobs[m.Action]
	r.mu.Unlock()
	o, err := r.outcome(m.Action, j)
	if err != nil {
		return err
	}
	if err := r.report(ctx, o); err != nil {
		return err
	}
	r.at(AfterOutcome)
	r.forget(m.Action, o.Status)
	return nil
}

// mostAcked is how many messages of a prepared build may be told and still be in its outbox: its journal has marks and
// receipts to store meanwhile. A message that is told again changes nothing.
const mostAcked = 64

// acknowledge takes messages out of the outbox.
func (r *runner) acknowledge(told []uint64) error {
	if r.desk == nil {
		return r.journal.AckOutbox(told...)
	}
	for _, n := range told {
		r.acked[n] = true
	}
	if len(r.acked) < mostAcked {
		return nil
	}
	return r.emptied()
}

// emptied takes out of the outbox what was told.
func (r *runner) emptied() error {
	if len(r.acked) == 0 {
		return nil
	}
	if err := r.journal.AckOutbox(slices.Collect(maps.Keys(r.acked))...); err != nil {
		return err
	}
	clear(r.acked)
	return nil
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
	if r.desk != nil {
		r.desk.ended(op)
	}
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
