package boltfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	f, _, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	_, holder, err := Lock(path)
	if want := fmt.Sprintf("process %d", os.Getpid()); !errors.Is(err, ErrHeld) || holder != want {
		t.Errorf("%q, %v; want %q", holder, err, want)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, _, err = Lock(path); err != nil {
		t.Fatal("given up and not free:", err)
	}
	f.Close()
	if runtime.GOOS == "windows" {
		return
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if f, _, err := Lock(link); err == nil {
		f.Close()
		t.Error("a link was locked")
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		err          error
		full, denied bool
	}{
		{io.EOF, false, false},
		{errors.New("write x: " + errQuota.Error()), true, false}, // as bbolt passes some on
		{&fs.PathError{Op: "write", Path: "x", Err: errQuota}, true, false},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, false, true},
	} {
		if Full(c.err) != c.full || Denied(c.err) != c.denied {
			t.Errorf("%v: full %v, denied %v", c.err, Full(c.err), Denied(c.err))
		}
	}
}
