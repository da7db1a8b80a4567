package boltfile

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

const (
	errQuota = syscall.Errno(windows.ERROR_DISK_FULL)
	noFollow = 0
)

// lock takes an exclusive lock without waiting, far behind the text that says who holds it.
func lock(f *os.File) error {
	at := windows.Overlapped{Offset: 1 << 20}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if err == windows.ERROR_LOCK_VIOLATION {
		return ErrHeld
	}
	return err
}

// SyncDir does nothing: directories cannot be synced here.
func SyncDir(string) error { return nil }
