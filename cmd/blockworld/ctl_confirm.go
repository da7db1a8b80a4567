package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

func (k *ctl) confirm() *cobra.Command {
	var approve, deny bool
	cmd := k.asking(&cobra.Command{Use: "confirm OPERATION", Short: "look at what awaits confirmation, and approve or refuse it (asks; or --approve, --deny)",
		Long: "Shows what would be done and asks on a terminal; elsewhere --approve or --deny says it. What was shown is what is\n" +
			"approved: if the operation has changed since, the approval is refused."}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			id, err := opID(args[0])
			if err != nil {
				return err
			}
			return k.answer(ctx, p, c, id, approve, deny)
		})
	cmd.Flags().BoolVar(&approve, "approve", false, "say yes without being asked")
	cmd.Flags().BoolVar(&deny, "deny", false, "say no without being asked")
	cmd.MarkFlagsMutuallyExclusive("approve", "deny")
	return cmd
}

// answer shows a waiting operation and answers its challenge.
func (k *ctl) answer(ctx context.Context, p *printer, c *client.Client, id host.OpID, approve, deny bool) error {
	v, err := c.Operation(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case v.State != operation.AwaitingConfirmation:
		tellOperation(p, &v)
		return errors.Join(p.result(v), fail(exitFailed, fmt.Errorf("operation %s awaits no confirmation: it is %s", id, v.State)))
	case v.Challenge == nil:
		return mayNotConfirm(ctx, c, &v)
	}
	tellEffects(p, &v)
	if !approve && !deny {
		if approve, err = askPerson(p, k.in); err != nil {
			return err
		}
	}
	v, err = c.Confirm(ctx, controlplane.ConfirmRequest{Op: id, Challenge: v.Challenge.ID, Digest: v.Challenge.Digest, Approve: approve})
	if err != nil {
		return err
	}
	tellOperation(p, &v)
	if err := p.result(v); err != nil || !approve {
		return err
	}
	return stands(&v)
}

// mayNotConfirm says why a waiting operation shows this caller no challenge.
func mayNotConfirm(ctx context.Context, c *client.Client, v *operation.View) error {
	me, err := c.Me(ctx)
	switch {
	case err != nil:
		return err
	case slices.Contains(me.Scopes, controlplane.ScopeConfirm):
		return fail(exitFailed, fmt.Errorf("%s is away, so nothing can be confirmed for it: confirm when `blockworld ctl actors` shows it as ready", v.Actor))
	}
	return fail(exitDenied, fmt.Errorf("this token may not confirm: it speaks for %s and lacks the scope confirm; %s",
		me.Principal, controlplane.HowToGet(controlplane.ScopeConfirm)))
}

// tellEffects lists what an approver approves.
func tellEffects(p *printer, v *operation.View) {
	p.say("%s asks %s for %s: %s", v.Principal, v.Actor, v.Capability, plain(v.Summary))
	for _, e := range v.Preview {
		line := fmt.Sprintf("%s (%s) on %s, risk %s, whose: %s, quantity %d", e.Kind, e.Operation, or(string(e.Scope), "no plot"), e.Risk, e.Ownership, e.Quantity)
		if !e.Reversible {
			line += ", not reversible"
		}
		if e.Pos != nil {
			line += fmt.Sprintf(", at %d,%d,%d", e.Pos[0], e.Pos[1], e.Pos[2])
		}
		if what := or(e.Block, e.Item); what != "" {
			line += ", " + plain(what)
		}
		if e.Text != "" {
			line += fmt.Sprintf(", %q", e.Text)
		}
		p.say("  %s", line)
	}
	p.say("  effect digest %s, until game tick %d", v.Challenge.Digest, v.Challenge.Expires)
}

// askPerson asks for yes or no on a terminal.
func askPerson(p *printer, in any) (bool, error) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false, fail(exitUsage, errors.New("nobody can be asked here: say --approve or --deny"))
	}
	fmt.Fprint(p.errs, "approve this? [y/N] ")
	var word string
	fmt.Fscanln(f, &word)
	word = strings.ToLower(word)
	return word == "y" || word == "yes", nil
}
