package bot

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// lockFolders asks the system for the user's own folder; variables of the environment do not change the answer.
func lockFolders() ([]string, error) {
	base, err := windows.KnownFolderPath(windows.FOLDERID_LocalAppData, 0)
	if err != nil {
		return nil, fmt.Errorf("folder for locks: %w", err)
	}
	dir := filepath.Join(base, "blockworld-locks")
	return []string{dir}, ownFolder(dir)
}

// openLock opens or makes a lock file.
func openLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }

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

// keepFolder and removeLock do nothing: nothing cleans this folder, and a file in use cannot be removed here.
func keepFolder(string) *os.File { return nil }

func removeLock(*os.File) {}

func ownedByUser(os.FileInfo) bool { return true }
func privateMode(os.FileInfo) bool { return true }
