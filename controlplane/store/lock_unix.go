//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

const (
	errQuota   = syscall.EDQUOT
	noFollow   = syscall.O_NOFOLLOW
	mapAtLeast = 1 << 30 // address space only: a writer never waits for readers to map more of the file
)

// lockFile takes an exclusive lock without waiting; the kernel releases it with the process, however that ends.
func lockFile(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}

// syncDir makes a rename in the directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// openToOthers tells whether the permissions let other users in.
func openToOthers(m os.FileMode) bool { return m.Perm()&0o077 != 0 }

// writableByOthers tells whether other users may put files into a directory.
func writableByOthers(m os.FileMode) bool { return m.Perm()&0o022 != 0 && m&os.ModeSticky == 0 }
