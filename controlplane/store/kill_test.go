package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"blockworld/controlplane/operation"
)

// workChild stores operations and carries some on until it is killed, and says after each change what is durable. Its
// job is "work POINT N FROM": it kills itself at the Nth time it comes past the point; with N 0 somebody else does.
func workChild(path, job string) {
	var point string
	var times int
	var from uint64
	fmt.Sscanf(job, "work %s %d %d", &point, &times, &from)
	e, err := Open(path, Options{logBytes: smallLog, At: func(p Point) {
		if string(p) == point {
			if times--; times == 0 {
				p, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = p.Kill()
				}
				panic(fmt.Sprint("still alive: ", err))
			}
		}
	}})
	for n := from; err == nil; n++ {
		err = e.Update(func(tx Tx) error { _, _, err := Ops(tx).Create(sketch(n), allowed, 1000); return err })
		fmt.Println("queued", n)
		for i, ev := range []operation.Event{operation.Polled{}, acked(opID(n)), succeeded(opID(n))} {
			if uint64(i) < n%4 && err == nil {
				var op operation.Operation
				err = e.Update(func(tx Tx) (err error) {
					op, _, err = Ops(tx).Step(opID(n), ev, 1000)
					return err
				})
				fmt.Println(op.State, n)
			}
		}
		if n%20 == 19 && err == nil {
			_, err = Prune(e, 2000, 3)
		}
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// TestKilled kills a working process at random points, again and again on the same file: it always loads, is sound, and
// what was said to be durable is there, or further on.
func TestKilled(t *testing.T) {
	kills := 16
	if full() {
		kills = 200
	}
	rng := rand.New(rand.NewPCG(3, 3))
	path, durable, next := tempStore(t), map[uint64]operation.State{}, uint64(1)
	for k := range kills {
		t.Run(fmt.Sprintf("CP-91/kill %d", k), func(t *testing.T) {
			job, after := fmt.Sprint("work none 0 ", next), 1+rng.IntN(40)
			if k%2 == 0 {
				points := []struct {
					at   Point
					most int // times that it is come by
				}{{BeforeCommit, 30}, {BeforeFold, 3}, {AfterCommit, 30}, {AfterFold, 3}, {BeforeLog, 1}, {AfterTurn, 3}}
				p := points[k/2%len(points)]
				job, after = fmt.Sprint("work ", p.at, " ", 1+rng.IntN(p.most), " ", next), 1<<30
			}
			lines(t, child(t, job, path), func(line string) bool {
				word, rest, _ := strings.Cut(line, " ")
				state, err := operation.ParseState(word)
				if err != nil {
					t.Error(line)
					return false
				}
				var n uint64
				fmt.Sscan(rest, &n)
				durable[n] = state
				after--
				return after > 0
			})
			e := opened(t, path)
			sound(t, e)
			for n, state := range durable {
				if got := stateOf(t, e, n); got < state {
					t.Errorf("operation %d was %s and is %s", n, state, got)
				}
				next = max(next, n+1)
			}
			for stored(t, e, next) { // and not told of
				next++
			}
			must(t, e.Close())
		})
	}
	t.Run("CP-93/ids and ends stay as they are through all kills", func(t *testing.T) {
		if len(durable) < kills {
			t.Error("only", len(durable), "operations")
		}
		e := opened(t, path)
		for n, state := range durable {
			if got := stateOf(t, e, n); state.Terminal() && got != state {
				t.Errorf("operation %d had ended as %s and is %s", n, state, got)
			}
		}
	})
}

// stored tells whether an operation is there, or was.
func stored(t testing.TB, e Engine, n uint64) bool {
	t.Helper()
	return view(t, e, func(tx Tx) (bool, error) {
		_, ok, err := KeysOf(tx).Get("alice", fmt.Sprintf("key-%d", n))
		return ok, err
	})
}

// stateOf reads the state of an operation, pruned ones included.
func stateOf(t testing.TB, e Engine, n uint64) operation.State {
	t.Helper()
	return view(t, e, func(tx Tx) (operation.State, error) {
		k, ok, err := KeysOf(tx).Get("alice", fmt.Sprintf("key-%d", n))
		if err != nil || !ok || k.Op != opID(n) {
			t.Errorf("key %d: %v %v", n, ok, err)
		}
		if k.Pruned {
			r, err := Ops(tx).Pruned(opID(n))
			return r.State, err
		}
		op, err := Ops(tx).Get(opID(n))
		return op.State, err
	})
}
