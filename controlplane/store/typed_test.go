package store

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

func usageOf(t testing.TB, e Engine) Usage {
	t.Helper()
	return view(t, e, func(tx Tx) (Usage, error) { return UsageIn(tx).Get("blocks", 3) })
}

func ids(f func(func(operation.Operation) bool) error) (all []host.OpID, err error) {
	err = f(func(op operation.Operation) bool { all = append(all, op.ID); return true })
	return all, err
}

func TestOperations(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		op := create(t, e, sketch(1), 1000)
		t.Run("CP-77/a key leads to its operation", func(t *testing.T) {
			must(t, e.View(func(tx Tx) error {
				k, ok, err := KeysOf(tx).Get("alice", "key-1")
				if err != nil || !ok || k != (Key{Op: op.ID, Payload: op.Payload}) {
					t.Error(k, ok, err)
				}
				_, ok, _ = KeysOf(tx).Get("alice", "key-2")
				_, other, _ := KeysOf(tx).Get("bob", "key-1")
				if ok || other {
					t.Error("a key of nobody")
				}
				return nil
			}))
		})
		t.Run("CP-78/neither key nor id is taken twice", func(t *testing.T) {
			again, same := sketch(2), sketch(1)
			again.Key, same.Key = "key-1", "key-9"
			for _, o := range []operation.Operation{again, same} {
				err := e.Update(func(tx Tx) error { _, _, err := Ops(tx).Create(o, allowed, 1); return err })
				if !errors.Is(err, ErrExists) {
					t.Error(err)
				}
			}
		})
		t.Run("CP-93/what is read is what was written", func(t *testing.T) {
			got := view(t, e, func(tx Tx) (operation.Operation, error) { return Ops(tx).Get(op.ID) })
			if d := cmp.Diff(op, got); d != "" {
				t.Error(d)
			}
		})
		t.Run("CP-45/reserved at the submit, used once the host took it", func(t *testing.T) {
			if u := usageOf(t, e); u != (Usage{0, 0, 1, 2}) {
				t.Error(u)
			}
			stepped(t, e, op.ID, 1001, operation.Polled{}, acked(op.ID))
			if u := usageOf(t, e); u != (Usage{1, 2, 0, 0}) {
				t.Error(u)
			}
		})
		t.Run("CP-46/given back when it is cancelled before", func(t *testing.T) {
			o := create(t, e, sketch(3), 1002)
			stepped(t, e, o.ID, 1003, operation.CancelAsked{Why: "no"})
			if u := usageOf(t, e); u != (Usage{1, 2, 0, 0}) {
				t.Error(u)
			}
		})
		t.Run("CP-84/a repeat writes nothing", func(t *testing.T) {
			before := e.Stats()
			stepped(t, e, op.ID, 2000, acked(op.ID))
			if after := e.Stats(); after.Writes != before.Writes || after.Commits != before.Commits {
				t.Errorf("%+v %+v", before, after)
			}
		})
		t.Run("CP-47/a change that fails behind it takes operation, key and budget back", func(t *testing.T) {
			err := e.Update(func(tx Tx) error {
				if _, _, err := Ops(tx).Create(sketch(4), allowed, 1); err != nil {
					t.Error(err)
				}
				return errNo
			})
			if _, e2 := viewOp(e, opID(4)); !errors.Is(err, errNo) || !errors.Is(e2, ErrNotFound) || usageOf(t, e) != (Usage{1, 2, 0, 0}) {
				t.Error(err, e2, usageOf(t, e))
			}
		})
		t.Run("an end leaves the list of the unfinished", func(t *testing.T) {
			stepped(t, e, op.ID, 1004, succeeded(op.ID))
			open := view(t, e, func(tx Tx) ([]host.OpID, error) { return ids(Ops(tx).Unfinished) })
			if len(open) != 0 {
				t.Error(open)
			}
		})
		sound(t, e)
	})
}

func viewOp(e Engine, id host.OpID) (op operation.Operation, err error) {
	err = e.View(func(tx Tx) error { op, err = Ops(tx).Get(id); return err })
	return op, err
}

func TestListings(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		parent := sketch(100)
		parent.Kind, parent.Actor, parent.Key = host.KindMacro, "bot-1", "parent"
		parent = create(t, e, parent, 500)
		for n := uint64(1); n <= 12; n++ {
			op := sketch(n)
			if n%3 == 0 {
				op.Parent, op.Task = parent.ID, "tower"
			}
			create(t, e, op, operation.Instant(1000+n/2)) // two at the same moment
		}
		must(t, e.View(func(tx Tx) error {
			actor, err := ids(func(f func(operation.Operation) bool) error { return Ops(tx).ByActor("bot-1", Place{}, f) })
			if want := []host.OpID{opID(9), opID(5), opID(1), parent.ID}; err != nil || !slices.Equal(actor, want) {
				t.Error("by actor", actor, err)
			}
			task, err := ids(func(f func(operation.Operation) bool) error { return Ops(tx).ByTask("tower", Place{}, f) })
			if want := []host.OpID{opID(12), opID(9), opID(6), opID(3)}; err != nil || !slices.Equal(task, want) {
				t.Error("by task", task, err)
			}
			children, err := ids(func(f func(operation.Operation) bool) error { return Ops(tx).ByParent(parent.ID, f) })
			if slices.Reverse(task); err != nil || !slices.Equal(children, task) {
				t.Error("by parent", children, err)
			}
			all, err := ids(func(f func(operation.Operation) bool) error { return Ops(tx).All(host.OpID{}, f) })
			if err != nil || len(all) != 13 || all[0] != parent.ID {
				t.Error("all", len(all), err)
			}
			none, err := ids(func(f func(operation.Operation) bool) error { return Ops(tx).ByActor("bot", Place{}, f) })
			if err != nil || len(none) != 0 {
				t.Error("an actor whose name begins another's", none, err)
			}
			return nil
		}))
		t.Run("a listing goes on where it stopped", func(t *testing.T) {
			must(t, e.View(func(tx Tx) error {
				var got []host.OpID
				for at := (Place{}); ; {
					n := len(got)
					must(t, Ops(tx).ByTask("house", at, func(op operation.Operation) bool {
						got, at = append(got, op.ID), Place{op.Created, op.ID}
						return len(got) < n+2
					}))
					if len(got) == n {
						break
					}
				}
				if want := []uint64{11, 10, 8, 7, 5, 4, 2, 1, 100}; len(got) != len(want) || got[0] != opID(11) || got[8] != opID(100) {
					t.Error(got)
				}
				return nil
			}))
		})
		sound(t, e)
	})
}

func TestPrune(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		macro := sketch(500)
		macro.Kind, macro.Key = host.KindMacro, "macro"
		macro = create(t, e, macro, 1)
		stepped(t, e, macro.ID, 1, operation.Polled{}, acked(macro.ID))
		for n := uint64(1); n <= 200; n++ {
			op := sketch(n)
			if n%50 == 0 {
				op.Parent = macro.ID
			}
			op = create(t, e, op, operation.Instant(1000+n))
			if n%10 != 1 {
				stepped(t, e, op.ID, operation.Instant(1000+n), operation.Polled{}, acked(op.ID), succeeded(op.ID))
			}
		}
		used := usageOf(t, e)
		// Before 1101: 1..100, of which 10 are open and 50 and 100 are children of an open macro.
		first, err := Prune(e, 1101, 70)
		second, err2 := Prune(e, 1101, 1000)
		third, err3 := Prune(e, 1101, 1000)
		if first != 70 || second != 18 || third != 0 || errors.Join(err, err2, err3) != nil {
			t.Error(first, second, third, err, err2, err3)
		}
		sound(t, e)
		t.Run("CP-79/the key of a pruned operation is still taken, and says how it ended", func(t *testing.T) {
			must(t, e.View(func(tx Tx) error {
				k, ok, err := KeysOf(tx).Get("alice", "key-2")
				if err != nil || !ok || !k.Pruned || k.Op != opID(2) || k.Payload != sketch(2).Payload {
					t.Error(k, ok, err)
				}
				r, err := Ops(tx).Pruned(k.Op)
				if err != nil || r.State != operation.Succeeded || r.Receipt == nil || r.Receipt.Number != 4 || r.Ended == (effects.Digest{}) {
					t.Error(r, err)
				}
				if _, err := Ops(tx).Get(k.Op); !errors.Is(err, ErrNotFound) {
					t.Error(err)
				}
				return nil
			}))
			for _, o := range []operation.Operation{sketch(2)} {
				err := e.Update(func(tx Tx) error { _, _, err := Ops(tx).Create(o, allowed, 1); return err })
				if !errors.Is(err, ErrExists) {
					t.Error(err)
				}
			}
		})
		t.Run("all are listed newest first, ended or not", func(t *testing.T) {
			must(t, e.View(func(tx Tx) error {
				for _, after := range []host.OpID{{}, opID(150), opID(1)} {
					all, err := ids(func(f func(operation.Operation) bool) error { return Ops(tx).All(after, f) })
					var want []host.OpID
					for n := uint64(501); n > 0; n-- {
						if _, err := Ops(tx).Get(opID(n)); err == nil && (after == host.OpID{} || bytes.Compare(func() []byte { id := opID(n); return id[:] }(), after[:]) < 0) {
							want = append(want, opID(n))
						}
					}
					if err != nil || !slices.Equal(all, want) {
						t.Error(len(all), len(want), err)
					}
				}
				few := 0
				must(t, Ops(tx).All(host.OpID{}, func(operation.Operation) bool { few++; return few < 7 }))
				if few != 7 {
					t.Error(few)
				}
				return nil
			}))
		})
		if usageOf(t, e) != used {
			t.Error("pruning changed budgets")
		}
	})
}

func TestRecords(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		lease := Lease{ID: "l", Actor: "bot", Holder: "alice", Acquired: 1, Renewed: 2, Expires: 3}
		stop := Stop{Actor: "bot", Latched: true, By: "owner", Why: "fire", At: 5}
		token := Token{ID: "t", Hash: effects.Digest{1}, Principal: "alice", Kind: "user", Scopes: []string{"read"}, Actors: []string{"*"}, Created: 9}
		var digest effects.Digest
		must(t, e.Update(func(tx Tx) error {
			digest = BlueprintsOf(tx).Put("house", []byte("bricks"))
			BlueprintsOf(tx).Put("copy", []byte("bricks"))
			return errors.Join(LeasesOf(tx).Put(lease), StopsOf(tx).Put(stop), TokensOf(tx).Put(token))
		}))
		must(t, e.View(func(tx Tx) error {
			l, ok, err := LeasesOf(tx).Get("bot")
			s, ok2, err2 := StopsOf(tx).Get("bot")
			k, ok3, err3 := TokensOf(tx).Get(effects.Digest{1})
			if !ok || !ok2 || !ok3 || l != lease || s != stop || cmp.Diff(k, token) != "" {
				t.Error(l, s, k, err, err2, err3)
			}
			if _, ok, err := LeasesOf(tx).Get("nobody"); ok || err != nil {
				t.Error(ok, err)
			}
			if d := named(tx, "copy"); d != digest || string(BlueprintsOf(tx).Get(d)) != "bricks" || BlueprintsOf(tx).Get(effects.Digest{}) != nil {
				t.Error(d)
			}
			return nil
		}))
		must(t, e.Update(func(tx Tx) error {
			LeasesOf(tx).Delete("bot")
			return nil
		}))
		sound(t, e)
		t.Run("RU-04/an unknown member of a stored record is an error", func(t *testing.T) {
			must(t, e.Update(func(tx Tx) error { tx.Put(Leases, []byte("x"), []byte(`{"id":"l","pet":"cat"}`)); return nil }))
			err := e.View(func(tx Tx) error { _, _, err := LeasesOf(tx).Get("x"); return err })
			if !errors.Is(err, ErrCorrupt) || len(e.Check()) != 1 {
				t.Error(err, e.Check())
			}
		})
		t.Run("RU-04/an unknown state of a stored operation is an error", func(t *testing.T) {
			op := create(t, e, sketch(1), 1000)
			must(t, e.Update(func(tx Tx) error {
				tx.Put(Unfinished, op.ID[:], []byte(`{"id":"`+op.ID.String()+`","state":"done"}`))
				return nil
			}))
			if _, err := viewOp(e, op.ID); !errors.Is(err, ErrCorrupt) || !errors.Is(err, operation.ErrUnknownValue) {
				t.Error(err)
			}
		})
	})
}

// TestCheckSeesDisagreement removes or bends one record at a time: each is found.
func TestCheckSeesDisagreement(t *testing.T) {
	parent := sketch(9)
	parent.Kind = host.KindMacro
	for name, harm := range map[string]func(tx Tx, op operation.Operation){
		"operation": func(tx Tx, op operation.Operation) { tx.Delete(Unfinished, op.ID[:]) },
		"moved": func(tx Tx, op operation.Operation) {
			tx.Put(Operations, op.ID[:], tx.Get(Unfinished, op.ID[:]))
			tx.Delete(Unfinished, op.ID[:])
		},
		"twice":     func(tx Tx, op operation.Operation) { tx.Put(Operations, op.ID[:], tx.Get(Unfinished, op.ID[:])) },
		"open more": func(tx Tx, op operation.Operation) { tx.Put(Unfinished, []byte("0123456789abcdef"), nil) },
		"key":       func(tx Tx, op operation.Operation) { tx.Delete(Keys, keyKey(op.Principal, op.Key)) },
		"key other": func(tx Tx, op operation.Operation) {
			tx.Put(Keys, keyKey(op.Principal, op.Key), Key{Op: parent.ID}.encode())
		},
		"actor":  func(tx Tx, op operation.Operation) { tx.Delete(ByActor, timeKey(op.Actor, op.Created, op.ID)) },
		"task":   func(tx Tx, op operation.Operation) { tx.Delete(ByTask, timeKey(op.Task, op.Created, op.ID)) },
		"parent": func(tx Tx, op operation.Operation) { tx.Delete(ByParent, parentKey(op.Parent, op.ID)) },
		"child":  func(tx Tx, op operation.Operation) { tx.Put(ByParent, parentKey(op.ID, op.ID), nil) },
		"usage":  func(tx Tx, op operation.Operation) { tx.Delete(UsageOf, usageKey("blocks", 3)) },
		"used": func(tx Tx, op operation.Operation) {
			tx.Put(UsageOf, usageKey("blocks", 3), Usage{1, 1, 7, 7}.encode())
		},
		"name":  func(tx Tx, op operation.Operation) { tx.Put(Names, []byte("n"), []byte("x")) },
		"print": func(tx Tx, op operation.Operation) { tx.Put(Blueprints, make([]byte, 32), []byte("x")) },
		"meta":  func(tx Tx, op operation.Operation) { tx.Put(Meta, []byte("pet"), []byte("cat")) },
		"bytes": func(tx Tx, op operation.Operation) { tx.Put(Unfinished, op.ID[:], []byte("{}")) },
	} {
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, e Engine) {
				create(t, e, parent, 900)
				op := sketch(1)
				op.Parent = parent.ID
				op = create(t, e, op, 1000)
				sound(t, e)
				must(t, e.Update(func(tx Tx) error { harm(tx, op); return nil }))
				found := e.Check()
				if len(found) == 0 || found[0].Where == "" || found[0].What == "" {
					t.Error("nothing was found")
				}
			})
		})
	}
}

// TestBudgetsAgree: whatever happens to operations in whatever order, budgets are what the operations say.
func TestBudgetsAgree(t *testing.T) {
	t.Run("CP-48/usage is right after any schedule and any restart", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			path := tempStore(t)
			e := opened(t, path)
			defer func() { e.Close() }()
			var made []host.OpID
			next := uint64(0)
			taken := map[host.OpID]bool{}
			rt.Repeat(map[string]func(*rapid.T){
				"create": func(rt *rapid.T) {
					next++
					made = append(made, create(t, e, sketch(next), 1000).ID)
				},
				"step": func(rt *rapid.T) {
					if len(made) == 0 {
						rt.Skip("none yet")
					}
					id := rapid.SampledFrom(made).Draw(rt, "operation")
					ev := rapid.SampledFrom([]operation.Event{operation.Polled{}, acked(id), succeeded(id), operation.CancelAsked{Why: "no"},
						operation.Gap{}, operation.Fenced{Why: operation.FenceLease}}).Draw(rt, "event")
					err := e.Update(func(tx Tx) error {
						op, _, err := Ops(tx).Step(id, ev, 2000)
						if err == nil && op.Acked {
							taken[id] = true
						}
						return err
					})
					if err != nil && !errors.Is(err, operation.ErrConflict) {
						rt.Fatal(err)
					}
				},
				"restart": func(rt *rapid.T) {
					must(t, e.Close())
					e = opened(t, path)
				},
				"prune": func(rt *rapid.T) {
					_, err := Prune(e, 3000, 3)
					must(t, err)
					made = slices.DeleteFunc(made, func(id host.OpID) bool { _, err := viewOp(e, id); return err != nil })
				},
				"": func(rt *rapid.T) {
					sound(t, e)
					if u := usageOf(t, e); u.UsedCount != int64(len(taken)) || u.UsedQuantity != 2*u.UsedCount {
						rt.Fatalf("%+v, %d were taken", u, len(taken))
					}
				},
			})
		})
	})
}
