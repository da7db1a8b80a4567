package controlplane_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// BenchmarkSubmit measures durable submits with an in-process host that binds at once and collects what is queued, on a
// real file, on one that is not waited for, and in memory. BLOCKWORLD_BENCH_STORED says how many operations are stored before (default 0),
// BLOCKWORLD_BENCH_DIR where the file lies.
func BenchmarkSubmit(b *testing.B) {
	for _, kind := range []string{"bbolt", "nosync", "memory"} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s,callers=%d", kind, callers), func(b *testing.B) { benchSubmit(b, kind, callers) })
		}
	}
}

func benchSubmit(b *testing.B, kind string, callers int) {
	engine := benchEngine(b, kind)
	defer engine.Close()
	p, err := policy.Compile(policy.Config{Profile: policy.Open, Plots: []policy.Plot{{ID: "plot", Owner: "ann"}}})
	if err != nil {
		b.Fatal(err)
	}
	g, err := controlplane.New(controlplane.Options{Engine: engine, Policy: p, Now: time.Now, Rand: rand.Reader,
		Owners: map[host.Name]host.Name{"bot1": "ann"}, SessionTTL: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := hosttest.New(g.Host(), "home", "bot1")
	h.Quiet = true
	if err := h.Join(ctx); err != nil {
		b.Fatal(err)
	}
	go serve(ctx, h)
	go g.Run(ctx)
	l, err := g.Acquire(ctx, ann, "bot1", 300*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	epoch, seq := h.Seen("bot1")
	one := func(n int64) {
		_, err := g.Submit(ctx, ann, controlplane.SubmitRequest{Actor: "bot1", Lease: l.ID, Key: "k" + strconv.FormatInt(n, 10),
			Epoch: epoch, Sequence: seq, Action: action("place_block", int(n))})
		if err != nil {
			b.Error(err)
		}
	}
	var n atomic.Int64
	run := func(total int64, callers int) {
		var wg sync.WaitGroup
		end := n.Load() + total
		for range callers {
			wg.Go(func() {
				for {
					k := n.Add(1)
					if k > end {
						return
					}
					one(k)
				}
			})
		}
		wg.Wait()
		n.Store(end)
	}
	if stored, _ := strconv.Atoi(os.Getenv("BLOCKWORLD_BENCH_STORED")); stored > 0 {
		run(int64(stored), 64)
	}
	before := engine.Stats()
	b.ReportAllocs()
	b.ResetTimer()
	start := time.Now()
	run(int64(b.N), callers)
	b.StopTimer()
	took := time.Since(start)
	after := engine.Stats()
	b.ReportMetric(float64(b.N)/took.Seconds(), "submits/s")
	b.ReportMetric(float64(b.N)/float64(max(1, after.Commits-before.Commits)), "submits/commit")
	b.ReportMetric(0, "ns/op")
}

func benchEngine(b *testing.B, kind string) store.Engine {
	if kind == "memory" {
		return store.Memory()
	}
	dir := os.Getenv("BLOCKWORLD_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	} else {
		dir = filepath.Join(dir, fmt.Sprint(time.Now().UnixNano()))
	}
	engine, err := store.Open(filepath.Join(dir, "bench.db"), store.Options{NoSync: kind == "nosync"})
	if err != nil {
		b.Fatal(err)
	}
	return engine
}

func serve(ctx context.Context, h *hosttest.Host) {
	for ctx.Err() == nil {
		if err := h.Serve(ctx); err != nil {
			return
		}
	}
}
