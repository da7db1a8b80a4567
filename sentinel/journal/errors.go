package journal

import (
	"errors"
	"fmt"
	"syscall"

	"blockworld/sentinel/boltfile"
)

// Errors of opening.
var (
	ErrLocked         = errors.New("journal is in use by another process")
	ErrForeignVersion = errors.New("journal was written by a newer version of this program")
	ErrCorrupt        = errors.New("journal is damaged")
	ErrNoJournal      = errors.New("no journal here")
	ErrClosed         = errors.New("journal is closed")
)

// Errors of writing.
var (
	ErrDiskFull       = errors.New("disk is full: free some space, then resume")
	ErrNotWritable    = errors.New("the data directory cannot be written: give yourself the right to write there, or use another one")
	ErrFailed         = errors.New("an earlier write failed: the journal has to be opened again")
	ErrActionMarked   = errors.New("this action was already sent once")
	ErrStepBarred     = errors.New("a step of this cell has an action without a verdict; it is never sent again for a cleaner answer")
	ErrStepDone       = errors.New("this step is done")
	ErrBudget         = errors.New("the mission's budget is spent")
	ErrUnknownMission = errors.New("unknown mission")
	ErrMissionExists  = errors.New("mission exists with another plan")
	ErrUnknownAction  = errors.New("no action of this id was ever sent")
	ErrOtherBinding   = errors.New("the outcome belongs to another binding than the one that was sent")
	ErrSettled        = errors.New("this action is already closed with another outcome")
	ErrSpent          = errors.New("this permit is not valid: it was opened before, or no journal made it")
	ErrUnknownEntry   = errors.New("unknown play entry")
	ErrCursor         = errors.New("cursor does not fit the journal's receipts")
)

// Errors of keys.
var (
	ErrNoKey    = errors.New("the receipt key is missing: put its backup back")
	ErrWrongKey = errors.New("the receipt key is not the one this journal's chain names: put the right backup back")
	ErrKeyFile  = errors.New("not a receipt key")
)

// Damage says where a journal is damaged; it wraps ErrCorrupt.
type Damage struct {
	Where string // page, or bucket and key
	What  string
}

// Error names place and kind of the damage.
func (d *Damage) Error() string {
	return fmt.Sprintf("%v at %s: %s; the file was left as it is: put a backup back or start with a new data directory",
		ErrCorrupt, d.Where, d.What)
}

// Unwrap returns ErrCorrupt.
func (d *Damage) Unwrap() error { return ErrCorrupt }

func damaged(where, format string, args ...any) error {
	return &Damage{Where: where, What: fmt.Sprintf(format, args...)}
}

// storage turns the system's words for a full disk and for a directory that cannot be written into ours.
func storage(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrDiskFull) || errors.Is(err, ErrNotWritable):
		return err
	case boltfile.Denied(err) || errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w (%w)", ErrNotWritable, err)
	case boltfile.Full(err):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}
