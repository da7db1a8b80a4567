package store

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// The test binary runs itself as another process: this variable says as what.
const childVariable = "BLOCKWORLD_STORE_CHILD"

func full() bool { return os.Getenv("BLOCKWORLD_FULL") == "1" }

func TestMain(m *testing.M) {
	switch job, path := os.Getenv(childVariable), os.Getenv("STORE"); {
	case job == "hold":
		holdChild(path)
	case strings.HasPrefix(job, "work"):
		workChild(path, job)
	case job == "fill":
		fillChild(path)
	case job == "open":
		openChild(path)
	default:
		flag.Parse()
		if !full() {
			flag.Set("rapid.checks", "30")
		}
		os.Exit(m.Run())
	}
}

func child(t testing.TB, job, path string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+job, "STORE="+path)
	c.Stderr = os.Stderr
	return c
}

func holdChild(path string) {
	if _, err := Open(path, Options{}); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("open")
	r, _, err := os.Pipe()
	if err == nil {
		_, err = r.Read(make([]byte, 1)) // for ever
	}
	fmt.Println("error", err)
}

// openChild says what it gets when it opens a store.
func openChild(path string) {
	e, err := Open(path, Options{})
	if err == nil {
		err = e.Close()
	}
	fmt.Println("readonly", errors.Is(err, ErrReadOnly), err)
	os.Exit(0)
}

func tempStore(t testing.TB) string { return filepath.Join(t.TempDir(), "control.db") }

// smallLog is a log that the tree takes over all the time.
const smallLog = 20_000

// opened opens a store for a test that kills no machine.
func opened(t testing.TB, path string) Engine {
	t.Helper()
	e, err := Open(path, Options{NoSync: true, logBytes: smallLog})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sound(t testing.TB, e Engine) {
	t.Helper()
	for _, p := range e.Check() {
		t.Error(p)
	}
}

func opID(n uint64) host.OpID {
	var id host.OpID
	binary.BigEndian.PutUint64(id[:], 1<<40+n)
	binary.BigEndian.PutUint64(id[8:], n*0x9E3779B97F4A7C15+1)
	return id
}

// sketch is the nth operation before its creation, of the size that real ones have.
func sketch(n uint64) operation.Operation {
	id, pos := opID(n), [3]int32{int32(n % 1000), 64, -3}
	return operation.Operation{
		ID: id, Kind: host.KindEffect, Principal: "alice", Actor: host.Name(fmt.Sprintf("bot-%d", n%4)), Host: "home", Task: "house",
		Lease: "lease-0123456789abcdef", Key: fmt.Sprintf("key-%d", n), Payload: effects.Digest{7, byte(n)},
		Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(`{"pos":[10,64,-3],"block":"minecraft:oak_stairs[facing=north]"}`)},
		Bound: host.Bound{
			Op: id, Binding: make([]byte, 300), Digest: effects.Digest{1}, Precondition: effects.Digest{2},
			Epoch: host.Epoch{Host: 1, World: 2, Timeline: 3}, Sequence: 17, Summary: "place minecraft:oak_stairs at 10 64 -3", ValidUntil: 5000,
			Effects: []host.Preview{{Kind: "world.place", Operation: "create", Ownership: "own", Scope: "plot-1",
				Risk: "moderate", Reversible: true, Quantity: 1, Pos: &pos, Block: "minecraft:oak_stairs[facing=north]", Item: "minecraft:oak_stairs"}},
		},
	}
}

var (
	held    = []operation.Reservation{{Budget: "blocks", Window: 3, Count: 1, Quantity: 2}}
	allowed = operation.Created{Decision: operation.Decision{Result: operation.Allow, Revision: "r1"}, Reservations: held}
)

func create(t testing.TB, e Engine, op operation.Operation, at operation.Instant) operation.Operation {
	t.Helper()
	must(t, e.Update(func(tx Tx) (err error) {
		op, _, err = Ops(tx).Create(op, allowed, at)
		return err
	}))
	return op
}

// stepped runs events on a stored operation.
func stepped(t testing.TB, e Engine, id host.OpID, at operation.Instant, events ...operation.Event) (op operation.Operation) {
	t.Helper()
	for _, ev := range events {
		must(t, e.Update(func(tx Tx) (err error) {
			op, _, err = Ops(tx).Step(id, ev, at)
			return err
		}))
	}
	return op
}

func acked(id host.OpID) operation.Event {
	return operation.Acked{Ack: host.Ack{Op: id, Accepted: true, Digest: effects.Digest{1}}}
}

func succeeded(id host.OpID) operation.Event {
	return operation.OutcomeCame{Outcome: host.Outcome{Op: id, Status: host.Succeeded, Code: "proven", Sent: true,
		Receipt: &host.Receipt{Number: 4, Digest: effects.Digest{5}, Grade: "attributed", Key: "abc"}}}
}

// view reads one thing.
func view[T any](t testing.TB, e Engine, f func(Tx) (T, error)) (got T) {
	t.Helper()
	must(t, e.View(func(tx Tx) (err error) {
		got, err = f(tx)
		return err
	}))
	return got
}

// lines calls f for each line that a child says until it ends or f returns false.
func lines(t testing.TB, c *exec.Cmd, f func(string) bool) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	must(t, err)
	for s := bufio.NewScanner(out); s.Scan(); {
		if !f(s.Text()) {
			c.Process.Kill()
		}
	}
	c.Wait()
}

// last is the last number that next gave out.
func last(tx Tx) int64 {
	l, _, _ := LeasesOf(tx).Get("counter")
	return int64(l.Renewed)
}

// next counts in a record of the store.
func next(tx Tx) int64 {
	l := Lease{ID: "counter", Actor: "counter", Renewed: operation.Instant(last(tx) + 1)}
	if err := LeasesOf(tx).Put(l); err != nil {
		panic(err)
	}
	return int64(l.Renewed)
}

// named is what a blueprint's name stands for.
func named(tx Tx, name host.Name) (d effects.Digest) {
	BlueprintsOf(tx).Each(func(n host.Name, of effects.Digest) bool {
		if n == name {
			d = of
		}
		return n != name
	})
	return d
}
