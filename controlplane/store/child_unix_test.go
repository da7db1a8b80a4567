//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// asNobody makes a command run as a user without rights, to whom the directory is given.
func asNobody(c *exec.Cmd, dir string) bool {
	const nobody = 65534
	for d := dir; d != os.TempDir() && len(d) > 1; d = d[:strings.LastIndexByte(d, '/')] {
		if d != dir && os.Chmod(d, 0o755) != nil {
			return false
		}
	}
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return os.Chown(dir, nobody, nobody) == nil
}

const roomFor = 2 * (logBytes + logRoom) // for the log, and for a tree that is to hold it once

// fillChild works under a limit on the size of files until the disk is "full", then frees some room and goes on.
func fillChild(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	e, err := Open(path, Options{})
	limit := func(n uint64) {
		err = errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: 1 << 40}))
	}
	limit(roomFor)
	n := uint64(0)
	for err == nil {
		n++
		if err = createPlain(e, n); err == nil {
			fmt.Println("stored", n)
		}
	}
	fmt.Println("full", errors.Is(err, ErrDiskFull), errors.Is(createPlain(e, n+1), ErrDiskFull), errors.Is(createPlain(e, n+1), ErrFailed))
	for i := range uint64(3) { // several at once
		go createPlain(e, n+2+i)
	}
	_, gone := viewOp(e, opID(n))
	fmt.Println("absent", errors.Is(gone, ErrNotFound))
	fmt.Println("sound", len(e.Check()) == 0)
	err = nil
	limit(1 << 30)
	fmt.Println("again", errors.Join(err, createPlain(e, 1<<20), e.Close()))
}

func createPlain(e Engine, n uint64) error {
	return e.Update(func(tx Tx) error { _, _, err := Ops(tx).Create(sketch(n), allowed, 1000); return err })
}

// TestFullDisk: the write that does not fit is a clear error, nothing of it is stored, what was stored stays, and with
// room again it goes on.
func TestFullDisk(t *testing.T) {
	path := tempStore(t)
	said := map[string]bool{}
	stored := uint64(0)
	lines(t, child(t, "fill", path), func(line string) bool {
		if _, err := fmt.Sscanf(line, "stored %d", &stored); err != nil {
			said[line] = true
		}
		return true
	})
	for _, want := range []string{"full true true false", "absent true", "sound true", "again <nil>"} {
		if !said[want] {
			t.Errorf("not said: %s; but %v", want, said)
		}
	}
	if stored < 10 {
		t.Fatal("only", stored)
	}
	e := opened(t, path)
	for n := uint64(1); n <= stored; n++ {
		if _, err := viewOp(e, opID(n)); err != nil {
			t.Error(err)
		}
	}
	if _, err := viewOp(e, opID(1<<20)); err != nil {
		t.Error(err)
	}
	sound(t, e)
}
