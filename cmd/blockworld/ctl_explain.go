package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/policy"
	"blockworld/effects/host"
)

func (k *ctl) explain() *cobra.Command {
	f := &submitFlags{}
	cmd := k.asking(&cobra.Command{Use: "explain ACTOR CAPABILITY [JSON]", Short: "a dry run: what an action would do, and what policy says to it, rule by rule",
		Long: "Asks the bot what an action would do, and policy what it says to that. A star marks what has a say; of the rest the line\n" +
			"says why it has none. Nothing is stored and nothing done; it needs no lease, so it works while\n" +
			"somebody else drives the bot."}, cobra.RangeArgs(2, 3),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			arguments, err := jsonArgument(k.in, args, 2)
			if err != nil {
				return err
			}
			r, err := f.request(args[0], host.Action{Capability: args[1], Arguments: arguments})
			if err != nil {
				return err
			}
			a, err := c.Observe(ctx, r.Actor)
			if err != nil {
				return err
			}
			r.Epoch, r.Sequence = a.Epoch, a.Sequence
			e, err := c.Explain(ctx, r)
			if err != nil {
				return err
			}
			return tellExplanation(p, &e)
		})
	cmd.Flags().StringVar(&f.task, "task", "", "task that it would belong to")
	return cmd
}

func tellExplanation(p *printer, e *controlplane.Explanation) error {
	if e.Bound == nil {
		p.say("the bot refuses: %s: %s", plain(e.Refusal.Code), plain(e.Refusal.Message))
		p.say("%s", e.Note)
		return errors.Join(p.result(e), fail(refusedFor(e.Refusal.Code), fmt.Errorf("the bot refuses: %s", plain(e.Refusal.Code))))
	}
	p.say("what      %s", plain(e.Bound.Summary))
	fine := 0
	for i := range e.Lines {
		if l := &e.Lines[i]; l.Part == policy.PartKernel && !l.Matched {
			fine++
		}
	}
	p.say("  always   %s", kernelWords(fine, e.Lines))
	for i := range e.Lines {
		tellLine(p, &e.Lines[i])
	}
	p.say("decision  %s: %s: %s", e.Decision.Result, e.Decision.Code, plain(e.Decision.Reason))
	if err := p.result(e); err != nil {
		return err
	}
	if e.Decision.Result == policy.Deny {
		return fail(exitDenied, fmt.Errorf("it would be denied: %s", e.Decision.Code))
	}
	return nil
}

// kernelWords sums up the checks that no profile and no rule can set aside.
func kernelWords(fine int, lines []policy.Line) string {
	all := 0
	for i := range lines {
		if lines[i].Part == policy.PartKernel {
			all++
		}
	}
	if fine == all {
		return fmt.Sprintf("%d checks that no rule can set aside (code, files, secrets, borrowed authority, unknown places, ...): none objects", all)
	}
	return fmt.Sprintf("of %d checks that no rule can set aside, %d object:", all, all-fine)
}

// tellLine is one line of an explanation. What has a say is marked; of what has none the line says why.
func tellLine(p *printer, l *policy.Line) {
	said := l.Result.String()
	switch {
	case l.Part == policy.PartDecision, l.Part == policy.PartKernel && !l.Matched:
		return // told as a whole
	case !l.Matched && l.Part != policy.PartRule:
		said = "-"
	}
	mark, missed := "*", ""
	if !l.Matched {
		mark = " "
		if l.Part != policy.PartProfile {
			missed = " (differs in " + l.Missed + ")"
		}
	}
	part := string(l.Part)
	if l.Part == policy.PartKernel {
		part = "always"
	}
	p.say("%s %-8s %-24s %-8s %s%s", mark, part, l.ID, said, plain(l.Why), missed)
}
