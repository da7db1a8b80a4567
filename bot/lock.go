package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrInUse says that a bot of this account is already on this server from this machine. A second login would kick the
// first, so it is refused before the handshake.
var ErrInUse = errors.New("account is in use on this server")

// ErrLockFolder says that the folder of the locks cannot be trusted: somebody else could take a lock away.
var ErrLockFolder = errors.New("the folder for locks is not this user's alone")

// errHeld is what the platform's lock says when another holder has it.
var errHeld = errors.New("lock is held")

// LockFolders are where this user's locks lie: the same folders for every process of the user, whatever its environment
// says, so that two bots of one account always meet. They are made if they are missing. A lock is taken in each of them.
func LockFolders() ([]string, error) {
	return lockFolders()
}

// ownFolder makes a folder of this user alone, or checks that the one there is.
func ownFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("folder for locks: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("folder for locks: %w", err)
	}
	switch {
	case !info.IsDir(): // a link is none, wherever it leads
		return fmt.Errorf("%w: %s is no folder: remove it", ErrLockFolder, dir)
	case !ownedByUser(info):
		return fmt.Errorf("%w: %s belongs to another user: have it removed", ErrLockFolder, dir)
	case !privateMode(info):
		return fmt.Errorf("%w: others may write to %s: remove it, or set its mode to 0700", ErrLockFolder, dir)
	}
	return nil
}

// lock is one held name: a locked file in each folder. The kernel releases it with the process, however that ends.
type lock struct{ files []*os.File }

// takeLock locks the files named after parts in all folders. Text is what a second holder is told.
func takeLock(folders []string, text string, parts ...string) (*lock, error) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	l := &lock{}
	for _, dir := range folders {
		path := filepath.Join(dir, hex.EncodeToString(sum[:16])+".lock")
		f, err := lockPath(path)
		if err != nil {
			l.release()
			var held *heldError
			if errors.As(err, &held) {
				return nil, fmt.Errorf("%w: %s (held by %s); stop that bot first or use another username", ErrInUse, text, held.by)
			}
			return nil, fmt.Errorf("lock file %s: %w", path, err)
		}
		if err := f.Truncate(0); err == nil { // a hint for people: it may be missing
			_, _ = f.WriteAt(fmt.Appendf(nil, "process %d: %s\n", os.Getpid(), text), 0)
		}
		l.files = append(l.files, f)
		if d := keepFolder(dir); d != nil {
			l.files = append(l.files, d)
		}
	}
	return l, nil
}

// heldError is errHeld with the holder's own words.
type heldError struct{ by string }

func (*heldError) Error() string { return errHeld.Error() }
func (*heldError) Unwrap() error { return errHeld }

// lockPath opens and locks a file. A holder removes its file before it lets go, so a lock counts only while the path
// still leads to the file that was locked.
func lockPath(path string) (*os.File, error) {
	for {
		f, err := openLock(path)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			holder := make([]byte, 256)
			n, _ := f.ReadAt(holder, 0)
			f.Close()
			if errors.Is(err, errHeld) {
				return nil, &heldError{strings.TrimSpace(string(holder[:n]))}
			}
			return nil, err
		}
		locked, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if there, err := os.Lstat(path); err == nil && os.SameFile(locked, there) {
			return f, nil
		}
		f.Close() // it was removed between opening and locking
	}
}

// release gives the lock up and takes its files away.
func (l *lock) release() {
	if l == nil {
		return
	}
	for _, f := range l.files {
		removeLock(f)
		f.Close()
	}
	l.files = nil
}
