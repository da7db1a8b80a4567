package controlplane_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// BenchmarkRestart opens a store of 100,000 operations, all queued or all ended, and a gateway on it.
func BenchmarkRestart(b *testing.B) {
	for _, open := range []bool{true, false} {
		b.Run(fmt.Sprintf("queued=%v", open), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "cp.db")
			fill(b, path, 100_000, open)
			p, err := policy.Compile(policy.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				e, err := store.Open(path, store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err = controlplane.New(controlplane.Options{Engine: e, Policy: p, Now: time.Now, Rand: rand.Reader}); err != nil {
					b.Fatal(err)
				}
				e.Close()
			}
		})
	}
}

// fill stores n operations, queued or rejected.
func fill(b *testing.B, path string, n int, open bool) {
	e, err := store.Open(path, store.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	result, no := operation.Allow, (*operation.Rejection)(nil)
	if !open {
		result, no = operation.Deny, &operation.Rejection{Code: "x", Message: "y"}
	}
	args := action("place_block", 1)
	bound := hosttest.New(nil, "home", "bot1").Bound(host.Gateway{Actor: "bot1", Action: args})
	for i := 0; i < n; i += 500 {
		err := e.Update(func(tx store.Tx) error {
			for k := range 500 {
				at := operation.Instant(1_700_000_000_000 + int64(i+k))
				id, err := operation.NewID(at, rand.Reader)
				if err != nil {
					return err
				}
				bound.Op = id
				_, _, err = store.Ops(tx).Create(operation.Operation{ID: id, Kind: host.KindEffect, Principal: "ann", Actor: "bot1", Host: "home",
					Lease: "l", Key: fmt.Sprint(i + k), Action: args, Bound: bound}, operation.Created{Decision: operation.Decision{Result: result}, Rejection: no}, at)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
