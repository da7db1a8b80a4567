package token

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"blockworld/controlplane"
	"blockworld/controlplane/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// clock is a clock that goes when it is told to.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newKeeper(t *testing.T) (*Keeper, store.Engine, *clock) {
	t.Helper()
	e := store.Memory()
	t.Cleanup(func() { e.Close() })
	c := &clock{start}
	return New(e, c.Now, nil), e, c
}

func aUser() Grant {
	return Grant{ID: "laptop", Kind: User, Principal: "alice", Scopes: []controlplane.Scope{controlplane.ScopeRead, controlplane.ScopeExecute}, Actors: []string{"builder-*"}}
}

func TestATokenIsKnownByItsSecret(t *testing.T) {
	k, _, _ := newKeeper(t)
	secret, made, err := k.Make(aUser())
	if err != nil {
		t.Fatal(err)
	}
	found, err := k.Find(secret)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, found); diff != "" {
		t.Error(diff)
	}
	all, err := k.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Token{made}, all); diff != "" {
		t.Error(diff)
	}
	other, _, err := k.Make(Grant{Kind: Host, Principal: "bots-1"})
	if err != nil || other == secret || len(other) != secretSize {
		t.Errorf("another token: %q, %v", other, err)
	}
	if _, err := k.Find(other); err != nil {
		t.Error(err)
	}
}

func TestWhatIsWrongWithATokenIsToldByItsCode(t *testing.T) {
	k, e, c := newKeeper(t)
	good, _, err := k.Make(aUser())
	if err != nil {
		t.Fatal(err)
	}
	short := aUser()
	short.ID, short.Expires = "short", start.Add(time.Minute)
	expiring, _, err := k.Make(short)
	if err != nil {
		t.Fatal(err)
	}
	lost := aUser()
	lost.ID = "lost"
	revoked, _, err := k.Make(lost)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if _, err := k.Revoke("lost"); err != nil {
			t.Fatal(err)
		}
	}
	c.now = start.Add(time.Minute)
	flipped := good[:len(good)-2] + "AA"
	for name, v := range map[string]struct {
		secret string
		code   controlplane.Code
	}{
		"good":                   {good, ""},
		"none":                   {"", CodeMissing},
		"expired to the instant": {expiring, CodeExpired},
		"revoked":                {revoked, CodeRevoked},
		"another ending":         {flipped, CodeWrong},
		"half a revoked one":     {revoked[:20], CodeWrong},
		"too long":               {good + "A", CodeWrong},
		"another prefix":         {"bx_" + good[3:], CodeWrong},
		"a megabyte":             {strings.Repeat("A", 1<<20), CodeWrong},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.Find(v.secret)
			if got := controlplane.CodeOf(err); got != v.code {
				t.Fatalf("code %q, want %q (%v)", got, v.code, err)
			}
			if err != nil && v.secret != "" && strings.Contains(err.Error(), v.secret) {
				t.Error("the error tells the secret")
			}
		})
	}
	if _, err := k.Revoke("nobody"); controlplane.CodeOf(err) != controlplane.CodeNotFound {
		t.Errorf("revoking what is not there: %v", err)
	}
	if again := New(e, c.Now, nil); true {
		if _, err := again.Find(revoked); controlplane.CodeOf(err) != CodeRevoked {
			t.Errorf("another keeper of the store: %v", err)
		}
	}
}

func TestAGrantIsChecked(t *testing.T) {
	for name, change := range map[string]func(*Grant){
		"CP-02/a principal that is no id":                func(g *Grant) { g.Principal = "Alice Cooper" },
		"CP-03/a host's token for the daemon's own host": func(g *Grant) { *g = Grant{Kind: Host, Principal: "local"} },
		"CP-02/no principal":                             func(g *Grant) { g.Principal = "" },
		"CP-03/no scope":                                 func(g *Grant) { g.Scopes = nil },
		"no kind":                                        func(g *Grant) { g.Kind = "" },
		"another kind":                                   func(g *Grant) { g.Kind = "root" },
		"an id that is none":                             func(g *Grant) { g.ID = "my laptop" },
		"no actors":                                      func(g *Grant) { g.Actors = nil },
		"an empty actor":                                 func(g *Grant) { g.Actors = []string{""} },
		"a host with scopes":                             func(g *Grant) { g.Kind, g.Actors = Host, nil },
		"a host with actors":                             func(g *Grant) { g.Kind, g.Scopes = Host, nil },
		"expired already":                                func(g *Grant) { g.Expires = start },
	} {
		t.Run(name, func(t *testing.T) {
			k, _, _ := newKeeper(t)
			g := aUser()
			change(&g)
			if _, _, err := k.Make(g); controlplane.CodeOf(err) != controlplane.CodeInvalid {
				t.Errorf("%v", err)
			}
			if all, _ := k.List(); len(all) != 0 {
				t.Error("stored nevertheless")
			}
		})
	}
	t.Run("an id twice", func(t *testing.T) {
		k, _, _ := newKeeper(t)
		_, _, first := k.Make(aUser())
		if _, _, err := k.Make(aUser()); first != nil || controlplane.CodeOf(err) != controlplane.CodeConflict {
			t.Errorf("%v, %v", first, err)
		}
	})
	t.Run("no randomness", func(t *testing.T) {
		k, e, c := newKeeper(t)
		k = New(e, c.Now, bytes.NewReader(nil))
		if _, _, err := k.Make(aUser()); !errors.Is(err, io.EOF) {
			t.Errorf("%v", err)
		}
	})
}

func TestOnlyHashesAreStored(t *testing.T) {
	t.Run("CP-21/no token in a file", func(t *testing.T) {
		dir := t.TempDir()
		e, err := store.Open(filepath.Join(dir, "control.db"), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		k := New(e, func() time.Time { return start }, rand.Reader)
		secret, _, err := k.Make(aUser())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			for _, part := range []string{secret, secret[3:], secret[10:30]} {
				if bytes.Contains(b, []byte(part)) {
					t.Errorf("%s holds the secret", path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Run("RU-05/looking up and listing change no byte", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "control.db")
		e, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		k := New(e, func() time.Time { return start }, rand.Reader)
		secret, _, err := k.Make(aUser())
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			_, found := k.Find(secret)
			_, wrong := k.Find(secret[:10])
			if _, err := k.List(); err != nil || found != nil || wrong == nil {
				t.Fatal(err, found, wrong)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the file has changed (%v)", err)
		}
	})
}

func TestAFullStoreForgetsWhatIsDead(t *testing.T) {
	k, e, _ := newKeeper(t)
	err := e.Update(func(tx store.Tx) error {
		for i := range MaxTokens {
			s := store.Token{ID: fmt.Sprint("t-", i), Principal: "alice", Kind: "user", Created: 1}
			s.Hash[0], s.Hash[1], s.Hash[2] = byte(i), byte(i>>8), 1
			if err := store.TokensOf(tx).Put(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Make(aUser()); controlplane.CodeOf(err) != controlplane.CodeCapacity {
		t.Fatalf("%v", err)
	}
	if _, err := k.Revoke("t-7"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Make(aUser()); err != nil {
		t.Fatal(err)
	}
	if all, err := k.List(); err != nil || len(all) != MaxTokens {
		t.Errorf("%d tokens, %v", len(all), err)
	}
}

func TestARecordOfAnotherVersionIsRefused(t *testing.T) {
	for name, s := range map[string]store.Token{
		"an unknown scope": {ID: "x", Principal: "alice", Kind: "user", Scopes: []string{"root"}},
		"an unknown kind":  {ID: "x", Principal: "alice", Kind: "robot"},
	} {
		t.Run("RU-04/"+name, func(t *testing.T) {
			k, e, _ := newKeeper(t)
			s.Hash[0] = 1
			if err := e.Update(func(tx store.Tx) error { return store.TokensOf(tx).Put(s) }); err != nil {
				t.Fatal(err)
			}
			if _, err := k.List(); err == nil {
				t.Error("it was read")
			}
		})
	}
}
