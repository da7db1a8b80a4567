package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"blockworld/bot"
	"blockworld/bot/login"
	"blockworld/effects"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
)

// probeReport is the JSON of probe.
type probeReport struct {
	Profile string            `json:"profile"` // path of the file
	Server  string            `json:"server"`
	Brand   string            `json:"brand_untrusted"`
	Fence   string            `json:"fence"`
	Grades  map[string]string `json:"reachable"`
	Place   string            `json:"place_block"` // least grade offered, or why it is not
	Tried   []*tried          `json:"tried,omitempty"`

	CaptureError string `json:"capture_error,omitempty"`
}

func newProbe(g *globals) *cobra.Command {
	s := &session{}
	var out, accept string
	var rate float64
	var trials []string
	cmd := &cobra.Command{
		Use: "probe HOST[:PORT]", Short: "find out what a server can prove, and write its profile", Args: cobra.ExactArgs(1),
		Long: "Joins the server, sends nothing but what every client must send, and writes a profile: which effects it can prove, how\n" +
			"well, and why. Building takes the profile from DATA/profiles. --try also says one line or places one block there, as a\n" +
			"mission of one action with its own receipt, to find out what only a try can tell.",
		RunE: func(cmd *cobra.Command, args []string) error {
			s.server = args[0]
			return s.captured(runProbe(cmd.Context(), g.printer(cmd), s, out, accept, rate, trials))
		},
	}
	s.accountFlags(cmd.Flags())
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write; DATA/profiles/SERVER.yaml by default")
	cmd.Flags().StringVar(&accept, "accept", "attributed", "what is enough for a receipt: attributed, or observed where a server proves no more")
	cmd.Flags().Float64Var(&rate, "rate", 0, "uses per second to write into the profile; 8 by default")
	cmd.Flags().StringArrayVar(&trials, "try", nil, "also try an effect: say, or place=X,Y,Z; may be given more than once")
	return cmd
}

func runProbe(ctx context.Context, p *printer, s *session, out, accept string, rate float64, trials []string) error {
	var wanted []trial
	for _, text := range trials {
		t, err := parseTrial(text)
		if err != nil {
			return err
		}
		wanted = append(wanted, t)
	}
	var a profile.Accept
	if err := a.UnmarshalText([]byte(accept)); err != nil {
		return fail(exitUsage, err)
	}
	if math.IsNaN(rate) || rate < 0 || rate > profile.MaxRate {
		return fail(exitUsage, fmt.Errorf("--rate %v: uses per second, up to %v", rate, profile.MaxRate))
	}
	o, err := s.options(p)
	if err != nil {
		return err
	}
	var j *journal.Journal
	if _, err := os.Stat(filepath.Join(s.data, journal.FileName)); err == nil || len(wanted) > 0 {
		j, err = s.openJournal(len(wanted) == 0)
		if err != nil {
			return err
		}
		defer j.Close()
		counted(&o, j, s.scope())
	}
	found, err := bot.Probe(ctx, o)
	if err != nil {
		return joinFailed(err)
	}
	prof := found.Profile(time.Now(), a)
	if rate > 0 {
		prof.Rate, prof.Pace = rate, "as asked"
	}
	var results []*tried
	for _, t := range wanted {
		r, err := t.try(ctx, p, s, j, found, &prof)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	if out == "" {
		out = profile.Path(s.data, s.server)
	}
	if err := prof.Save(out); err != nil {
		return fail(exitFailed, err)
	}
	return tellProbe(p, s, out, found, &prof, results)
}

func tellProbe(p *printer, s *session, path string, found *bot.Probed, prof *profile.Profile, results []*tried) error {
	r := probeReport{Profile: path, Server: prof.Server.Identity, Brand: prof.Server.Brand, Fence: prof.Found.Fence.String(), Grades: map[string]string{}, Tried: results,
		CaptureError: s.captureError()}
	p.say("%s, brand %s, %s", prof.Server.Identity, login.Quote(prof.Server.Brand), found.Protocol)
	p.say("  fence (request-stats answered): %s; statistics grow: %s; inventory snapshot: %s", prof.Found.Fence, prof.Found.Counters, prof.Found.Inventory)
	for _, o := range found.Offers {
		if !o.Capability.Effect() {
			continue
		}
		r.Grades[o.Capability.String()] = o.Grade.String()
		p.say("  %-12s can be proven up to %-12s %s", o.Capability, o.Grade, o.Why)
	}
	offered, ok := prof.Offer(effects.PlaceBlock)
	r.Place = "not offered"
	if ok {
		r.Place = offered.Least.String()
	} else if slices.ContainsFunc(found.Offers, func(o bot.Offer) bool { return o.Capability == effects.PlaceBlock }) {
		p.say("  place_block is not offered: this server proves %s at most; `--accept observed` takes that", r.Grades[effects.PlaceBlock.String()])
	}
	for _, t := range results {
		p.say("  tried %s: %s, %s (%s)", t.Effect, t.Verdict, t.Grade, t.Why)
	}
	p.say("wrote %s", path)
	return p.result(r)
}
