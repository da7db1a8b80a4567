package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
)

// TestLoneBuild: a build by this program alone goes through a gateway of its own, and through nothing else.
func TestLoneBuild(t *testing.T) {
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
		govern(t, data, func(ctx context.Context, g *controlplane.Gateway, p controlplane.Principal) error {
			_, err := g.ClearStop(ctx, p, loneActor("Blockworld"))
			return err
		})
	})
	t.Run("CP-01/every placement of a build is an operation with the journal's receipt", func(t *testing.T) {
		got := ran(t.Context(), "build", "--resume", "--rate", "0", "--data", data, "--json")
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
