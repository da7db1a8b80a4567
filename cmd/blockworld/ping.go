package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"blockworld/bot/login"
	"blockworld/worldstate/registry"
)

// pingReport is the JSON of ping.
type pingReport struct {
	Address   string  `json:"address"`
	Version   string  `json:"version"`
	Protocol  int32   `json:"protocol"`
	Supported bool    `json:"supported"`
	Players   int     `json:"players"`
	Max       int     `json:"max"`
	MOTD      string  `json:"motd_untrusted"`
	LatencyMs float64 `json:"latency_ms"`
}

func newPing(g *globals) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "ping HOST[:PORT]", Short: "version, players and latency of a server", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout <= 0 {
				return fail(exitUsage, fmt.Errorf("--timeout %s: it is longer than nothing", timeout))
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			s, target, err := login.Ping(ctx, args[0], login.PingOptions{})
			if err != nil {
				return joinFailed(err)
			}
			p := g.printer(cmd)
			r := pingReport{target.Address(), s.Version, s.Protocol, s.Known(), s.Players, s.Max, string(s.MOTD), float64(s.Latency.Microseconds()) / 1000}
			known := "not one this program speaks (" + registry.First.Name() + " to " + registry.Latest.Name() + ")"
			if r.Supported {
				known = "supported"
			}
			p.say("%s: %s", r.Address, login.Quote(r.MOTD))
			p.say("  version %s, protocol %d, %s", login.Quote(r.Version), r.Protocol, known)
			p.say("  players %d of %d, latency %.1f ms", r.Players, r.Max, r.LatencyMs)
			return p.result(r)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Second, "how long to wait for an answer")
	return cmd
}
