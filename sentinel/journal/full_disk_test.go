//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"blockworld/effects"
)

// fillChild works under a limit on the size of files until the disk is "full", and says what it got.
func fillChild(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	j, err := Open(dir, Options{})
	if err == nil {
		err = j.PutMission(mission(testMission))
	}
	if err == nil {
		err = limitFiles(300 << 10)
	}
	for n := uint32(0); err == nil; n++ {
		m := mark(n, n)
		if _, err = j.Mark(m); err == nil {
			fmt.Println("marked", n)
			err = j.Settle(outcome(m, effects.Proven))
		}
	}
	_, again := j.Mark(mark(1<<20, 1<<20))
	<-j.Failed()
	fmt.Println("full", errors.Is(err, ErrDiskFull), errors.Is(again, ErrFailed))
	err = errors.Join(j.Reopen(), limitFiles(1<<30)) // it can be read as long as there is no room
	_, marked := j.Mark(mark(1<<20, 800))
	if err = errors.Join(err, j.Err(), marked, j.Reopen(), j.Close()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("goes on", err == nil, errors.Is(j.Reopen(), ErrClosed))
}

func limitFiles(size uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		return err
	}
	l.Cur = size
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l)
}

// TestFullDisk: the write that does not fit is a clear error, nothing is half stored, and what was stored stays.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	out, err := child(t, "fill", dir).Output()
	if err != nil {
		t.Fatal(err, string(out))
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := len(lines) - 2
	if last < 2 || lines[last] != "full true true" || lines[last+1] != "goes on true true" {
		t.Fatal(string(out))
	}
	if _, err := Check(dir); err != nil {
		t.Fatal(err)
	}
	j := openTest(t, dir)
	for n := range uint32(last) {
		if _, err := j.Action(actionID(n)); err != nil {
			t.Error(err)
		}
	}
	mustMark(t, j, mark(1<<21, 900)) // with room again it goes on
}
