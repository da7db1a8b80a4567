package api_test

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/store"
)

func TestABackupIsTheStore(t *testing.T) {
	w := newWorld(t)
	v := w.queued("bot1")
	var copied bytes.Buffer
	n, err := w.root.Backup(w.ctx, &copied)
	w.ok(err)
	file := filepath.Join(t.TempDir(), "copy.db")
	w.ok(os.WriteFile(file, copied.Bytes(), 0o600))
	if found, err := store.CheckFile(file); err != nil || len(found) > 0 || n != int64(copied.Len()) {
		t.Fatalf("%d bytes, %v, %v", n, found, err)
	}
	e, err := store.Open(file, store.Options{})
	w.ok(err)
	defer e.Close()
	w.ok(e.View(func(tx store.Tx) error { _, err := store.Ops(tx).Get(v.ID); return err }))

	t.Run("CP-03/it needs the scope admin", func(t *testing.T) {
		var none bytes.Buffer
		if _, err := w.ann.Backup(w.ctx, &none); controlplane.CodeOf(err) != controlplane.CodeForbidden || none.Len() > 0 {
			t.Errorf("%v, %d bytes", err, none.Len())
		}
	})
}

func TestABackupThatBreaksOffIsNone(t *testing.T) {
	w := newWorld(t)
	broken := errors.New("the disk is gone")
	ask := func(backup func(io.Writer) error) (string, error) {
		s, err := api.New(api.Options{Gateway: w.g, Hosts: w.g.Host(), Local: controlplane.Principal{ID: "local",
			Scopes: controlplane.Scopes(controlplane.ScopeAdmin)}, Backup: backup})
		w.ok(err)
		defer s.Close()
		web := httptest.NewServer(s)
		defer web.Close()
		c, err := client.New(client.Options{Base: web.URL, Attempts: 1})
		w.ok(err)
		defer c.Close()
		var got bytes.Buffer
		_, err = c.Backup(w.ctx, &got)
		return got.String(), err
	}
	for name, c := range map[string]struct {
		backup func(io.Writer) error
		code   controlplane.Code
	}{
		"in the middle": {func(w io.Writer) error {
			return errors.Join(errOf(io.WriteString(w, strings.Repeat("x", 1<<20))), broken)
		}, controlplane.CodeInternal},
		"at once":  {func(io.Writer) error { return broken }, controlplane.CodeInternal},
		"no store": {nil, controlplane.CodeUnavailable},
	} {
		got, err := ask(c.backup)
		if err == nil || controlplane.CodeOf(err) != c.code {
			t.Errorf("%s: %d bytes, and %v", name, len(got), err)
		}
	}
}

func errOf(_ int, err error) error { return err }

func TestATokenIsToldWhoItSpeaksFor(t *testing.T) {
	w := newWorld(t)
	me, err := w.ann.Me(w.ctx)
	w.ok(err)
	if me.Principal != "ann" || me.Token != "ann" || !slices.Equal(me.Scopes, driver) || !slices.Equal(me.Actors, annIs.Actors) {
		t.Errorf("%+v", me)
	}
}
