package boltfile

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrHeld says that another process has the lock.
var ErrHeld = errors.New("locked by another process")

// Lock takes the lock that a file at path stands for, without waiting, and writes into it who has it. Closing the file
// gives it up, and so does the end of the process, however that comes. With ErrHeld it returns what its holder wrote of
// itself, for people. A link in the file's place is an error.
func Lock(path string) (f *os.File, holder string, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, "", err
	}
	if err := lock(f); err != nil {
		text := make([]byte, 64)
		n, _ := f.ReadAt(text, 0)
		f.Close()
		if errors.Is(err, ErrHeld) {
			return nil, strings.TrimSpace(string(text[:n])), err
		}
		return nil, "", fmt.Errorf("lock %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil { // only a hint for people: a full disk does not matter here
		_, _ = f.WriteAt(fmt.Appendf(nil, "process %d\n", os.Getpid()), 0)
	}
	return f, "", nil
}
