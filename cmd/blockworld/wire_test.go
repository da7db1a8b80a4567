package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/controlplane/token"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
)

// TestLoneBuild: a build by this program alone goes through a gateway of its own, and through nothing else.
func TestLoneBuild(t *testing.T) {
	t.Parallel()
	s := creative(t)
	file, data := schematic(t), filepath.Join(t.TempDir(), "data")
	if got := ran(t.Context(), "probe", s.Addr(), "--data", data); got.code != exitDone {
		t.Fatal(got)
	}
	build := []string{"build", file, "--server", s.Addr(), "--data", data, "--at", "2,-60,2", "--rate", "0", "--json"}

	t.Run("CP-01/build under a latched stop sends nothing", func(t *testing.T) {
		govern(t, data, func(ctx context.Context, g *controlplane.Gateway, p controlplane.Principal) error {
			_, err := g.Stop(ctx, p, loneActor("Blockworld"), "somebody is in the way")
			return err
		})
		got := ran(t.Context(), build...)
		if got.code != exitDenied || !strings.Contains(got.errs, "stopped") || !strings.Contains(got.errs, "somebody is in the way") {
			t.Errorf("exit %d: %s", got.code, got.errs)
		}
		if uses := used(s); uses != 0 {
			t.Errorf("%d uses were sent", uses)
		}
		if all := kept(t, data); len(all) != 0 {
			t.Errorf("%d operations", len(all))
		}
		if !strings.Contains(got.errs, "--clear-stop") {
			t.Errorf("nothing is said of how to lift it: %s", got.errs)
		}
	})
	t.Run("a stop is lifted by its owner's word alone", func(t *testing.T) {
		if got := ran(t.Context(), "build", "--resume", "--rate", "0", "--data", data); got.code != exitDenied {
			t.Fatalf("without the word: %+v", got)
		}
	})
	t.Run("CP-01/every placement of a build is an operation with the journal's receipt", func(t *testing.T) {
		got := ran(t.Context(), "build", "--resume", "--clear-stop", "--rate", "0", "--data", data, "--json")
		var r buildReport
		if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != exitDone || !r.Done {
			t.Fatalf("%v: %+v", err, got)
		}
		j, err := journal.Open(data, journal.Options{MustExist: true})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		macros, placed := 0, 0
		for id, op := range kept(t, data) {
			v := operation.ViewOf(op)
			switch {
			case !v.Terminal:
				t.Errorf("%+v", v)
			case op.Kind == host.KindMacro:
				macros++
				if op.Action.Capability != "build_structure" || v.State != operation.Succeeded {
					t.Errorf("%+v", v)
				}
			case op.Action.Capability == "place_block":
				placed++
				receipt, proven, err := j.Receipt(id)
				n, _, nerr := j.ReceiptNumber(id)
				if err != nil || nerr != nil || !proven || !v.ExecutionConfirmed || op.Outcome.Receipt.Number != n || op.Outcome.Receipt.Digest != receipt.Digest() {
					t.Errorf("receipt %d of the journal (%v, %v): %+v", n, err, nerr, v)
				}
			}
		}
		if macros != 1 || placed != r.Receipts || placed != used(s) {
			t.Errorf("%d operations of a mission, %d placements, %d receipts, %d uses", macros, placed, r.Receipts, used(s))
		}
	})
	t.Run("CP-01/a complete mission needs no operation", func(t *testing.T) {
		before := len(kept(t, data))
		if got := ran(t.Context(), "build", "--resume", "--data", data); got.code != exitDone {
			t.Error(got)
		}
		if now := len(kept(t, data)); now != before {
			t.Errorf("%d operations more", now-before)
		}
	})
}

// used counts the uses that the server saw.
func used(s *server.Server) (n int) {
	for _, e := range s.Log() {
		if len(e.Cells) > 0 {
			n++
		}
	}
	return n
}

// govern does something at a data folder's gateway while no build has it.
func govern(t *testing.T, data string, f func(context.Context, *controlplane.Gateway, controlplane.Principal) error) {
	t.Helper()
	e, err := store.Open(filepath.Join(data, controlFile), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	rules, err := policy.Compile(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	actor := loneActor("Blockworld")
	g, err := controlplane.New(controlplane.Options{Engine: e, Policy: rules, Owners: map[host.Name]host.Name{actor: lonePrincipal}, Now: time.Now, Rand: rand.Reader})
	if err == nil {
		err = f(t.Context(), g, controlplane.Principal{ID: lonePrincipal, Scopes: controlplane.Scopes(allScopes()...), Actors: []string{string(actor)}})
		g.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kept reads every operation of a data folder.
func kept(t *testing.T, data string) map[effects.ActionID]operation.Operation {
	t.Helper()
	e, err := store.Open(filepath.Join(data, controlFile), store.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	out := map[effects.ActionID]operation.Operation{}
	err = e.View(func(tx store.Tx) error {
		return store.Ops(tx).All(host.OpID{}, func(op operation.Operation) bool {
			out[op.ID] = op
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLoneBuildsPruneTheirStore: what missions before left in a data folder does not stay for ever.
func TestLoneBuildsPruneTheirStore(t *testing.T) {
	t.Parallel()
	s := creative(t)
	file, data := schematic(t), filepath.Join(t.TempDir(), "data")
	build := func(at string, args ...string) {
		t.Helper()
		got := ran(t.Context(), append([]string{"build", file, "--server", s.Addr(), "--data", data, "--at", at, "--rate", "0"}, args...)...)
		if got.code != exitDone {
			t.Fatal(got)
		}
	}
	if got := ran(t.Context(), "probe", s.Addr(), "--data", data); got.code != exitDone {
		t.Fatal(got)
	}
	build("2,-60,2")
	first := kept(t, data)
	if got := ran(t.Context(), "build", "--resume", "--data", data); got.code != exitDone || len(kept(t, data)) != len(first) {
		t.Fatalf("the mission's own operations do not stay: %+v", got)
	}
	build("2,-60,4")
	second := kept(t, data)
	for id := range first {
		if _, there := second[id]; there {
			t.Errorf("operation %s of the mission before is still there", id)
		}
	}
	if len(second) == 0 {
		t.Error("the second mission left no operation")
	}
	e, err := store.Open(filepath.Join(data, controlFile), store.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	receipts := 0
	err = e.View(func(tx store.Tx) error {
		for id, op := range first {
			key, found, err := store.KeysOf(tx).Get(op.Principal, op.Key)
			if err != nil || !found || key.Op != id {
				t.Errorf("the key of %s is lost: %v", id, err)
			}
			if r, err := store.Ops(tx).Pruned(id); err != nil {
				t.Errorf("nothing is kept of %s: %v", id, err)
			} else if r.Receipt != nil {
				receipts++
			}
		}
		return nil
	})
	if err != nil || receipts == 0 {
		t.Errorf("%d receipts are kept, %v", receipts, err)
	}
	_, _, err = token.New(e, time.Now, nil).Make(token.Grant{Kind: token.User, Principal: "admin", Actors: []string{"*"}, Scopes: allScopes()})
	if err = errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	build("2,-60,-2")
	third := kept(t, data)
	for id := range second {
		if _, there := third[id]; !there {
			t.Fatalf("operation %s was pruned, although a daemon works on the store too", id)
		}
	}
}
