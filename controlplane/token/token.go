package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Kind says for whom a token speaks.
type Kind string

// The kinds.
const (
	User Kind = "user" // a principal: a person, an agent, a program
	Host Kind = "host" // the process that runs bots
)

// Own is the name under which a daemon runs its own bots unless its configuration says otherwise. No token speaks for it.
const Own host.Name = "local"

// Limits.
const (
	MaxActors = 256  // patterns of visible actors of one token
	MaxTokens = 4096 // kept, revoked and expired ones too
)

// Codes of refusals that are about tokens.
const (
	CodeMissing controlplane.Code = "token_missing" // none was shown
	CodeWrong   controlplane.Code = "token_wrong"   // it is none of this server
	CodeExpired controlplane.Code = "token_expired"
	CodeRevoked controlplane.Code = "token_revoked"
	CodeKind    controlplane.Code = "token_kind" // a user's where a host's is needed, or the other way round
)

// Grant is what a token is good for.
type Grant struct {
	ID        host.Name            // names the token for people; empty: it is given one
	Kind      Kind                 // user or host
	Principal host.Name            // whom it speaks for: the principal, or the host
	Scopes    []controlplane.Scope // of a user; a host has none
	Actors    []string             // of a user: the actors it sees; a trailing * stands for any ending
	Expires   time.Time            // zero: never
}

// Token is a grant as kept. It holds no secret.
type Token struct {
	Grant
	Created time.Time
	Revoked time.Time // zero: it was not
}

// Store is what tokens need of the control plane's store.
type Store interface {
	Update(f func(store.Tx) error) error
	View(f func(store.Tx) error) error
}

// Keeper makes, finds, lists and revokes tokens. It keeps nothing in memory, so two keepers of one store agree.
type Keeper struct {
	store Store
	now   func() time.Time
	rand  io.Reader
}

// New returns the keeper of the tokens in s. now is asked for expiry; random is crypto/rand's reader when nil.
func New(s Store, now func() time.Time, random io.Reader) *Keeper {
	if random == nil {
		random = rand.Reader
	}
	return &Keeper{store: s, now: now, rand: random}
}

// A secret is written "bw_" and 43 characters of base64url (256 random bits). The prefix lets those who scan repositories
// and logs know one when they see it.
const (
	prefix     = "bw_"
	keyBytes   = 32
	idBytes    = 4
	secretSize = len(prefix) + 43
)

// Make stores a new token for g and returns its secret, which nobody can be told again.
func (k *Keeper) Make(g Grant) (secret string, t Token, err error) {
	var b [keyBytes + idBytes]byte
	if _, err := io.ReadFull(k.rand, b[:]); err != nil {
		return "", Token{}, fmt.Errorf("draw a token: %w", err)
	}
	if g.ID == "" {
		g.ID = host.Name("t-" + hex.EncodeToString(b[keyBytes:]))
	}
	now := k.now()
	if err := g.check(now); err != nil {
		return "", Token{}, err
	}
	secret = prefix + base64.RawURLEncoding.EncodeToString(b[:keyBytes])
	t = Token{Grant: g, Created: now}
	err = k.store.Update(func(tx store.Tx) error {
		if err := makeRoom(tx, g.ID, operation.InstantOf(now)); err != nil {
			return err
		}
		return store.TokensOf(tx).Put(t.stored(sha256.Sum256([]byte(secret))))
	})
	if err != nil {
		return "", Token{}, err
	}
	return secret, t, nil
}

// makeRoom refuses an id that is taken, and forgets one token that is good for nothing when there are as many as are kept.
func makeRoom(tx store.Tx, id host.Name, now operation.Instant) error {
	n, taken, dead := 0, false, effects.Digest{}
	err := store.TokensOf(tx).Each(func(o store.Token) bool {
		n, taken = n+1, taken || o.ID == string(id)
		if o.Revoked != 0 || o.Expires != 0 && o.Expires <= now {
			dead = o.Hash
		}
		return true
	})
	switch {
	case err != nil:
		return fmt.Errorf("read the tokens: %w", err)
	case taken:
		return controlplane.Errorf(controlplane.CodeConflict, "there is a token %s already: choose another id", id)
	case n < MaxTokens:
		return nil
	case dead == effects.Digest{}:
		return controlplane.Errorf(controlplane.CodeCapacity, "there are %d tokens, the most that are kept: revoke one that is not needed", n)
	}
	tx.Delete(store.Tokens, dead[:])
	return nil
}

// Find returns the token that secret belongs to, or an error whose code says what is wrong with it. That a token is
// revoked or expired is told to whoever has the whole secret only; everybody else is told that it is wrong.
func (k *Keeper) Find(secret string) (Token, error) {
	if secret == "" {
		return Token{}, controlplane.Errorf(CodeMissing, "no token was shown: send the header Authorization: Bearer TOKEN")
	}
	hash := effects.Digest(sha256.Sum256([]byte(secret)))
	var found store.Token
	if len(secret) == secretSize && strings.HasPrefix(secret, prefix) {
		err := k.store.View(func(tx store.Tx) (err error) {
			found, _, err = store.TokensOf(tx).Get(hash)
			return err
		})
		if err != nil {
			return Token{}, fmt.Errorf("read a token: %w", err)
		}
	}
	// The look-up goes by the hash, whose neighbours nobody can choose; the comparison behind it takes the same time for
	// every hash, and is made for one that was not found too.
	if subtle.ConstantTimeCompare(found.Hash[:], hash[:]) != 1 {
		return Token{}, controlplane.Errorf(CodeWrong, "the token is none of this server: check it, or have one made")
	}
	t, err := loaded(found)
	switch {
	case err != nil:
		return Token{}, err
	case !t.Revoked.IsZero():
		return Token{}, controlplane.Errorf(CodeRevoked, "the token was revoked: have another one made")
	case !t.Expires.IsZero() && !k.now().Before(t.Expires):
		return Token{}, controlplane.Errorf(CodeExpired, "the token has expired: have another one made")
	}
	return t, nil
}

// List returns all tokens, revoked and expired ones too, by id.
func (k *Keeper) List() ([]Token, error) {
	all := []Token{}
	err := k.store.View(func(tx store.Tx) error {
		var bad error
		err := store.TokensOf(tx).Each(func(s store.Token) bool {
			var t Token
			if t, bad = loaded(s); bad == nil {
				all = append(all, t)
			}
			return bad == nil
		})
		if err == nil {
			err = bad
		}
		return err
	})
	slices.SortFunc(all, func(a, b Token) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, err
}

// Revoke ends a token for ever, from the next request on that shows it. Revoking it twice changes nothing.
func (k *Keeper) Revoke(id string) (Token, error) {
	var t Token
	now := k.now()
	err := k.store.Update(func(tx store.Tx) error {
		var found *store.Token
		tokens := store.TokensOf(tx)
		err := tokens.Each(func(s store.Token) bool {
			if s.ID == id {
				found = &s
			}
			return found == nil
		})
		switch {
		case err != nil:
			return fmt.Errorf("read the tokens: %w", err)
		case found == nil:
			return controlplane.Errorf(controlplane.CodeNotFound, "there is no token of that id: list the tokens to see which there are")
		}
		if found.Revoked == 0 {
			found.Revoked = operation.InstantOf(now)
			if err := tokens.Put(*found); err != nil {
				return fmt.Errorf("store a token: %w", err)
			}
		}
		t, err = loaded(*found)
		return err
	})
	return t, err
}
