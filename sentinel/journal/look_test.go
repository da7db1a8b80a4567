package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"blockworld/effects"
)

// TestLookBesideWriter reads a journal over and over while it is written to as fast as it goes: every copy is whole, holds
// a prefix of what was stored that grows, and its export verifies.
func TestLookBesideWriter(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, Options{}) // each commit waits for the disk, as a program's do
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	withMission(t, j)
	var stored atomic.Uint64
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := uint32(0); n < 500; n++ { // more would only make the exports long
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			m := mark(n, n)
			m.Spend = effects.Budgets{Uses: 1}
			if _, err := j.Mark(m); err != nil {
				done <- err
				return
			}
			if err := j.Settle(outcome(m, effects.Proven)); err != nil {
				done <- err
				return
			}
			stored.Add(1)
		}
		done <- nil
	}()
	var last uint64
	for range 12 {
		least := stored.Load()
		l, err := Look(dir, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		n, err := l.Export(&out)
		if err != nil || n < least || n < last {
			t.Errorf("%d receipts, %d were stored, %d were seen: %v", n, least, last, err)
		}
		if r, err := Verify(&out, j.Fingerprint()); err != nil || r.Receipts != n {
			t.Error(r, err)
		}
		last = n
		folder := l.copy
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Error("the copy stayed:", err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if last == 0 {
		t.Error("nothing was stored meanwhile")
	}
}

// TestLookStoresNothing: a copy to look at refuses every change, and takes no lock.
func TestLookStoresNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Look(dir, testOptions()); !errors.Is(err, ErrNoJournal) {
		t.Error(err)
	}
	j := openTest(t, dir)
	before, _ := filepath.Glob(filepath.Join(dir, "*"))
	l, err := Look(dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.PutMission(mission(testMission)); !errors.Is(err, ErrLooking) {
		t.Error(err)
	}
	if _, err := l.RotateKey(); !errors.Is(err, ErrLooking) {
		t.Error(err)
	}
	if l.Fingerprint() != j.Fingerprint() {
		t.Error("another key")
	}
	if after, _ := filepath.Glob(filepath.Join(dir, "*")); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v became %v", before, after)
	}
}

// TestLookNeedsQuiet: what changes between the two looks at the meta pages is no copy.
func TestLookNeedsQuiet(t *testing.T) {
	j := withMission(t, openTest(t, t.TempDir()))
	in, err := os.Open(filepath.Join(j.Dir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, still, err := copyOnce(in, nil); !still || err != nil {
		t.Error("nothing was committed:", still, err)
	}
	n := uint32(0)
	busy := watched{in, func() {
		n++
		if _, err := j.Mark(mark(n, n)); err != nil {
			t.Error(err)
		}
	}}
	if _, still, _ := copyOnce(busy, nil); still || n == 0 {
		t.Error("a commit fell into the copying:", still, n)
	}
}

// watched is a file that something happens behind every read of.
type watched struct {
	*os.File
	read func()
}

func (w watched) ReadAt(b []byte, at int64) (int, error) {
	defer w.read()
	return w.File.ReadAt(b, at)
}

// TestKeyFileBounded: a key file is small and a file, or it is not read.
func TestKeyFileBounded(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	f, err := os.Create(large)
	if err == nil {
		err = errors.Join(f.Truncate(1<<40), f.Close()) // sparse: reading it all would take for ever
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(large); !errors.Is(err, ErrKeyFile) || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
	for _, path := range []string{dir, os.DevNull} {
		if _, err := ReadKey(path); !errors.Is(err, ErrKeyFile) {
			t.Error(path, err)
		}
	}
}

// TestNotWritable: a directory that cannot be written is named as that, with what to do.
func TestNotWritable(t *testing.T) {
	for _, err := range []error{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, syscall.EROFS, syscall.EPERM, syscall.ENOTDIR} {
		if got := storage(err); !errors.Is(got, ErrNotWritable) || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(file, "data"), testOptions()); !errors.Is(err, ErrNotWritable) {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() > 0 {
		if _, err := Open(dir, testOptions()); !errors.Is(err, ErrNotWritable) {
			t.Error(err)
		}
	}
}
