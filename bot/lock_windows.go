package bot

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes an exclusive lock without waiting. The locked byte lies far behind the text, so that a second holder
// can still read who has it.
func lockFile(f *os.File) error {
	at := windows.Overlapped{Offset: 1 << 20}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if err == windows.ERROR_LOCK_VIOLATION {
		return errHeld
	}
	return err
}

func ownedByUser(os.FileInfo) bool { return true }
