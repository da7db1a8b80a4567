package login

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// Errors of New and of the machine.
var (
	ErrUnknownProtocol = errors.New("unknown protocol version")
	ErrUsername        = errors.New("not a username")
	ErrNeedsAccount    = errors.New("the server is in online mode and needs an account")
	ErrKicked          = errors.New("the server closed the session")
	ErrTimeout         = errors.New("the server did not go on in time")
	ErrNotMinecraft    = errors.New("the server does not speak the Minecraft protocol")
	ErrRefusedByPolicy = errors.New("refused by policy")
	ErrTooMuch         = errors.New("the server sends more than a session can hold")
	ErrUndecodable     = errors.New("undecodable packet that the session depends on")
)

// Policy is what to do about a question of the server. The zero value declines.
type Policy uint8

// The policies.
const (
	Decline Policy = iota
	Accept
)

// String is accept or decline.
func (p Policy) String() string {
	if p == Accept {
		return "accept"
	}
	return "decline"
}

// Options is everything a login needs to know beforehand.
type Options struct {
	Protocol     registry.Protocol
	Target       Target
	Intent       wire.Intent // zero means wire.IntentLogin
	Username     string
	UUID         worldstate.UUID  // announced in hello; zero means the offline id of the name
	Secret       [SecretSize]byte // shared secret for encryption, drawn at random by the caller
	Random       io.Reader        // padding of the key exchange
	Online       bool             // AskSession can be carried out
	Brand        string           // zero means "blockworld"
	Locale       string           // zero means "en_us"
	ViewDistance int              // chunks, 2..32; zero means 10

	ResourcePacks Policy
	CodeOfConduct Policy
	Transfers     Policy

	Cookies map[string][]byte // of an earlier server of this session
	// Query answers a login plugin request; nil, and false, mean "not understood".
	Query func(channel string, data []byte) (answer []byte, understood bool)
}

var usernames = regexp.MustCompile(`^[A-Za-z0-9_]{1,16}$`)

// CheckUsername refuses what vanilla does not take as a name; the error wraps ErrUsername.
func CheckUsername(name string) error {
	if !usernames.MatchString(name) {
		return fmt.Errorf("%w: %s; use 1 to 16 letters, digits or underscores", ErrUsername, Quote(name))
	}
	return nil
}

// check fills in defaults and refuses what cannot work.
func (o *Options) check() error {
	if !o.Protocol.Known() {
		return UnknownProtocol(int32(o.Protocol), "")
	}
	if err := CheckUsername(o.Username); err != nil {
		return err
	}
	if o.Intent == 0 {
		o.Intent = wire.IntentLogin
	}
	if o.UUID == (worldstate.UUID{}) {
		o.UUID = OfflineUUID(o.Username)
	}
	if o.Brand == "" {
		o.Brand = "blockworld"
	}
	if o.Locale == "" {
		o.Locale = "en_us"
	}
	if o.ViewDistance == 0 {
		o.ViewDistance = 10
	}
	o.ViewDistance = min(max(o.ViewDistance, 2), 32)
	return nil
}

// UnknownProtocol is the error for a protocol outside the table, with the list of the known ones. Name is what the
// server calls its version, if it said so.
func UnknownProtocol(number int32, name string) error {
	known := ""
	for i, p := range registry.Protocols() {
		if i > 0 {
			known += ", "
		}
		known += p.String()
	}
	if name != "" {
		name = fmt.Sprintf(" (the server calls it %s)", Quote(name))
	}
	return fmt.Errorf("%w %d%s; known are %s", ErrUnknownProtocol, number, name, known)
}
