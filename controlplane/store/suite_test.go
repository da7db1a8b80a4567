package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// engines are what the suite runs over.
func engines(t *testing.T, f func(t *testing.T, e Engine)) {
	t.Run("memory", func(t *testing.T) { f(t, Memory()) })
	t.Run("bolt", func(t *testing.T) { f(t, opened(t, tempStore(t))) })
}

var errNo = errors.New("no")

func TestEngine(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		k, v := []byte("k"), []byte("v")
		t.Run("a function that fails leaves nothing behind", func(t *testing.T) {
			err := e.Update(func(tx Tx) error {
				tx.Put(Leases, k, v)
				if string(tx.Get(Leases, k)) != "v" {
					t.Error("it does not read its own write")
				}
				return errNo
			})
			if !errors.Is(err, errNo) {
				t.Error(err)
			}
			must(t, e.View(func(tx Tx) error {
				if tx.Get(Leases, k) != nil {
					t.Error("it is there")
				}
				return nil
			}))
		})
		t.Run("put, empty, delete", func(t *testing.T) {
			must(t, e.Update(func(tx Tx) error {
				tx.Put(Leases, k, v)
				tx.Put(Leases, []byte("empty"), nil)
				tx.Delete(Leases, []byte("never there"))
				return nil
			}))
			must(t, e.Update(func(tx Tx) error {
				if string(tx.Get(Leases, k)) != "v" || tx.Get(Leases, []byte("empty")) == nil || tx.Get(Stops, k) != nil {
					t.Error("read")
				}
				tx.Delete(Leases, k)
				if tx.Get(Leases, k) != nil {
					t.Error("deleted and there")
				}
				return nil
			}))
		})
		t.Run("a view does not write", func(t *testing.T) {
			before := e.Stats().Writes
			err := e.View(func(tx Tx) error {
				tx.Put(Leases, k, v)
				tx.Delete(Leases, k)
				return nil
			})
			if !errors.Is(err, ErrInView) || e.Stats().Writes != before {
				t.Error(err)
			}
		})
		t.Run("what has no key, or is too large, is refused whole", func(t *testing.T) {
			for _, bad := range [][]byte{nil, {}, make([]byte, maxKey+1)} {
				err := e.Update(func(tx Tx) error {
					tx.Put(Leases, []byte("beside"), v)
					tx.Put(Leases, bad, v)
					return nil
				})
				if !errors.Is(err, ErrTooLarge) {
					t.Error(err)
				}
			}
			if view(t, e, func(tx Tx) ([]byte, error) { return tx.Get(Leases, []byte("beside")), nil }) != nil {
				t.Error("half of it was stored")
			}
			if err := e.Update(func(tx Tx) error { tx.Put(Meta, versionKey, v); return nil }); err == nil {
				t.Error("the layout's version was written")
			}
		})
		t.Run("a function that panics, panics at its caller and stores nothing", func(t *testing.T) {
			func() {
				defer func() {
					if recover() != "oh" {
						t.Error("no panic")
					}
				}()
				e.Update(func(tx Tx) error { tx.Put(Stops, k, v); panic("oh") })
			}()
			if view(t, e, func(tx Tx) ([]byte, error) { return tx.Get(Stops, k), nil }) != nil {
				t.Error("it was stored")
			}
		})
		t.Run("a scan sees the function's own writes, in order, both ways", func(t *testing.T) {
			must(t, e.Update(func(tx Tx) error {
				for _, key := range []string{"a", "c", "e"} {
					tx.Put(Tokens, []byte(key), []byte("old"))
				}
				return nil
			}))
			err := e.Update(func(tx Tx) error {
				for _, key := range []string{"b", "c", "f"} {
					tx.Put(Tokens, []byte(key), []byte("new"))
				}
				tx.Delete(Tokens, []byte("e"))
				var forth, back, part []string
				say := func(to *[]string) func(k, v []byte) bool {
					return func(k, v []byte) bool {
						tx.Put(Tokens, []byte("d"), []byte("behind the scan's back"))
						*to = append(*to, string(k)+string(v))
						return len(*to) < 9
					}
				}
				tx.Scan(Tokens, nil, nil, say(&forth))
				tx.Delete(Tokens, []byte("d"))
				tx.ScanBack(Tokens, nil, nil, say(&back))
				tx.Delete(Tokens, []byte("d"))
				tx.ScanBack(Tokens, []byte("b"), []byte("f"), say(&part))
				slices.Reverse(back)
				if got := fmt.Sprint(forth, back, part); got != "[aold bnew cnew fnew] [aold bnew cnew fnew] [cnew bnew]" {
					t.Error(got)
				}
				return errNo
			})
			if !errors.Is(err, errNo) {
				t.Error(err)
			}
		})
	})
}

func TestClosed(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		must(t, e.Close())
		must(t, e.Close())
		for _, err := range []error{e.Update(func(Tx) error { return nil }), e.View(func(Tx) error { return nil }), e.Backup(&bytes.Buffer{})} {
			if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		if len(e.Check()) == 0 {
			t.Error("nothing is wrong with a closed store")
		}
	})
}

// TestClosedAtOnce: whoever closes an engine finds it closed afterwards, also behind another who does.
func TestClosedAtOnce(t *testing.T) {
	e := opened(t, tempStore(t))
	must(t, e.Update(func(tx Tx) error { next(tx); return nil }))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := e.View(func(Tx) error { return nil }); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestTogether: what many callers do at once happens in some order, one after another, and is counted once.
func TestTogether(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		const callers, each = 64, 20
		var wg sync.WaitGroup
		var mu sync.Mutex
		given := map[int64]int{}
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					var n int64
					err := e.Update(func(tx Tx) error {
						n = next(tx)
						if (c+i)%5 == 0 {
							return errNo
						}
						return nil
					})
					if err == nil {
						mu.Lock()
						given[n]++
						mu.Unlock()
					} else if !errors.Is(err, errNo) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if len(given) != callers*each*4/5 {
			t.Error(len(given), "numbers")
		}
		for n, times := range given {
			if times != 1 || n > int64(len(given)) {
				t.Error(n, "was given out", times, "times")
			}
		}
		s := e.Stats()
		if s.Updates != uint64(len(given)) || s.Writes != s.Updates || s.Commits > s.Updates {
			t.Errorf("%+v", s)
		}
	})
}

// TestSnapshot: a view does not move while writes go on, and a writer does not wait for it.
func TestSnapshot(t *testing.T) {
	e := opened(t, tempStore(t))
	must(t, e.Update(func(tx Tx) error { next(tx); return nil }))
	must(t, e.View(func(tx Tx) error {
		done := make(chan error)
		go func() {
			var err error
			for range 50 {
				err = errors.Join(err, e.Update(func(tx Tx) error {
					next(tx)
					tx.Put(Blueprints, []byte{byte(last(tx))}, make([]byte, 1<<20)) // the file grows
					return nil
				}))
			}
			done <- err
		}()
		must(t, <-done)
		if n := last(tx); n != 1 {
			t.Error("the view sees", n)
		}
		return nil
	}))
}

// TestAgainstModel runs random functions, grouped at random, beside plain maps.
func TestAgainstModel(t *testing.T) {
	engines(t, func(t *testing.T, _ Engine) {
		rapid.Check(t, func(rt *rapid.T) {
			var e Engine
			path := ""
			if strings.HasSuffix(t.Name(), "bolt") {
				path = tempStore(t)
				e = opened(t, path)
			} else {
				e = Memory()
			}
			defer func() { e.Close() }()
			model := map[Bucket]map[string]string{Leases: {}, Stops: {}, Names: {}}
			bucket := rapid.SampledFrom([]Bucket{Leases, Stops, Names})
			key := rapid.StringMatching(`[a-c]{1,3}`)
			rt.Repeat(map[string]func(*rapid.T){
				"update": func(rt *rapid.T) {
					next := map[Bucket]map[string]string{}
					for b, m := range model {
						next[b] = map[string]string{}
						for k, v := range m {
							next[b][k] = v
						}
					}
					fails := rapid.IntRange(0, 3).Draw(rt, "fails") == 0
					err := e.Update(func(tx Tx) error {
						for range rapid.IntRange(0, 8).Draw(rt, "writes") {
							b, k := bucket.Draw(rt, "bucket"), key.Draw(rt, "key")
							switch rapid.IntRange(0, 3).Draw(rt, "what") {
							case 0:
								tx.Delete(b, []byte(k))
								delete(next[b], k)
							case 1, 2:
								v := rapid.StringN(0, 5, 3000).Draw(rt, "value")
								tx.Put(b, []byte(k), []byte(v))
								next[b][k] = v
							default:
								same(rt, tx, next, b, k, key.Draw(rt, "to"))
							}
						}
						if fails {
							return errNo
						}
						return nil
					})
					if fails != (err != nil) {
						rt.Fatal(err)
					}
					if !fails {
						model = next
					}
				},
				"reopen": func(rt *rapid.T) {
					if path != "" {
						must(t, e.Close())
						e = opened(t, path)
					}
				},
				"": func(rt *rapid.T) {
					must(t, e.View(func(tx Tx) error {
						for b := range model {
							same(rt, tx, model, b, "", "")
						}
						return nil
					}))
				},
			})
		})
	})
}

// same compares a transaction's reads with a map's; to "" is no end.
func same(rt *rapid.T, tx Tx, model map[Bucket]map[string]string, b Bucket, from, to string) {
	var want, got, back []string
	for k, v := range model[b] {
		if k >= from && (to == "" || k < to) {
			want = append(want, k+"="+v)
		}
		if string(tx.Get(b, []byte(k))) != v {
			rt.Fatalf("%s of %s", k, b)
		}
	}
	var end []byte
	if to != "" {
		end = []byte(to)
	}
	tx.Scan(b, []byte(from), end, func(k, v []byte) bool { got = append(got, string(k)+"="+string(v)); return true })
	tx.ScanBack(b, []byte(from), end, func(k, v []byte) bool { back = append(back, string(k)+"="+string(v)); return true })
	slices.Reverse(back)
	slices.SortFunc(want, func(x, y string) int {
		a, _, _ := strings.Cut(x, "=")
		b, _, _ := strings.Cut(y, "=")
		return strings.Compare(a, b)
	})
	if !slices.Equal(want, got) || !slices.Equal(want, back) {
		rt.Fatalf("%s from %q to %q\n%q\n%q\n%q", b, from, to, want, got, back)
	}
}
