package store

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"blockworld/controlplane/operation"
)

// filled returns a store with n operations, nine of ten finished.
func filled(b testing.TB, n uint64, sync bool) (path string, e Engine) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "control.db")
	e, err := Open(path, Options{NoSync: true})
	must(b, err)
	for at := uint64(0); at < n; at += 1000 {
		must(b, e.Update(func(tx Tx) error {
			for i := at; i < min(at+1000, n); i++ {
				op, _, err := Ops(tx).Create(sketch(i), allowed, operation.Instant(1000+i))
				if err != nil {
					return err
				}
				if i%10 == 0 {
					continue
				}
				for _, ev := range []operation.Event{operation.Polled{}, acked(op.ID), succeeded(op.ID)} {
					if _, _, err := Ops(tx).Step(op.ID, ev, operation.Instant(1000+i)); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	must(b, e.Close())
	e, err = Open(path, Options{NoSync: !sync})
	must(b, err)
	b.Cleanup(func() { e.Close() })
	return path, e
}

// BenchmarkSubmit stores operations: everything that a submit writes, durable before it returns.
func BenchmarkSubmit(b *testing.B) {
	for _, stored := range []uint64{0, 100_000} {
		b.Run(fmt.Sprintf("%d stored", stored), func(b *testing.B) {
			_, e := filled(b, stored, true)
			next := atomic.Uint64{}
			next.Store(stored)
			for _, callers := range []int{1, 64} {
				b.Run(fmt.Sprintf("%d callers", callers), func(b *testing.B) { benchSubmit(b, e, callers, &next) })
			}
		})
	}
}

func benchSubmit(b *testing.B, e Engine, callers int, next *atomic.Uint64) {
	before, cpu, start := e.Stats(), cpuTime(), time.Now()
	inParallel(b, callers, func() error {
		n := next.Add(1)
		return e.Update(func(tx Tx) error {
			_, _, err := Ops(tx).Create(sketch(n), allowed, operation.Instant(1000+n))
			return err
		})
	})
	s := e.Stats()
	took, used, done := time.Since(start).Seconds(), cpuTime()-cpu, float64(s.Updates-before.Updates)
	b.ReportMetric(done/took, "submits/s")
	b.ReportMetric(float64(s.Commits-before.Commits)/done, "commits/op")
	b.ReportMetric(float64(s.Syncs-before.Syncs)/done, "fsyncs/op")
	b.ReportMetric(float64(s.Writes-before.Writes)/done, "writes/op")
	b.ReportMetric(float64(used.Microseconds())/done, "cpu-us/op")
}

// inParallel shares b.N calls among callers.
func inParallel(b *testing.B, callers int, f func() error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := f(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkRaw is the limit that BenchmarkSubmit stands beside: one bbolt transaction with one record of the same size.
func BenchmarkRaw(b *testing.B) {
	db, err := openBolt(filepath.Join(b.TempDir(), "raw.db"), false)
	must(b, err)
	defer db.Close()
	value := make([]byte, 1500)
	var next atomic.Uint64
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d callers", callers), func(b *testing.B) {
			start, cpu := time.Now(), cpuTime()
			inParallel(b, callers, func() error {
				id := opID(next.Add(1))
				return db.Update(func(tx *bbolt.Tx) error {
					bucket, err := tx.CreateBucketIfNotExists([]byte("raw"))
					if err != nil {
						return err
					}
					return bucket.Put(id[:], value)
				})
			})
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "updates/s")
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

// BenchmarkCPU is what a stored operation costs without the disk, in commits of 64.
func BenchmarkCPU(b *testing.B) {
	_, e := filled(b, 0, false)
	n, before := uint64(0), cpuTime()
	for b.Loop() {
		must(b, e.Update(func(tx Tx) error {
			for range 64 {
				n++
				if _, _, err := Ops(tx).Create(sketch(n), allowed, operation.Instant(1000+n)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(n), "cpu-us/submit")
}

// BenchmarkOpen opens a store with 100,000 operations and finds the unfinished ones.
func BenchmarkOpen(b *testing.B) {
	for _, stored := range []uint64{10_000, 100_000} {
		path, e := filled(b, stored, false)
		must(b, e.Close())
		b.Run(fmt.Sprint(stored, " stored"), func(b *testing.B) {
			for b.Loop() {
				e, err := Open(path, Options{})
				must(b, err)
				n := 0
				must(b, e.View(func(tx Tx) error {
					tx.Scan(Unfinished, nil, nil, func(k, v []byte) bool { n++; return true })
					return nil
				}))
				if uint64(n) != stored/10 {
					b.Fatal(n)
				}
				b.ReportMetric(float64(e.Stats().Bytes)/1e6, "MB")
				must(b, e.Close())
			}
		})
	}
}
