package blueprint

import (
	"errors"
	"fmt"

	"blockworld/worldstate/nbt"
)

// What can be wrong with a schematic file or with the wish to build it.
var (
	ErrFormat      = errors.New("not a schematic this program reads")
	ErrVersion     = errors.New("schematic version not supported")
	ErrMalformed   = errors.New("malformed schematic")
	ErrTruncated   = errors.New("schematic ends too early")
	ErrTooLarge    = errors.New("schematic too large")
	ErrTooDeep     = errors.New("schematic nested too deeply")
	ErrUnknown     = errors.New("block state unknown in this version")
	ErrOutsidePlot = errors.New("blueprint does not fit into the plot")
)

// at names the place inside a file where something is wrong.
func at(err error, place, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", err, place, fmt.Sprintf(format, args...))
}

// fromNBT puts the tag reader's complaint under this package's sentinels.
func fromNBT(err error) error {
	switch {
	case errors.Is(err, nbt.ErrTooDeep):
		return fmt.Errorf("%w: %w", ErrTooDeep, err)
	case errors.Is(err, nbt.ErrTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case errors.Is(err, nbt.ErrTruncated):
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	case errors.Is(err, nbt.ErrInvalid):
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return err
}
