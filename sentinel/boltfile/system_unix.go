//go:build unix

package boltfile

import (
	"errors"
	"os"
	"syscall"
)

const (
	errQuota = syscall.EDQUOT
	noFollow = syscall.O_NOFOLLOW
)

// lock takes an exclusive lock without waiting; the kernel releases it with the process.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		default:
			return err
		}
	}
}

// SyncDir makes a rename in the directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
