package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blockworld/fixtures/captures"
	"blockworld/worldstate/registry"
)

// bench is one run of the figures.
type bench struct {
	columns string // folder of captured columns, empty for none
	only    []string
	rounds  int
	idle    time.Duration
	control bool     // the figures of the control plane instead
	exe     []string // the program itself, for the figures that need processes of their own

	terrain  *tileset // columns of the embedded server's hills
	captured *tileset // columns of --columns, nil without
	tell     func(string, ...any)
}

// benchGroup is a part of the run that --only selects.
type benchGroup struct {
	name string
	run  func(context.Context, *bench) ([]figure, error)
}

// benchGroups are all figures, in the order of the table.
var benchGroups = []benchGroup{
	{"decode", benchDecode}, {"memory", benchMemory}, {"lookup", benchLookup}, {"scan", benchScan}, {"stream", benchStream},
	{"sentinel", benchSentinel}, {"path", benchPath}, {"place", benchPlace}, {"join", benchJoin}, {"bot", benchBots},
}

func newBench(g *globals) *cobra.Command {
	b := &bench{}
	cmd := &cobra.Command{
		Use: "bench", Short: "the program's figures beside their limits, measured side by side", Args: cobra.NoArgs,
		Long: "Measures what this program can do on this machine. Each figure stands beside the least that anything could take for the\n" +
			"same work, measured in the same round: a copy and a pass over the same bytes, inflating alone, bare commits to disk.\n" +
			"Figures are medians over several rounds with the smallest and the largest. What is measured in memory is counted in\n" +
			"processor time of the whole process; on a busy machine look at the ratios.",
		RunE: func(cmd *cobra.Command, _ []string) error { return runBench(cmd.Context(), g.printer(cmd), b) },
	}
	fl := cmd.Flags()
	fl.StringVar(&b.columns, "columns", "", "folder of captured vanilla columns with their index.json, measured beside the program's own")
	fl.StringSliceVar(&b.only, "only", nil, "figures to measure: "+strings.Join(groupNames(benchGroups), ", ")+"; with --control: "+strings.Join(groupNames(controlGroups), ", "))
	fl.IntVar(&b.rounds, "rounds", 31, "rounds of each figure that is measured in memory")
	fl.DurationVar(&b.idle, "idle", 20*time.Second, "how long idle bots are watched")
	fl.BoolVar(&b.control, "control", false, "the control plane's figures instead: durable submits, round trip, stop, restart, policy")
	cmd.AddCommand(newBenchBots(g))
	return cmd
}

// groups are what this run can measure.
func (b *bench) groups() []benchGroup {
	if b.control {
		return controlGroups
	}
	return benchGroups
}

func groupNames(groups []benchGroup) []string {
	var out []string
	for _, g := range groups {
		out = append(out, g.name)
	}
	return out
}

// benchReport is the JSON of bench.
type benchReport struct {
	Go      string   `json:"go"`
	Cores   int      `json:"cores"`
	Seconds float64  `json:"elapsed_s"`
	Figures []figure `json:"figures"`
	Missed  int      `json:"missed"`
}

func runBench(ctx context.Context, p *printer, b *bench) error {
	began := time.Now()
	for _, name := range b.only {
		if !slices.Contains(groupNames(b.groups()), name) {
			return fail(exitUsage, fmt.Errorf("--only %q: not one of %s", name, strings.Join(groupNames(b.groups()), ", ")))
		}
	}
	if b.rounds < 1 || b.idle < 0 {
		return fail(exitUsage, fmt.Errorf("--rounds %d --idle %s: at least one round, and no negative time", b.rounds, b.idle))
	}
	if err := b.prepare(); err != nil {
		return err
	}
	b.tell = p.say
	report := benchReport{Go: runtime.Version(), Cores: runtime.NumCPU()}
	p.say("%s", figureHead)
	for _, g := range b.groups() {
		if len(b.only) > 0 && !slices.Contains(b.only, g.name) {
			continue
		}
		found, err := g.run(ctx, b)
		if err != nil {
			return fail(exitFailed, fmt.Errorf("figure %s: %w", g.name, err))
		}
		for _, f := range found {
			p.say("%s", f.row())
			if f.Goal != "" && !f.Reached {
				report.Missed++
			}
		}
		report.Figures = append(report.Figures, found...)
	}
	report.Seconds = time.Since(began).Seconds()
	p.say("%d figures, %d goals missed, %.0f s", len(report.Figures), report.Missed, report.Seconds)
	return p.result(report)
}

// prepare reads the columns and finds the program.
func (b *bench) prepare() error {
	own, err := captures.Terrain()
	if err != nil {
		return fail(exitFailed, err)
	}
	b.terrain = &tileset{what: "own terrain", protocol: own.Protocol, layout: own.Layout, data: own.Data}
	if b.columns != "" {
		if b.captured, err = readCaptured(b.columns); err != nil {
			return fail(exitUsage, err)
		}
	}
	if b.exe == nil {
		exe, err := os.Executable()
		if err != nil {
			return fail(exitFailed, err)
		}
		b.exe = []string{exe}
	}
	return nil
}

// sets are the columns to measure with; the first is the most like what servers send.
func (b *bench) sets() []*tileset {
	if b.captured != nil {
		return []*tileset{b.captured, b.terrain}
	}
	return []*tileset{b.terrain}
}

// vanillaProtocol is the version whose columns are packed as the captured ones.
const vanillaProtocol = registry.V1_20_5
