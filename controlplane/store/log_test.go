package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"blockworld/controlplane/operation"
)

var (
	turn0 = turn{name: [turnSize]byte{1}}
	turnA = turn0.next(0)
)

// batchOf is the nth batch: two keys put, one deleted.
func batchOf(n int) []change {
	return []change{
		{Leases, fmt.Sprint("actor-", n), write{value: []byte(fmt.Sprint("lease ", n))}},
		{Keys, fmt.Sprint("last"), write{value: make([]byte, n%200)}},
		{Stops, fmt.Sprint("actor-", n), write{deleted: true, value: []byte{}}},
	}
}

// logged writes n batches into the logs of a store and returns its path and the ends of the records.
func logged(t testing.TB, n int) (path string, ends []int64) {
	t.Helper()
	path = tempStore(t)
	logs, err := createLogs(path, smallLog, turn0, false)
	must(t, err)
	for i := range n {
		must(t, logs[0].append(batchOf(i), false))
		ends = append(ends, logs[0].at)
	}
	must(t, closeLogs(logs))
	return path, ends
}

// turned writes so many batches of each of two turns and returns the path.
func turned(t testing.TB, first, second int) string {
	t.Helper()
	path := tempStore(t)
	logs, err := createLogs(path, smallLog, turn0, false)
	must(t, err)
	must(t, logs[1].begin(turnA, false)) // either file may hold the older turn
	for i := range first {
		must(t, logs[1].append(batchOf(i), false))
	}
	must(t, logs[0].begin(turnA.next(logs[1].number), false))
	for i := range second {
		must(t, logs[0].append(batchOf(first+i), false))
	}
	must(t, closeLogs(logs))
	return path
}

// holds checks that a log gives back the first n batches and no more.
func holds(t *testing.T, path string, n int) {
	t.Helper()
	layers, _, err := readLogs(path, turnA, false)
	if err != nil {
		t.Fatal(err)
	}
	r := layers[0]
	if got := int(r.last.Load()); got != n {
		t.Fatalf("%d batches, want %d", got, n)
	}
	for i := range n {
		v := r.get(Leases, fmt.Append(nil, "actor-", i), newest)
		if v == nil || string(v.value) != fmt.Sprint("lease ", i) {
			t.Fatalf("batch %d: %+v", i, v)
		}
		if v := r.get(Stops, fmt.Append(nil, "actor-", i), newest); v == nil || !v.deleted {
			t.Fatalf("batch %d: the deletion is gone", i)
		}
		if v := r.get(Keys, []byte("last"), uint64(i+1)); v == nil || len(v.value) != i%200 {
			t.Fatalf("as of batch %d: %+v", i, v)
		}
	}
}

// spoil changes a log's bytes.
func spoil(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path + logSuffixes[0])
	must(t, err)
	must(t, os.WriteFile(path+logSuffixes[0], f(data), 0o600))
}

func TestLog(t *testing.T) {
	t.Run("what was written is read, as it was after each batch", func(t *testing.T) {
		path, _ := logged(t, 60)
		holds(t, path, 60)
	})
	t.Run("CP-91/an end that is not whole was never answered for, wherever it breaks off", func(t *testing.T) {
		path, ends := logged(t, 5)
		for at := ends[3]; at < ends[4]; at++ {
			path, _ := logged(t, 5)
			spoil(t, path, func(b []byte) []byte { clear(b[at:]); return b })
			if whole := at >= ends[4]-logAlign; !whole { // what fills it up may be missing
				holds(t, path, 4)
			}
		}
		holds(t, path, 5)
	})
	t.Run("CP-91/a flipped bit of a record with others behind it is damage", func(t *testing.T) {
		_, ends := logged(t, 5)
		for at := int64(logHead); at < ends[1]; at++ {
			path, _ := logged(t, 5)
			spoil(t, path, func(b []byte) []byte { b[at] ^= 4; return b })
			_, _, err := readLogs(path, turnA, false)
			if pad := err == nil; pad {
				holds(t, path, 5)
			} else if !errors.Is(err, ErrCorrupt) {
				t.Fatal(at, err)
			}
		}
	})
	t.Run("CP-91/a missing log is damage", func(t *testing.T) {
		if _, _, err := readLogs(tempStore(t), turnA, false); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	})
	t.Run("another turn's records count for nothing, also behind shorter ones of this turn", func(t *testing.T) {
		path, _ := logged(t, 40)
		for n := range 2 {
			_, logs, err := readLogs(path, turnA, true)
			must(t, err)
			must(t, logs[1].begin(turn0, false))
			must(t, logs[0].begin(turnA, false)) // written over from its beginning
			logs[0].turn.name[0] ^= 1            // by another turn
			for i := range 40 {
				must(t, logs[0].append(batchOf(i), false))
			}
			must(t, logs[0].begin(turnA, false))
			for i := range n {
				must(t, logs[0].append(batchOf(i), false))
			}
			must(t, closeLogs(logs))
			holds(t, path, n)
		}
	})
	t.Run("it is gone on with where it ended", func(t *testing.T) {
		path, _ := logged(t, 7)
		_, logs, err := readLogs(path, turnA, true)
		must(t, err)
		for i := 7; i < 12; i++ {
			must(t, logs[0].append(batchOf(i), false))
		}
		must(t, closeLogs(logs))
		holds(t, path, 12)
	})
	t.Run("the next turn's records are the newer layer, and are gone on with", func(t *testing.T) {
		path := turned(t, 9, 5)
		for n := 5; n < 8; n++ {
			layers, logs, err := readLogs(path, turnA, true)
			must(t, err)
			if len(layers) != 2 || layers[0].last.Load() != 9 || layers[1].last.Load() != uint64(n) {
				t.Fatal(len(layers), "layers")
			}
			if v := layers[1].get(Leases, fmt.Append(nil, "actor-", 9+n-1), newest); v == nil {
				t.Fatal("its last batch is missing")
			}
			must(t, errors.Join(logs[0].append(batchOf(9+n), false), closeLogs(logs)))
		}
	})
	t.Run("of a turn that the tree has taken over only the next one counts", func(t *testing.T) {
		path := turned(t, 9, 5)
		layers, _, err := readLogs(path, turnA.next(9), false)
		if err != nil || len(layers) != 1 || layers[0].last.Load() != 5 {
			t.Error(len(layers), err)
		}
	})
	t.Run("CP-91/an end that the next turn goes on behind is damage", func(t *testing.T) {
		path := turned(t, 9, 0)
		data, err := os.ReadFile(path + logSuffixes[1])
		must(t, err)
		_, ends := logged(t, 9)
		for _, at := range []int64{logHead, ends[3], ends[7] + 5, ends[8] - logAlign + 1} {
			bad := bytes.Clone(data)
			bad[at] ^= 1
			must(t, os.WriteFile(path+logSuffixes[1], bad, 0o600))
			if _, _, err := readLogs(path, turnA, false); !errors.Is(err, ErrCorrupt) {
				t.Error(at, err)
			}
		}
	})
	t.Run("a batch larger than the log has its place", func(t *testing.T) {
		path := tempStore(t)
		e := opened(t, path)
		big := bytes.Repeat([]byte("x"), 3*(smallLog+logRoom))
		for i := range 3 {
			must(t, e.Update(func(tx Tx) error { tx.Put(Blueprints, fmt.Append(nil, i), big); return nil }))
		}
		must(t, e.Close())
		e = opened(t, path)
		for i := range 3 {
			if got := view(t, e, func(tx Tx) (int, error) { return len(tx.Get(Blueprints, fmt.Append(nil, i))), nil }); got != len(big) {
				t.Errorf("%d bytes", got)
			}
		}
	})
}

func TestRecent(t *testing.T) {
	r := newRecent()
	put := func(value string) {
		var b buffer
		b.Put(Leases, []byte("k"), []byte(value))
		r.take(&b)
	}
	is := func(t *testing.T, asOf uint64, want string) {
		t.Helper()
		if v := r.get(Leases, []byte("k"), asOf); v == nil && want != "" || v != nil && string(v.value) != want {
			t.Errorf("as of %d: %+v, want %q", asOf, v, want)
		}
	}
	put("a")
	is(t, 0, "")
	is(t, newest, "a")
	r.publish()
	put("b")
	put("c")
	is(t, r.last.Load(), "a")
	is(t, newest, "c")
	r.undo()
	is(t, newest, "a")
	put("d")
	r.publish()
	is(t, 1, "a")
	is(t, 2, "d")
}

// TestUnclean opens what a program that was killed has left: its file and its log.
func TestUnclean(t *testing.T) {
	path := tempStore(t)
	e, err := Open(path, Options{NoSync: true})
	must(t, err)
	for n := range uint64(20) {
		create(t, e, sketch(n), 1000)
	}
	copied := tempStore(t)
	for _, suffix := range append([]string{""}, logSuffixes[:]...) {
		data, err := os.ReadFile(path + suffix)
		must(t, err)
		must(t, os.WriteFile(copied+suffix, data, 0o600))
	}
	must(t, e.Close())
	t.Run("a closed store is one file", func(t *testing.T) {
		for _, suffix := range logSuffixes {
			if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		}
	})
	t.Run("CP-91/a check reads the log, too, and changes nothing", func(t *testing.T) {
		for range 2 {
			if found, err := CheckFile(copied); err != nil || len(found) > 0 {
				t.Error(found, err)
			}
		}
	})
	t.Run("CP-91/everything is there, and stays", func(t *testing.T) {
		for range 2 {
			e := opened(t, copied)
			for n := range uint64(20) {
				if _, err := viewOp(e, opID(n)); err != nil {
					t.Error(err)
				}
			}
			sound(t, e)
			must(t, e.Close())
		}
	})
	t.Run("CP-91/without the log it is refused", func(t *testing.T) {
		e := opened(t, copied)
		create(t, e, sketch(99), 1000)
		alone := tempStore(t)
		data, err := os.ReadFile(copied)
		must(t, err)
		must(t, os.WriteFile(alone, data, 0o600))
		if _, err := Open(alone, Options{}); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
		if found, err := CheckFile(alone); err != nil || len(found) != 1 {
			t.Error(found, err)
		}
	})
}

// FuzzLog: whatever bytes a log holds, they are refused or are batches, and reading never does anything else.
func FuzzLog(f *testing.F) {
	path, ends := logged(f, 4)
	data, err := os.ReadFile(path + logSuffixes[0])
	must(f, err)
	other, err := os.ReadFile(path + logSuffixes[1])
	must(f, err)
	f.Add(data)
	f.Add(append(bytes.Clone(data[:ends[2]+20]), make([]byte, len(data))...))
	f.Add(data[:ends[3]])
	f.Add(data[logHead:ends[3]])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		path := tempStore(t)
		must(t, errors.Join(os.WriteFile(path+logSuffixes[0], data, 0o600), os.WriteFile(path+logSuffixes[1], other, 0o600)))
		if _, _, err := readLogs(path, turnA, false); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
		if err := newRecent().replay(data); err == nil && len(data) > 0 && data[0] >= byte(bucketCount) {
			t.Error("no such bucket")
		}
	})
}

// TestLayoutWithLog: while a log counts, a program that knows of no logs refuses the tree; a closed store and a backup are of
// the plain layout.
func TestLayoutWithLog(t *testing.T) {
	layout := func(data []byte) uint32 {
		path := tempStore(t)
		must(t, os.WriteFile(path, data, 0o600))
		f, err := os.Open(path)
		must(t, err)
		defer f.Close()
		s, found, err := walk(f, int64(len(data)), 0)
		if err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		return s.layout
	}
	path := tempStore(t)
	e := opened(t, path)
	read := func() []byte {
		data, err := os.ReadFile(path)
		must(t, err)
		return data
	}
	if got := layout(read()); got != Version {
		t.Error("a new store has layout", got)
	}
	must(t, e.Update(func(tx Tx) error { next(tx); return nil }))
	if got := layout(read()); got != versionWithLog {
		t.Error("beside a log it has layout", got)
	}
	var b bytes.Buffer
	must(t, e.Backup(&b))
	if got := layout(b.Bytes()); got != Version {
		t.Error("a backup has layout", got)
	}
	must(t, e.Close())
	if got := layout(read()); got != Version {
		t.Error("a closed store has layout", got)
	}
}

// sealing is what the tree is taking over.
func (e *bolt) sealing() *recent {
	e.gate.RLock()
	defer e.gate.RUnlock()
	return e.sealed
}

// TestFold: changes go on while the tree takes over a file of the log, everybody sees all of them, and none is missing if the
// program dies then.
func TestFold(t *testing.T) {
	path, goOn := tempStore(t), make(chan struct{})
	var folds, under atomic.Int32 // that have begun, and that have not ended
	e, err := Open(path, Options{NoSync: true, logBytes: smallLog, At: func(p Point) {
		switch p {
		case BeforeFold:
			folds.Add(1)
			if under.Add(1) > 1 {
				t.Error("two folds at once")
			}
			<-goOn
		case AfterFold:
			under.Add(-1)
		}
	}})
	must(t, err)
	made := uint64(0)
	for e.(*bolt).sealing() == nil { // a file holds more than the batch that fills it, so that nobody waits here
		create(t, e, sketch(made), 1000)
		made++
	}
	all := func(t *testing.T, e Engine) {
		t.Helper()
		for n := range made {
			if _, err := viewOp(e, opID(n)); err != nil {
				t.Error(n, err)
			}
		}
		sound(t, e)
	}
	for range 3 {
		create(t, e, sketch(made), 1000)
		made++
	}
	must(t, e.Update(func(tx Tx) error { _, _, err := Ops(tx).Step(opID(0), operation.Polled{}, 1000); return err }))
	if op, err := viewOp(e, opID(0)); err != nil || op.State != operation.Delivered {
		t.Error("a change of what is being taken over:", op.State, err)
	}
	t.Run("CP-91/views and backups have both layers", func(t *testing.T) {
		all(t, e)
		var b bytes.Buffer
		copied := tempStore(t)
		must(t, errors.Join(e.Backup(&b), os.WriteFile(copied, b.Bytes(), 0o600)))
		all(t, opened(t, copied))
	})
	t.Run("CP-91/who dies meanwhile has everything in both files", func(t *testing.T) {
		copied := tempStore(t)
		for _, suffix := range append([]string{""}, logSuffixes[:]...) {
			data, err := os.ReadFile(path + suffix)
			must(t, err)
			must(t, os.WriteFile(copied+suffix, data, 0o600))
		}
		if found, err := CheckFile(copied); err != nil || len(found) > 0 {
			t.Error(found, err)
		}
		for range 2 {
			e := opened(t, copied)
			all(t, e)
			must(t, e.Close())
		}
	})
	t.Run("a second file that is full waits for the first", func(t *testing.T) {
		go close(goOn)
		for end := made + 60; made < end; made++ {
			create(t, e, sketch(made), 1000)
		}
		all(t, e)
		must(t, e.Close())
		if folds.Load() < 3 || under.Load() != 0 {
			t.Error(folds.Load(), "folds,", under.Load(), "of them have not ended")
		}
	})
	all(t, opened(t, path))
}
