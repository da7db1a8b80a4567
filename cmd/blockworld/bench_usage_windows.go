package main

import (
	"runtime"
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime is the time that this process has computed, in its own code and in the system.
func cpuTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}

// started is where workTime begins.
var started = time.Now()

// workTime is the clock of the figures that are measured in memory: the wall's, as processor time comes in steps of
// 15 ms here.
func workTime() time.Duration { return time.Since(started) }

// residentBytes is what Go's runtime has taken from the system: Windows' own figure needs more than it is worth.
func residentBytes() int64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.Sys - s.HeapReleased)
}
