package boltfile

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Full tells whether an error means that the disk, or the user's share of it, is full. bbolt keeps only the text of some
// errors.
func Full(err error) bool {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EFBIG, errQuota} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}

// Denied tells whether an error means that this user may not write there, or nobody may.
func Denied(err error) bool { return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) }
