package host

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"blockworld/effects"
)

// ErrInvalid wraps every refusal of a message's contents.
var ErrInvalid = errors.New("invalid")

// Limits of the protocol.
const (
	MaxName      = 64       // bytes of an id: host, actor, plot, task, principal, tag
	MaxKey       = 128      // bytes of an idempotency key
	MaxArguments = 64 << 10 // bytes of an action's arguments
	MaxState     = 64 << 10 // bytes of a published state, and of an output
	MaxText      = 400      // bytes of a message for people
	MaxActors    = 4096     // of one host
	MaxEffects   = 16       // previews of one bound action
	MaxBatch     = 64       // items of one poll
	MaxChildren  = 1024     // children of one macro

	MaxCapabilities = 64 // of one actor
)

// OpID names an operation; it is the id of the action that carries it out.
type OpID = effects.ActionID

// Name is an id that people choose: lower case letters, digits and . _ : / -, at most MaxName bytes, starting with a
// letter or a digit.
type Name string

// Check refuses anything that is no name; what says whose.
func (n Name) Check(what string) error {
	if n == "" {
		return fmt.Errorf("%w: %s is missing", ErrInvalid, what)
	}
	if len(n) > MaxName {
		return fmt.Errorf("%w: %s is longer than %d bytes", ErrInvalid, what, MaxName)
	}
	for i, c := range []byte(n) {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != ':' && c != '/' && c != '-') {
			return fmt.Errorf("%w: %s %q: lower case letters, digits and . _ : / - only", ErrInvalid, what, string(n))
		}
	}
	return nil
}

// Epoch names a generation of host, world and timeline; it is bumped by a reconnect, by a respawn or a change of
// dimension, and by a change of server identity. The zero epoch is no epoch: Host starts at 1.
type Epoch struct {
	Host     uint64 `json:"host"`
	World    uint64 `json:"world"`
	Timeline uint64 `json:"timeline"`
}

// Valid tells whether e names an epoch.
func (e Epoch) Valid() bool { return e.Host > 0 && e.World > 0 && e.Timeline > 0 }

func checkText(what, s string) error {
	if len(s) > MaxText {
		return fmt.Errorf("%w: %s is longer than %d bytes", ErrInvalid, what, MaxText)
	}
	return nil
}

// checkLine is checkText for what is shown to people as it is: one line that steers no terminal and hides nothing.
func checkLine(what, s string) error {
	if err := checkText(what, s); err != nil {
		return err
	}
	if Line(s) != s {
		return fmt.Errorf("%w: %s holds a control character, a line break or broken UTF-8: send one line of plain text", ErrInvalid, what)
	}
	return nil
}

// Line is s as one line of plain text: what is no text becomes a question mark, what steers a terminal or turns the
// direction of writing a space.
func Line(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// checkCode refuses anything but a stable word for programs; none at all passes.
func checkCode(code string) error {
	if len(code) > MaxName {
		return fmt.Errorf("%w: the code is longer than %d bytes", ErrInvalid, MaxName)
	}
	for _, c := range []byte(code) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return fmt.Errorf("%w: code %.80q: lower case letters, digits and _ only; words for people go into the message", ErrInvalid, code)
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}
