package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/bot/hosting"
	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
)

// controlFile is the control plane's store in a data folder.
const controlFile = "control.db"

// Names in the control plane of a lone build.
const (
	lonePrincipal host.Name = "local" // whoever runs the program
	loneHost      host.Name = "build" // the program itself
	lonePlot      host.Name = "site"  // the mission's build box
)

// The lease of a lone build: long, so that a computer that slept a while goes on, and renewed well before its end.
const (
	loneLease = controlplane.MaxLeaseMS * time.Millisecond
	loneRenew = loneLease / 6
)

// lone is the control plane of one build, in this process: nothing of the mission happens but as an operation of its
// gateway. Its store is DATA/control.db, beside the journal.
type lone struct {
	who     controlplane.Principal
	actor   host.Name
	task    host.Name
	journal *journal.Journal
	store   store.Engine
	gateway *controlplane.Gateway
	host    *hosting.Host
	site    *builder.Site
	earlier bool // what an earlier process left has been waited for
	stop    func()
	over    sync.WaitGroup

	mu  sync.Mutex
	ops []host.OpID // submitted by this process
	end string      // why they are to end; empty: they are not
}

// loneActor is the account as an actor.
func loneActor(username string) host.Name { return host.Name("local/" + strings.ToLower(username)) }

// openLone opens the control plane of a site that is open, and takes the lease of its bot. With clear a stop is lifted.
func openLone(ctx context.Context, p *printer, data string, o bot.Options, site *builder.Site, file *missionFile, clear bool) (l *lone, err error) {
	l = &lone{actor: loneActor(o.Username), task: host.Name("mission-" + site.Record.ID.String()), journal: site.Journal, site: site}
	l.who = controlplane.Principal{ID: lonePrincipal, Scopes: controlplane.Scopes(allScopes()...), Actors: []string{string(l.actor)}}
	rules, err := policy.Compile(policy.Config{Profile: policy.Open, Plots: []policy.Plot{{ID: lonePlot, World: site.Record.Dimension, Owner: lonePrincipal}}})
	if err != nil {
		return nil, fail(exitFailed, err)
	}
	if l.store, err = store.Open(filepath.Join(data, controlFile), store.Options{}); err != nil {
		return nil, storeFailed(err, data)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
			l = nil
		}
	}()
	if err = l.pruned(); err != nil {
		return l, storeFailed(err, data)
	}
	l.gateway, err = controlplane.New(controlplane.Options{
		Engine: l.store, Policy: rules, Owners: map[host.Name]host.Name{l.actor: lonePrincipal}, Now: time.Now, Rand: rand.Reader,
		At: crashAt[controlplane.Point](os.Getenv, "daemon"), Log: p.logger("gateway"),
	})
	if err != nil {
		return l, loneFailed(err)
	}
	if err = l.permitted(ctx, clear); err != nil {
		return l, err
	}
	l.host, err = hosting.New(hosting.Config{
		Name: loneHost, Daemon: l.gateway.Host(), Log: p.logger("host"), Now: time.Now, Rand: rand.Reader, CodeOf: loneCode,
		Actors: []hosting.ActorConfig{{
			ID: l.actor, Options: o, Profile: file.Profile, Policy: sentinel.CapabilitySet(effects.PlaceBlock, effects.MoveTo, effects.Equip),
			Plots:    []hosting.Plot{{ID: lonePlot, Dimension: site.Record.Dimension, Boxes: site.Record.Plot, Ownership: "own"}},
			At:       crashAt[journal.Point](os.Getenv, "host"),
			Prepared: &hosting.Prepared{Site: site, Plan: file.Plan, Submit: l.submit},
		}},
	})
	if err != nil {
		return l, fail(exitFailed, err)
	}
	l.run()
	return l, nil
}

// run starts what goes on beside the work: the gateway's clock, the host, the lease.
func (l *lone) run() {
	ctx, stop := context.WithCancel(context.Background()) // what was begun is told even if the work was interrupted
	l.stop = stop
	l.over.Go(func() { l.gateway.Run(ctx) })
	l.over.Go(func() { l.host.Run(ctx) })
	l.over.Go(func() {
		tick := time.NewTicker(loneRenew)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// A lease that was lost is acquired anew with the next operation.
				_, _ = l.gateway.Acquire(ctx, l.who, l.actor, loneLease)
			}
		}
	})
}

// work carries the mission out. When ctx ends the operations are asked to end too.
func (l *lone) work(ctx context.Context, join builder.Joiner, retry builder.Retry) (builder.Result, error) {
	cancelled := context.AfterFunc(ctx, func() { l.cancel("the program was stopped") })
	res, err := l.host.Work(ctx, l.actor, join, retry)
	cancelled()
	if cerr := l.closed(context.WithoutCancel(ctx)); cerr != nil && err == nil {
		err = cerr
	}
	return res, loneFailed(err)
}

// submit brings an operation of the mission to the gateway and waits until the host has it.
func (l *lone) submit(ctx context.Context, o hosting.Order) error {
	if err := l.settled(ctx); err != nil {
		return err
	}
	lease, err := l.gateway.Acquire(ctx, l.who, o.Actor, loneLease)
	if err != nil {
		return err
	}
	id, err := effects.NewActionID(rand.Reader) // a key of its own: every operation is another one
	if err != nil {
		return err
	}
	v, err := l.gateway.Submit(ctx, l.who, controlplane.SubmitRequest{
		Actor: o.Actor, Lease: lease.ID, Key: "build-" + id.String(), Epoch: o.Epoch, Sequence: o.Sequence, Action: o.Action, Task: l.task,
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.ops = append(l.ops, v.ID)
	end := l.end
	l.mu.Unlock()
	if end != "" {
		l.cancel(end)
	}
	return l.accepted(ctx, v)
}

// accepted waits until an operation is under way, or is not going to be.
func (l *lone) accepted(ctx context.Context, v operation.View) error {
	for cursor := ""; ; {
		switch v.State {
		case operation.Queued, operation.Delivered:
		case operation.Accepted, operation.Running, operation.Succeeded:
			return nil
		case operation.Stale, operation.Interrupted:
			return controlplane.Errorf(controlplane.CodeStale, "operation %s went stale before it was begun", v.ID)
		default:
			if v.Rejection == nil {
				return controlplane.Errorf(controlplane.CodeDenied, "operation %s is %s: %s", v.ID, v.State, v.Meaning)
			}
			return &rejected{v.Rejection.Code, v.Rejection.Message}
		}
		r, err := l.gateway.Wait(ctx, l.who, controlplane.WaitRequest{Op: v.ID, Cursor: cursor, TimeoutMS: controlplane.MaxWaitMS})
		if err != nil {
			return err
		}
		v, cursor = *r.Operation, r.Cursor
	}
}

// rejected is the control plane's or the host's no to the mission's operation.
type rejected struct{ code, message string }

func (e *rejected) Error() string {
	return fmt.Sprintf("the control plane does not allow it (%s): %s", e.code, e.message)
}

// cancel asks for the end of the mission's operations; what was sent gets its verdict all the same.
func (l *lone) cancel(why string) {
	l.mu.Lock()
	l.end = why
	ops := append([]host.OpID(nil), l.ops...)
	l.mu.Unlock()
	for _, op := range ops {
		_, _ = l.gateway.Cancel(context.Background(), l.who, op, why) // one that has ended is no matter
	}
}

// decidedAbout tells whether nobody waits for the proof of an action any more: its owner has decided about the step, or it is
// a walk or a slot change that a cut left unverified, and the mission has gone on from what the bot saw after it.
func decidedAbout(a *journal.Action) bool {
	switch a.Status {
	case journal.StatusPresent, journal.StatusAccepted, journal.StatusReleased:
		return true
	}
	return !a.Places && a.Status == journal.StatusUnverified
}

// closed closes the operations that nobody waits for any more, without a proof.
func (l *lone) closed(ctx context.Context) error {
	if l.gateway.Stats().Open[operation.OutcomeUnknown] == 0 {
		return nil
	}
	f := controlplane.Filter{Actor: l.actor, State: operation.OutcomeUnknown, Limit: controlplane.MaxList}
	for {
		page, err := l.gateway.Operations(ctx, l.who, f)
		if err != nil {
			return err
		}
		for _, v := range page.Operations {
			a, err := l.journal.Action(v.ID)
			if v.Terminal || err != nil || !decidedAbout(&a) {
				continue
			}
			if _, err := l.gateway.AcceptUnverified(ctx, l.who, v.ID); err != nil {
				return err
			}
		}
		if f.After = page.Next; f.After == "" {
			return nil
		}
	}
}

// close ends everything, in the order in which it leans on each other. The journal is its opener's.
func (l *lone) close() error {
	if l.stop != nil {
		l.stop()
		l.over.Wait()
	}
	var all error
	if l.gateway != nil {
		if lease, err := l.gateway.LeaseOf(context.Background(), l.who, l.actor); err == nil && lease.ID != "" {
			_ = l.gateway.Release(context.Background(), l.who, l.actor, lease.ID) // else it runs out
		}
		all = errors.Join(all, l.gateway.Close())
	}
	return errors.Join(all, l.store.Close())
}

// loneCode is daemonCode, and the code of a rejected operation.
func loneCode(err error) string {
	var no *rejected
	if errors.As(err, &no) {
		return no.code
	}
	return daemonCode(err)
}

// loneFailed gives a refusal of the control plane its exit code.
func loneFailed(err error) error {
	var no *rejected
	switch code := controlplane.Code(daemonCode(err)); {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case code == controlplane.CodeStopped, code == controlplane.CodeDenied, code == controlplane.CodeBudgetExceeded, errors.As(err, &no), errors.Is(err, hosting.ErrStopped):
		return fail(exitDenied, err)
	case code == controlplane.CodeDiskFull:
		return fail(exitFailed, fmt.Errorf("%w; the journal keeps what was done: make room, then go on with --resume", err))
	case code != "":
		return fail(exitFailed, err)
	}
	return err
}
