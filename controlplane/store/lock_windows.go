package store

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

const (
	errQuota   = syscall.Errno(windows.ERROR_DISK_FULL)
	noFollow   = 0
	mapAtLeast = 0 // mapping more than there is would make the file as large
)

// lockFile takes an exclusive lock without waiting, far behind the text that says who holds it.
func lockFile(f *os.File) error {
	at := windows.Overlapped{Offset: 1 << 20}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if err == windows.ERROR_LOCK_VIOLATION {
		return ErrLocked
	}
	return err
}

// syncDir does nothing: directories cannot be synced here.
func syncDir(string) error { return nil }

// openToOthers knows nothing: permissions are not in the mode here.
func openToOthers(os.FileMode) bool { return false }

// writableByOthers knows nothing: permissions are not in the mode here.
func writableByOthers(os.FileMode) bool { return false }
