//go:build unix

package store

import (
	"os"
	"syscall"
)

const (
	noFollow   = syscall.O_NOFOLLOW
	mapAtLeast = 1 << 30 // address space only: a writer never waits for readers to map more of the file
)

// openToOthers tells whether the permissions let other users in.
func openToOthers(m os.FileMode) bool { return m.Perm()&0o077 != 0 }

// writableByOthers tells whether other users may put files into a directory.
func writableByOthers(m os.FileMode) bool { return m.Perm()&0o022 != 0 && m&os.ModeSticky == 0 }
