//go:build !windows

package main

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time that this process has computed, in its own code and in the system.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// workTime is the clock of the figures that are measured in memory.
func workTime() time.Duration { return cpuTime() }

// residentBytes is the memory of this process that is in RAM now; the most it ever was where the system does not say.
func residentBytes() int64 {
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := bytes.Fields(b); len(fields) > 1 {
			if n, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
				return n * int64(os.Getpagesize())
			}
		}
	}
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
