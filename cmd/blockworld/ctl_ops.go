package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
	"blockworld/sentinel"
)

// tellOperation puts an operation into words, and never says more than it is.
func tellOperation(p *printer, v *operation.View) {
	p.say("%s  %s of %s: %s", v.ID, v.Capability, v.Actor, v.State)
	p.say("  meaning   %s", v.Meaning)
	if v.Summary != "" {
		p.say("  what      %s", plain(v.Summary))
	}
	if r := v.Rejection; r != nil {
		p.say("  refused   %s", noWords(r))
	}
	if v.Run != nil && !v.Terminal {
		p.say("  running   %d %%, %s", v.Run.Percent, plain(v.Run.Note))
	}
	if v.Children > 0 {
		p.say("  children  %d (ops list --parent %s)", v.Children, v.ID)
	}
	if v.CancelRequested != "" {
		p.say("  cancel    asked for: %s", plain(v.CancelRequested))
	}
	o := v.Outcome
	if o == nil {
		return
	}
	p.say("  outcome   %s: %s", plain(or(o.Code, string(o.Status))), plain(o.Message))
	switch {
	case o.Receipt != nil:
		p.say("  receipt   %d, %s, signed by %s", o.Receipt.Number, o.Receipt.Grade, o.Receipt.Key)
	case v.MaySayDone:
		p.say("  receipts  %d: each block that its children placed has one", v.ChildrenConfirmed)
	case v.State == operation.Succeeded && v.Children > 0:
		p.say("  receipts  %d, and %d of its children may have changed the world without one: what is not proven is not done", v.ChildrenConfirmed, v.ChildrenUnproven)
	case v.Children > 0: // they have their own
	case v.State == operation.Succeeded:
		p.say("  receipt   none: signed receipts are for placed blocks; that this is done the host says, by what it saw")
	}
}

func ruleWords(rules []string) string {
	if len(rules) == 0 {
		return ""
	}
	return " (" + strings.Join(rules, ", ") + ")"
}

// stands gives what an operation has come to its exit code; one that is under way has none.
func stands(v *operation.View) error {
	end := func(code int, format string, args ...any) error { return fail(code, fmt.Errorf(format, args...)) }
	o := v.Outcome
	switch v.State {
	case operation.Rejected:
		return end(refusedFor(v.Rejection.Code), "rejected: %s", plain(v.Rejection.Code))
	case operation.OutcomeUnknown:
		return end(exitUnverified, "operation %s: the outcome is not known; it is never asked for again by itself", v.ID)
	case operation.Failed:
		if o != nil && !o.Sent && guardSaid(o.Code) {
			return end(exitDenied, "denied by the guard: %s", plain(o.Code))
		}
		return end(exitFailed, "failed: %s", plain(o.Code))
	case operation.Cancelled, operation.Interrupted, operation.Stale:
		return end(exitFailed, "%s: %s", v.State, v.Meaning)
	}
	return nil
}

// refusedFor is the exit code of a refusal: arguments that a bot does not understand are a matter of input, all else is a no.
func refusedFor(code string) int {
	if code == string(controlplane.CodeInvalid) {
		return exitUsage
	}
	return exitDenied
}

// guardSaid tells the code of a rule of the guard's from others.
func guardSaid(code string) bool {
	for _, r := range sentinel.Rules() {
		if r.ID.String() == code {
			return true
		}
	}
	return false
}

// submitFlags are the flags of what makes operations.
type submitFlags struct {
	key, lease, task string
	wait             bool
	timeout          time.Duration
}

func (k *ctl) submit() *cobra.Command {
	f := &submitFlags{}
	cmd := k.asking(&cobra.Command{Use: "submit ACTOR CAPABILITY [JSON]", Short: "submit one action",
		Long: "Submits an action as an operation. The newest observation is taken, and the lease: yours, or a new one. The same --key\n" +
			"gives the same operation, however often it is sent. JSON is an object, @FILE, or - for standard input."}, cobra.RangeArgs(2, 3),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			arguments, err := jsonArgument(k.in, args, 2)
			if err != nil {
				return err
			}
			return f.submit(ctx, p, c, args[0], host.Action{Capability: args[1], Arguments: arguments})
		})
	fl := cmd.Flags()
	fl.StringVar(&f.key, "key", "", "idempotency key; a new one by default")
	fl.StringVar(&f.lease, "lease", "", "id of the lease; yours or a new one by default")
	fl.StringVar(&f.task, "task", "", "task that it belongs to; macros need one")
	fl.BoolVar(&f.wait, "wait", false, "wait until it has ended, or its outcome cannot be known")
	fl.DurationVar(&f.timeout, "timeout", 0, "with --wait: how long at most; the end of the wait cancels nothing")
	return cmd
}

func (f *submitFlags) submit(ctx context.Context, p *printer, c *client.Client, actor string, a host.Action) error {
	r, err := f.request(actor, a)
	if err != nil {
		return err
	}
	l, err := hold(ctx, c, r.Actor, f.lease)
	if err != nil {
		return err
	}
	v, err := l.submit(ctx, r)
	if err != nil {
		l.end(nothingStored(err))
		return err
	}
	if f.wait && !v.Terminal {
		v, err = waitFor(ctx, p, c, v, f.timeout, nil)
	}
	l.end(settledView(&v))
	if wasInterrupted(ctx, err) {
		return goesOn(&v)
	}
	tellOperation(p, &v)
	l.tell(p, settledView(&v))
	if err := errors.Join(err, p.result(v)); err != nil {
		return err
	}
	return errors.Join(stands(&v), stillOpen(&v, f.wait))
}

// goesOn is how a command ends that was interrupted while its operation was under way.
func goesOn(v *operation.View) error {
	return &interrupted{fmt.Sprintf("the daemon goes on with it until the lease runs out: wait with `blockworld ctl wait %s`, end it with `blockworld ctl cancel %s`", v.ID, v.ID)}
}

// stillOpen says of an operation that was waited for, and has not ended, that it has not.
func stillOpen(v *operation.View, waited bool) error {
	if !waited || settledView(v) {
		return nil
	}
	return fail(exitFailed, fmt.Errorf("it is %s still; `blockworld ctl wait %s` waits on", v.State, v.ID))
}

// nothingStored tells a refusal of the daemon's from an answer that was lost: behind that there may be an operation.
func nothingStored(err error) bool {
	var e *controlplane.Error
	return errors.As(err, &e) && e.Code != controlplane.CodeTimeout && e.Code != controlplane.CodeInternal
}

// request makes a request of the flags.
func (f *submitFlags) request(actor string, a host.Action) (controlplane.SubmitRequest, error) {
	n, err := name("actor", actor)
	if err != nil {
		return controlplane.SubmitRequest{}, err
	}
	if f.key == "" {
		f.key = newKey()
	}
	return controlplane.SubmitRequest{Actor: n, Key: f.key, Task: host.Name(f.task), Action: a}, nil
}

// newKey draws an idempotency key.
func newKey() string {
	var b [12]byte
	rand.Read(b[:])
	return "ctl-" + hex.EncodeToString(b[:])
}

// settledView tells whether waiting longer is of no use: it has ended, or nobody can say how.
func settledView(v *operation.View) bool { return v.Terminal || v.ReconciliationPending }

// waitFor waits until an operation has ended, or its outcome cannot be known, or the time is over. Each change is shown.
func waitFor(ctx context.Context, p *printer, c *client.Client, v operation.View, most time.Duration, show func(*operation.View)) (operation.View, error) {
	began, cursor, asked := time.Now(), "", false
	heard := began
	for !settledView(&v) {
		ms := int64(controlplane.MaxWaitMS)
		if most > 0 {
			if ms = min(ms, (most - time.Since(began)).Milliseconds()); ms <= 0 {
				return v, nil
			}
		}
		got, err := c.Wait(ctx, controlplane.WaitRequest{Op: v.ID, Cursor: cursor, TimeoutMS: ms})
		switch {
		case isAway(err) && time.Since(heard) < backWithin && ctx.Err() == nil:
			p.say("the daemon is away; what it has stored goes on when it is back")
			if err := nap(ctx, backEvery); err != nil {
				return v, err
			}
			continue
		case err != nil:
			return v, err
		}
		cursor, heard = got.Cursor, time.Now()
		if got.Operation == nil {
			continue
		}
		v = *got.Operation
		if v.State == operation.AwaitingConfirmation && !asked {
			asked = true
			p.say("%s awaits confirmation: %s (blockworld ctl confirm %s)", v.ID, plain(v.Summary), v.ID)
		}
		if show != nil {
			show(&v)
		}
	}
	return v, nil
}

// How long, and how often, a daemon that is away is asked for again.
const (
	backWithin = time.Minute
	backEvery  = 2 * time.Second
)

// isAway tells an error of a daemon that is stopped, starting, or cannot be reached.
func isAway(err error) bool {
	code := controlplane.CodeOf(err)
	return errors.Is(err, client.ErrUnreachable) || code == controlplane.CodeUnavailable || code == controlplane.CodeTimeout
}

// nap waits, unless ctx ends first.
func nap(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *ctl) wait() *cobra.Command {
	var timeout time.Duration
	cmd := k.asking(&cobra.Command{Use: "wait OPERATION", Short: "wait until an operation has ended, or its outcome cannot be known"}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			id, err := opID(args[0])
			if err != nil {
				return err
			}
			v, err := c.Operation(ctx, id)
			if err == nil {
				v, err = waitFor(ctx, p, c, v, timeout, nil)
			}
			if err != nil {
				return err
			}
			tellOperation(p, &v)
			if err := p.result(v); err != nil {
				return err
			}
			return errors.Join(stands(&v), stillOpen(&v, true))
		})
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long at most; the end of the wait cancels nothing")
	return cmd
}

func (k *ctl) ops() *cobra.Command {
	cmd := group(&cobra.Command{Use: "ops", Short: "operations: list, show"})
	cmd.AddCommand(k.opsList(), k.asking(&cobra.Command{Use: "show OPERATION", Short: "what is known of an operation"}, cobra.ExactArgs(1),
		opErrand(func(ctx context.Context, c *client.Client, id host.OpID) (operation.View, error) {
			return c.Operation(ctx, id)
		})))
	return cmd
}

// opErrand does something with one operation and tells what it is then.
func opErrand(ask func(context.Context, *client.Client, host.OpID) (operation.View, error)) errand {
	return func(ctx context.Context, p *printer, c *client.Client, args []string) error {
		id, err := opID(args[0])
		if err != nil {
			return err
		}
		v, err := ask(ctx, c, id)
		if err != nil {
			return err
		}
		tellOperation(p, &v)
		return p.result(v)
	}
}

// stateNames lists the states of operations.
func stateNames() string {
	var names []string
	for _, s := range operation.States() {
		names = append(names, s.String())
	}
	return strings.Join(names, ", ")
}

func (k *ctl) opsList() *cobra.Command {
	var actor, task, parent, state string
	var limit int
	cmd := k.asking(&cobra.Command{Use: "list", Short: "operations, newest first"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			f := controlplane.Filter{Actor: host.Name(actor), Task: host.Name(task), Limit: min(limit, controlplane.MaxList)}
			var err error
			if parent != "" {
				if f.Parent, err = opID(parent); err != nil {
					return err
				}
			}
			if state != "" {
				if f.State, err = operation.ParseState(state); err != nil {
					return fail(exitUsage, fmt.Errorf("--state %q is none of %s", state, stateNames()))
				}
			}
			all := []operation.View{}
			for len(all) < limit {
				page, err := c.Operations(ctx, f)
				if err != nil {
					return err
				}
				all = append(all, page.Operations...)
				if f.After = page.Next; f.After == "" {
					break
				}
			}
			for _, v := range all[:min(len(all), limit)] {
				p.say("%s  %-22s %-18s %-16s %s", v.ID, v.State, v.Actor, v.Capability, plain(v.Summary))
				if v.Rejection != nil {
					p.say("    %s: %s", v.Rejection.Code, plain(v.Rejection.Message))
				}
			}
			if len(all) == 0 {
				p.say("no such operations")
			}
			return p.result(map[string]any{"operations": all[:min(len(all), limit)]})
		})
	fl := cmd.Flags()
	fl.StringVar(&actor, "actor", "", "only this actor's")
	fl.StringVar(&task, "task", "", "only of this task")
	fl.StringVar(&parent, "parent", "", "only children of this macro")
	fl.StringVar(&state, "state", "", "only in this state, such as awaiting_confirmation")
	fl.IntVar(&limit, "limit", 50, "how many")
	return cmd
}

func (k *ctl) cancel() *cobra.Command {
	var why string
	cmd := k.asking(&cobra.Command{Use: "cancel OPERATION", Short: "ask for the end of an operation; nothing is undone"}, cobra.ExactArgs(1),
		opErrand(func(ctx context.Context, c *client.Client, id host.OpID) (operation.View, error) {
			return c.Cancel(ctx, id, why)
		}))
	cmd.Flags().StringVar(&why, "why", "no longer wanted", "for the record")
	return cmd
}

func (k *ctl) accept() *cobra.Command {
	return k.asking(&cobra.Command{Use: "accept OPERATION", Short: "close an unknown outcome as what it is: unverified, which is no success"}, cobra.ExactArgs(1),
		opErrand(func(ctx context.Context, c *client.Client, id host.OpID) (operation.View, error) {
			return c.AcceptUnverified(ctx, id)
		}))
}
