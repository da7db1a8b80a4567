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

// errHeld is what the platform's lock says when another holder has it.
var errHeld = errors.New("lock is held")

// RuntimeDir is the user's runtime directory for locks: XDG_RUNTIME_DIR/blockworld, else a directory of this user
// below the temporary directory. It is made if it is missing, for this user alone.
func RuntimeDir() (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir != "" {
		dir = filepath.Join(dir, "blockworld")
	} else {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("blockworld-%d", os.Getuid()))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("runtime directory for locks: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("runtime directory for locks: %w", err)
	}
	if !info.IsDir() || !ownedByUser(info) {
		return "", fmt.Errorf("runtime directory %s belongs to somebody else; set XDG_RUNTIME_DIR to a directory of your own", dir)
	}
	return dir, nil
}

// lock is one held lock file. The kernel releases it with the process, however that ends.
type lock struct{ file *os.File }

// takeLock locks the file named after parts below dir. Text is what a second holder is told.
func takeLock(dir, text string, parts ...string) (*lock, error) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	path := filepath.Join(dir, hex.EncodeToString(sum[:16])+".lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	if err := lockFile(f); err != nil {
		holder := make([]byte, 256)
		n, _ := f.ReadAt(holder, 0)
		f.Close()
		if errors.Is(err, errHeld) {
			return nil, fmt.Errorf("%w: %s (held by %s); stop that bot first or use another username", ErrInUse, text, strings.TrimSpace(string(holder[:n])))
		}
		return nil, fmt.Errorf("lock file %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(fmt.Sprintf("process %d: %s\n", os.Getpid(), text)), 0)
	}
	return &lock{file: f}, nil
}

// release gives the lock up. The file stays: removing it would let two holders lock two files of one name.
func (l *lock) release() {
	if l != nil && l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
