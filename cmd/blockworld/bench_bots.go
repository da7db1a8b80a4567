package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"blockworld/bot"
	"blockworld/worldstate"
)

// botsFlags are the flags of the hidden command that joins bots in a process of its own.
type botsFlags struct {
	session
	bots int
	idle time.Duration
	full int
}

// newBenchBots is the process that bench measures: nothing but bots lives in it.
func newBenchBots(g *globals) *cobra.Command {
	f := &botsFlags{}
	cmd := &cobra.Command{
		Use: "bots", Short: "join bots, wait until they see all, idle, tell what that took", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBots(cmd.Context(), g.printer(cmd), f) },
	}
	fl := cmd.Flags()
	f.session.flags(fl)
	fl.IntVar(&f.bots, "bots", 1, "how many")
	fl.DurationVar(&f.idle, "idle", 0, "how long they do nothing once they see everything")
	fl.IntVar(&f.full, "full", 0, "columns of a full view")
	return cmd
}

// botsReport is what a process of bots took.
type botsReport struct {
	Spawn   float64 `json:"spawn_s"`    // from joining until the last bot stands in the world with its column loaded
	Full    float64 `json:"full_s"`     // until the last bot sees all columns
	CPU     float64 `json:"cpu_s"`      // of the process, from its start until then
	RSS     int64   `json:"rss"`        // resident bytes then
	Idle    float64 `json:"idle_s"`     // time watched
	IdleCPU float64 `json:"idle_cpu_s"` // CPU time in it
	IdleRSS int64   `json:"idle_rss"`   // resident bytes at its end
	Columns int     `json:"columns"`
}

func runBots(ctx context.Context, p *printer, f *botsFlags) error {
	o, err := f.options(p)
	if err != nil {
		return err
	}
	o.Notify = nil
	if f.bots > 1 {
		o.Sections = worldstate.NewSectionStore()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	w := &botsWatch{full: f.full, spawned: make(chan time.Time, f.bots), filled: make(chan time.Time, f.bots)}
	ran := make(chan error, f.bots)
	for i := range f.bots {
		own := o
		own.Username = fmt.Sprintf("%s%d", f.username, i)
		go func() { ran <- w.join(ctx, own) }()
	}
	spawn, err := lastOf(ctx, f.bots, w.spawned, ran)
	if err != nil {
		return fail(exitFailed, err)
	}
	full, err := lastOf(ctx, f.bots, w.filled, ran)
	if err != nil {
		return fail(exitFailed, err)
	}
	r := botsReport{Spawn: spawn.Sub(began).Seconds(), Full: full.Sub(began).Seconds(), CPU: cpuTime().Seconds(), Columns: int(w.columns.Load())}
	select {
	case <-time.After(200 * time.Millisecond): // the last packets of the join
	case <-ctx.Done():
		return ctx.Err()
	}
	r.RSS = residentBytes()
	before, from := cpuTime(), time.Now()
	select {
	case <-time.After(f.idle):
	case err := <-ran:
		return fail(exitFailed, err)
	case <-ctx.Done():
		return ctx.Err()
	}
	r.Idle, r.IdleCPU, r.IdleRSS = time.Since(from).Seconds(), (cpuTime() - before).Seconds(), residentBytes()
	p.say("%d bots: %.3f s to spawn, %.3f s to all columns, %.3f CPU-s, %.1f MiB; idle %.4f CPU-s in %.1f s, %.1f MiB",
		f.bots, r.Spawn, r.Full, r.CPU, mebi(r.RSS), r.IdleCPU, r.Idle, mebi(r.IdleRSS))
	return p.result(r)
}

func mebi(n int64) float64 { return float64(n) / (1 << 20) }

// lastOf waits for n times and returns the last.
func lastOf(ctx context.Context, n int, times <-chan time.Time, ran <-chan error) (time.Time, error) {
	var last time.Time
	for range n {
		select {
		case t := <-times:
			last = t
		case err := <-ran:
			return last, err
		case <-ctx.Done():
			return last, ctx.Err()
		}
	}
	return last, nil
}

// botsWatch hears when bots have spawned and when they see everything.
type botsWatch struct {
	full            int
	columns         atomic.Int64
	spawned, filled chan time.Time
}

func (w *botsWatch) join(ctx context.Context, o bot.Options) error {
	b, err := bot.Join(ctx, o)
	if err != nil {
		return err
	}
	defer b.Close()
	b.Listen(&oneWatched{watch: w})
	return b.Run(ctx)
}

// oneWatched is one bot's ear.
type oneWatched struct {
	watch          *botsWatch
	spawned, whole bool
	columns        int
}

// Fact implements bot.Listener.
func (l *oneWatched) Fact(tx *bot.Tx, f bot.Fact) {
	if l.whole {
		return
	}
	if _, ok := f.Event.(worldstate.ChunkLoaded); ok {
		l.columns++
	}
	if !l.spawned && tx.Ready() {
		l.spawned = true
		l.watch.spawned <- time.Now()
	}
	if l.spawned && l.columns >= l.watch.full {
		l.whole = true
		l.watch.columns.Store(int64(l.columns))
		l.watch.filled <- time.Now()
	}
}

// Tick implements bot.Listener: nobody is busy, so ticks rest.
func (l *oneWatched) Tick(*bot.Tx) bool { return false }

// Ended implements bot.Listener.
func (l *oneWatched) Ended(error) {}

// benchView is the view distance of the figures about whole bots, and the columns that a server of vanilla's circle shows.
const benchView = 10

func fullView(radius int) int {
	n := 0
	for x := -radius - 1; x <= radius+1; x++ {
		for z := -radius - 1; z <= radius+1; z++ {
			dx, dz := max(0, max(x, -x)-1), max(0, max(z, -z)-1)
			near, far := max(0, max(dx, dz)-1), min(dx, dz)
			if near*near+far*far < radius*radius {
				n++
			}
		}
	}
	return n
}

// serve starts the embedded server in a process of its own and returns its address and how to stop it.
func (b *bench) serve(ctx context.Context) (address string, stop func(), err error) {
	cmd := b.program(ctx, "fixture", "serve", "--listen", "127.0.0.1:0", "--json", "--version", benchVersion)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		if cmd.Process.Signal(os.Interrupt) != nil {
			cmd.Process.Kill()
		}
		cmd.Wait()
	}
	var started struct{ Address string }
	if err := json.NewDecoder(out).Decode(&started); err != nil {
		stop()
		return "", nil, fmt.Errorf("the server process: %w", err)
	}
	return started.Address, stop, nil
}

const benchVersion = "1.21.8"

func (b *bench) program(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, b.exe[0], append(b.exe[1:len(b.exe):len(b.exe)], args...)...)
}

// bots runs a process of bots.
func (b *bench) bots(ctx context.Context, address, name string, n int, idle time.Duration) (botsReport, error) {
	cmd := b.program(ctx, "bench", "bots", "--json", "--server", address, "--version", benchVersion, "--username", name,
		"--bots", fmt.Sprint(n), "--idle", idle.String(), "--full", fmt.Sprint(fullView(benchView)))
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return botsReport{}, fmt.Errorf("the bots' process: %w", err)
	}
	var r botsReport
	return r, json.Unmarshal(out, &r)
}

// joinRounds is how many fresh processes join.
const joinRounds = 5

func benchJoin(ctx context.Context, b *bench) ([]figure, error) {
	address, stop, err := b.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	var spawn, full, cpu spread
	for i := range min(joinRounds, b.rounds) + 1 {
		r, err := b.bots(ctx, address, fmt.Sprintf("Join%d", i), 1, 0)
		if err != nil {
			return nil, err
		}
		if i > 0 { // the first makes the server's columns
			spawn, full, cpu = append(spawn, r.Spawn), append(full, r.Full), append(cpu, r.CPU)
		}
	}
	s := spawn.figure("join to spawn, "+benchVersion, "s")
	s.Note = fmt.Sprintf("fresh process, version given, superflat; all %d columns after %.2f s, which the server paces", fullView(benchView), full.median())
	c := cpu.figure("CPU from start to full view, view 10", "s")
	return []figure{s.goal(s.Median <= 0.25, "<= 0.25 s"), c.goal(c.Median <= 0.15, "<= 0.15 CPU-s")}, nil
}

// furtherBots is how many bots share a process in the figure of further bots.
const furtherBots = 9

func benchBots(ctx context.Context, b *bench) ([]figure, error) {
	address, stop, err := b.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	type result struct {
		r   botsReport
		err error
	}
	many := make(chan result, 1)
	go func() {
		r, err := b.bots(ctx, address, "Many", 1+furtherBots, b.idle)
		many <- result{r, err}
	}()
	one, err := b.bots(ctx, address, "One", 1, b.idle)
	other := <-many
	if err = errors.Join(err, other.err); err != nil {
		return nil, err
	}
	first := spread{mebi(max(one.RSS, one.IdleRSS))}
	m := first.figure("memory of one bot, view 10", "MiB")
	m.Note = "resident, process and all; the server is another process"
	further := spread{(mebi(max(other.r.RSS, other.r.IdleRSS)) - first[0]) / furtherBots}
	fm := further.figure("memory of each further bot", "MiB")
	fm.Note = fmt.Sprintf("%d bots in one process", 1+furtherBots)
	out := []figure{m.goal(m.Median <= 30, "<= 30 MiB"), fm.goal(fm.Median <= 4, "<= 4 MiB")}
	if b.idle < time.Second {
		return out, nil
	}
	cpu := spread{100 * one.IdleCPU / one.Idle, 100 * other.r.IdleCPU / other.r.Idle / (1 + furtherBots)}
	c := cpu.figure("CPU of an idle bot", "% of a core")
	c.Note = fmt.Sprintf("over %.0f s: alone %.3f %%, each of %d together %.3f %%", one.Idle, cpu[0], 1+furtherBots, cpu[1])
	return append(out, c.goal(c.Max <= 0.1, "<= 0.1 %")), nil
}
