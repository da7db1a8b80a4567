package store

import (
	"errors"
	"os"
	"syscall"
)

// datasync waits until what was written to a file is on disk; of its times and such it does not wait for.
func datasync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
