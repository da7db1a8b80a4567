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
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 300 << 10, Max: 300 << 10})
	}
	for n := uint32(0); err == nil; n++ {
		m := mark(n, n)
		if _, err = j.Mark(m); err == nil {
			fmt.Println("marked", n)
			err = j.Settle(outcome(m, effects.Proven))
		}
	}
	_, again := j.Mark(mark(1<<20, 1<<20))
	fmt.Println("full", errors.Is(err, ErrDiskFull), errors.Is(again, ErrFailed))
}

// TestFullDisk: the write that does not fit is a clear error, nothing is half stored, and what was stored stays.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	out, err := child(t, "fill", dir).Output()
	if err != nil {
		t.Fatal(err, string(out))
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := lines[len(lines)-1]; last != "full true true" || len(lines) < 3 {
		t.Fatal(last, len(lines))
	}
	if _, err := Check(dir); err != nil {
		t.Fatal(err)
	}
	j := openTest(t, dir)
	for n := range uint32(len(lines) - 1) {
		if _, err := j.Action(actionID(n)); err != nil {
			t.Error(err)
		}
	}
	mustMark(t, j, mark(1<<20, 900)) // with room again it goes on
}
