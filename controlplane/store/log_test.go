package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
)

var (
	turnA = bytes.Repeat([]byte{1}, turnSize)
	turnB = bytes.Repeat([]byte{2}, turnSize)
)

// batchOf is the nth batch: two keys put, one deleted.
func batchOf(n int) []change {
	return []change{
		{Leases, fmt.Sprint("actor-", n), write{value: []byte(fmt.Sprint("lease ", n))}},
		{Keys, fmt.Sprint("last"), write{value: make([]byte, n%200)}},
		{Stops, fmt.Sprint("actor-", n), write{deleted: true, value: []byte{}}},
	}
}

// logged writes n batches into a log of its own and returns its path and the ends of the records.
func logged(t testing.TB, turn []byte, n int) (path string, ends []int64) {
	t.Helper()
	path = tempStore(t)
	l, err := createLog(path, smallLog, false)
	must(t, err)
	l.start(turn)
	for i := range n {
		must(t, l.append(batchOf(i), false))
		ends = append(ends, l.at)
	}
	must(t, l.f.Close())
	return path, ends
}

// holds checks that a log gives back the first n batches and no more.
func holds(t *testing.T, path string, turn []byte, n int) {
	t.Helper()
	r, _, err := readLog(path, turn, false)
	if err != nil {
		t.Fatal(err)
	}
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
	data, err := os.ReadFile(logPath(path))
	must(t, err)
	must(t, os.WriteFile(logPath(path), f(data), 0o600))
}

func TestLog(t *testing.T) {
	t.Run("what was written is read, as it was after each batch", func(t *testing.T) {
		path, _ := logged(t, turnA, 60)
		holds(t, path, turnA, 60)
	})
	t.Run("CP-91/an end that is not whole was never answered for, wherever it breaks off", func(t *testing.T) {
		path, ends := logged(t, turnA, 5)
		for at := ends[3]; at < ends[4]; at++ {
			path, _ := logged(t, turnA, 5)
			spoil(t, path, func(b []byte) []byte { return b[:at] })
			if whole := at >= ends[4]-logAlign; !whole { // what fills it up may be missing
				holds(t, path, turnA, 4)
			}
		}
		holds(t, path, turnA, 5)
	})
	t.Run("CP-91/a flipped bit of a record with others behind it is damage", func(t *testing.T) {
		_, ends := logged(t, turnA, 5)
		for at := range ends[1] {
			path, _ := logged(t, turnA, 5)
			spoil(t, path, func(b []byte) []byte { b[at] ^= 4; return b })
			_, _, err := readLog(path, turnA, false)
			if pad := err == nil; pad {
				holds(t, path, turnA, 5)
			} else if !errors.Is(err, ErrCorrupt) {
				t.Fatal(at, err)
			}
		}
	})
	t.Run("CP-91/a missing log is damage", func(t *testing.T) {
		if _, _, err := readLog(tempStore(t), turnA, false); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	})
	t.Run("another turn's records count for nothing, also behind shorter ones of this turn", func(t *testing.T) {
		path, _ := logged(t, turnA, 40)
		holds(t, path, turnB, 0)
		_, l, err := readLog(path, turnA, true)
		must(t, err)
		l.start(turnB)
		must(t, l.append(batchOf(0), false))
		must(t, l.f.Close())
		holds(t, path, turnB, 1)
	})
	t.Run("it is gone on with where it ended", func(t *testing.T) {
		path, _ := logged(t, turnA, 7)
		_, l, err := readLog(path, turnA, true)
		must(t, err)
		for i := 7; i < 12; i++ {
			must(t, l.append(batchOf(i), false))
		}
		must(t, l.f.Close())
		holds(t, path, turnA, 12)
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
	for _, suffix := range []string{"", ".log"} {
		data, err := os.ReadFile(path + suffix)
		must(t, err)
		must(t, os.WriteFile(copied+suffix, data, 0o600))
	}
	must(t, e.Close())
	t.Run("a closed store is one file", func(t *testing.T) {
		if _, err := os.Stat(logPath(path)); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
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
	path, ends := logged(f, turnA, 4)
	data, err := os.ReadFile(logPath(path))
	must(f, err)
	f.Add(data[:ends[3]])
	f.Add(data[:ends[2]+20])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		path := tempStore(t)
		must(t, os.WriteFile(logPath(path), data, 0o600))
		if _, _, err := readLog(path, turnA, false); err != nil && !errors.Is(err, ErrCorrupt) {
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
