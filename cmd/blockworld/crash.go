package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"blockworld/sentinel/journal"
)

// crashPoint is crashAt for a program that has one side only.
func crashPoint(getenv func(string) string) func(journal.Point) {
	return crashAt[journal.Point](getenv, "")
}

// crashAt reads BLOCKWORLD_CRASH, "POINT" or "POINT:N": the process kills itself as `kill -9` would at the N-th time
// (the first by default) that it comes by that point. Where daemon and host share a process, "daemon.POINT" and
// "host.POINT" tell points of one name apart. With BLOCKWORLD_CRASH_HOLD=FILE it is only held there: it makes the file and
// waits until that is gone, so that another process can be killed meanwhile. All of it is for tests of recovery, and nil
// without the variable.
func crashAt[P ~string](getenv func(string) string, side string) func(P) {
	name, count, _ := strings.Cut(getenv("BLOCKWORLD_CRASH"), ":")
	if name == "" {
		return nil
	}
	if of, point, qualified := strings.Cut(name, "."); qualified && of == side {
		name = point
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		n = 1
	}
	hold := getenv("BLOCKWORLD_CRASH_HOLD")
	var met atomic.Int64
	return func(p P) {
		if string(p) != name {
			return
		}
		switch m := met.Add(1); {
		case m < int64(n), m > int64(n) && hold != "":
			return
		case hold != "":
			stay(hold)
			return
		}
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill()
		}
		select {} // the kill is on its way; nothing more may happen
	}
}

// stay makes a file and waits until it is gone.
func stay(file string) {
	err := os.WriteFile(file, nil, 0o600)
	for ; err == nil; _, err = os.Stat(file) {
		time.Sleep(time.Millisecond)
	}
}
