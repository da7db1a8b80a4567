//go:build unix

package store

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of processors, whoever else uses them.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
