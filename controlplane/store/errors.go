package store

import (
	"errors"
	"fmt"

	"blockworld/sentinel/boltfile"
)

// Errors of opening.
var (
	ErrLocked         = errors.New("the store is in use by another process")
	ErrForeignVersion = errors.New("the store was written by a newer version of this program")
	ErrForeign        = errors.New("this is not a store of this program")
	ErrCorrupt        = errors.New("the store is damaged")
	ErrReadOnly       = errors.New("the store cannot be written: give this user the right to, or take another directory")
	ErrUnsafe         = errors.New("the store's file or directory is not safe to use")
	ErrNoStore        = errors.New("there is no store here: check the path")
)

// Errors of use.
var (
	ErrDiskFull = errors.New("disk is full: nothing of this change was stored; free some space, then try again")
	ErrFailed   = errors.New("an earlier write failed and what reached the disk is not known: stop the program and start it again")
	ErrClosed   = errors.New("the store is closed")
	ErrTooLarge = errors.New("too large to be stored, or no key")
	ErrInView   = errors.New("a view cannot write")
)

// Errors of the typed layer.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	ErrInvalid  = errors.New("this cannot be stored")
)

// storage turns the system's words for a full or read-only disk into ours.
func storage(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrDiskFull) || errors.Is(err, ErrReadOnly):
		return err
	case boltfile.Full(err):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case boltfile.Denied(err):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}
