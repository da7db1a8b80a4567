package effects

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// ActionID names one action for ever; a sent mark exists at most once per id. The zero id names none.
type ActionID [16]byte

// MissionID names one mission. The zero id names none.
type MissionID [16]byte

// Digest is a SHA-256 over canonical bytes. The zero digest stands for "none".
type Digest [sha256.Size]byte

// ErrBadID is returned for text that is no id and no digest.
var ErrBadID = errors.New("neither an id nor a digest")

// NewActionID draws an id from r, normally crypto/rand.Reader.
func NewActionID(r io.Reader) (ActionID, error) {
	var id ActionID
	err := drawID(r, id[:])
	return id, err
}

// NewMissionID draws an id from r, normally crypto/rand.Reader.
func NewMissionID(r io.Reader) (MissionID, error) {
	var id MissionID
	err := drawID(r, id[:])
	return id, err
}

// drawID fills id and refuses the all-zero result, which would name nothing.
func drawID(r io.Reader, id []byte) error {
	if _, err := io.ReadFull(r, id); err != nil {
		return fmt.Errorf("draw an id: %w", err)
	}
	for _, b := range id {
		if b != 0 {
			return nil
		}
	}
	return errors.New("draw an id: the random source gave only zeros")
}

// String writes the id as 32 hex digits.
func (a ActionID) String() string { return hex.EncodeToString(a[:]) }

// String writes the id as 32 hex digits.
func (m MissionID) String() string { return hex.EncodeToString(m[:]) }

// String writes the digest as 64 hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// ParseActionID reads 32 hex digits.
func ParseActionID(s string) (id ActionID, err error) {
	err = parseHex(id[:], []byte(s))
	return id, err
}

// ParseMissionID reads 32 hex digits.
func ParseMissionID(s string) (id MissionID, err error) {
	err = parseHex(id[:], []byte(s))
	return id, err
}

// MarshalText writes hex digits.
func (a ActionID) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// MarshalText writes hex digits.
func (m MissionID) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// MarshalText writes hex digits.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads hex digits.
func (a *ActionID) UnmarshalText(b []byte) error { return parseHex(a[:], b) }

// UnmarshalText reads hex digits.
func (m *MissionID) UnmarshalText(b []byte) error { return parseHex(m[:], b) }

// UnmarshalText reads hex digits.
func (d *Digest) UnmarshalText(b []byte) error { return parseHex(d[:], b) }

func parseHex(dst, src []byte) error {
	if len(src) != 2*len(dst) {
		return fmt.Errorf("%w: want %d hex digits, not %d characters", ErrBadID, 2*len(dst), len(src))
	}
	if _, err := hex.Decode(dst, src); err != nil {
		return fmt.Errorf("%w: %v", ErrBadID, err)
	}
	return nil
}
