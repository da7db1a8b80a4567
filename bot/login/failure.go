package login

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Phase is how far a session has come.
type Phase uint8

// The phases, in order.
const (
	PhaseConnect Phase = iota // nothing was sent yet
	PhaseLogin
	PhaseEncryption // waiting for the session server
	PhaseConfiguration
	PhaseJoining // configuration is done, the play login has not come yet
	PhasePlay
)

// String names the phase in one word.
func (p Phase) String() string {
	names := [...]string{"connect", "login", "encryption", "configuration", "joining", "play"}
	if int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("phase(%d)", p)
}

// SessionError is why a session ended, with the phase and the last packet seen.
type SessionError struct {
	Phase Phase
	Last  string // name of the last packet received, empty if there was none
	Err   error
}

// Error names the phase, the last packet received and the cause.
func (e *SessionError) Error() string {
	last := "no packet had arrived"
	if e.Last != "" {
		last = "last packet " + e.Last
	}
	return fmt.Sprintf("%s phase (%s): %v", e.Phase, last, e.Err)
}

func (e *SessionError) Unwrap() error { return e.Err }

// Kicked is a disconnect by the server. Reason is the server's own text, made plain and without control characters;
// it is untrusted, and Error shows its beginning only. It matches ErrKicked.
type Kicked struct {
	Reason string
	Plain  string // what that means, in our words; empty if the text is not a known one
}

// Error quotes the server's reason, with what it means in front where that is known.
func (k *Kicked) Error() string {
	if k.Plain != "" {
		return fmt.Sprintf("kicked: %s (%s)", k.Plain, Quote(k.Reason))
	}
	if k.Reason == "" {
		return "kicked without a reason"
	}
	return "kicked: " + Quote(k.Reason)
}

// maxShown is how many characters of a server's text people are shown.
const maxShown = 300

// Quote quotes a server's text for people, its beginning if it is long. The text itself may have thousands of characters.
func Quote(text string) string {
	shown := 0
	for at := range text {
		if shown++; shown > maxShown {
			return fmt.Sprintf("%q... and %d characters more", text[:at], utf8.RuneCountInString(text[at:]))
		}
	}
	return strconv.Quote(text)
}

// Is makes errors.Is(err, ErrKicked) true.
func (k *Kicked) Is(target error) bool { return target == ErrKicked }

// newKicked reads a disconnect text.
func newKicked(reason string) *Kicked {
	return &Kicked{Reason: reason, Plain: plainKick(reason)}
}

// plainKick explains the translation keys and the texts that vanilla and the common server programs send.
func plainKick(reason string) string {
	lower := strings.ToLower(reason)
	for _, k := range kickTexts {
		if strings.Contains(lower, k.mark) {
			return k.plain
		}
	}
	return ""
}

// kickTexts maps a mark in a disconnect text, lower case, to plain words. First match wins.
var kickTexts = []struct{ mark, plain string }{
	{"disconnect.duplicate_login", "this account logged in again from somewhere else"},
	{"logged in from another location", "this account logged in again from somewhere else"},
	{"disconnect.not_whitelisted", "the server has a whitelist and this account is not on it"},
	{"not white-listed", "the server has a whitelist and this account is not on it"},
	{"not whitelisted", "the server has a whitelist and this account is not on it"},
	{"disconnect.banned", "this account or address is banned on the server"},
	{"you are banned", "this account or address is banned on the server"},
	{"disconnect.server_full", "the server is full"},
	{"server is full", "the server is full"},
	{"disconnect.server_shutdown", "the server is shutting down"},
	{"server closed", "the server is shutting down"},
	{"disconnect.outdated_client", "the server runs a newer version than the one chosen; set --version"},
	{"outdated client", "the server runs a newer version than the one chosen; set --version"},
	{"disconnect.outdated_server", "the server runs an older version than the one chosen; set --version"},
	{"outdated server", "the server runs an older version than the one chosen; set --version"},
	{"disconnect.incompatible", "the server runs another version than the one chosen; set --version"},
	{"disconnect.unverified_username", "the server is in online mode and could not verify this account"},
	{"failed to verify username", "the server is in online mode and could not verify this account"},
	{"disconnect.authservers_down", "the server could not reach the session servers"},
	{"disconnect.name_taken", "this username is already taken on the server"},
	{"disconnect.transfers_disabled", "the server takes no transferred players"},
	{"disconnect.not_allowed", "the server does not let this account join"},
	{"disconnect.ip_mismatch", "the session server saw another address than the server"},
	{"disconnect.unexpected_query_response", "the server asked a login question that this client must not answer"},
	{"requiredtexturepack.disconnect", "the server requires its resource pack; accept resource packs to stay"},
	{"requiredresourcepack", "the server requires its resource pack; accept resource packs to stay"},
	{"disconnect.flying", "the server does not allow flight and took the bot for flying"},
	{"flying is not enabled", "the server does not allow flight and took the bot for flying"},
	{"disconnect.invalid_player_movement", "the server did not accept a movement packet"},
	{"invalid move player packet", "the server did not accept a movement packet"},
	{"disconnect.idling", "the server throws out idle players"},
	{"idle for too long", "the server throws out idle players"},
	{"chat message validation", "the server lost the order of chat acknowledgements"},
	{"too many unacknowledged", "too many chat messages were left unacknowledged"},
	{"missing profile public key", "the server requires signed chat, which needs an account"},
	{"illegal characters", "a chat line held characters that the server does not allow"},
	{"kicked for spamming", "the server took the bot for a spammer; lower the rate"},
	{"name is already taken", "this username is already taken on the server"},
	{"authentication servers are down", "the server could not reach the session servers"},
	{"disconnect.chat_validation_failed", "the server lost the order of chat acknowledgements"},
	{"disconnect.too_many_pending_chats", "too many chat messages were left unacknowledged"},
	{"disconnect.missing_public_key", "the server requires signed chat, which needs an account"},
	{"disconnect.illegal_characters", "a chat line held characters that the server does not allow"},
	{"disconnect.spam", "the server took the bot for a spammer; lower the rate"},
	{"disconnect.exceeded_packet_rate", "the bot sent more packets than the server allows; lower the rate"},
	{"disconnect.unexpected", "an error on the server's side while it handled a packet"},
	{"internal exception", "an error on the server's side while it handled a packet"},
	{"disconnect.timeout", "the server saw no answer in time"},
	{"timed out", "the server saw no answer in time"},
	{"disconnect.slow_login", "the login took longer than the server allows"},
	{"took too long to log in", "the login took longer than the server allows"},
	{"disconnect.kicked", "an operator kicked the bot"},
	{"kicked by an operator", "an operator kicked the bot"},
	{"connection throttled", "the server limits how often one address may connect; wait before the next try"},
	{"velocity", "the server takes players only through its proxy"},
	{"bungeecord", "the server takes players only through its proxy"},
	{"forge", "the server needs a modded client"},
	{"fabric", "the server needs a modded client"},
	{"disconnect.generic", "the server gave no particular reason"},
}
