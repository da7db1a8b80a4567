package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parts are behind the store's name in those of the files that a killed store needs.
var parts = append([]string{""}, logSuffixes[:]...)

// copied copies the files of a store that are there.
func copied(t testing.TB, path string) string {
	t.Helper()
	to := tempStore(t)
	for _, part := range parts {
		data, err := os.ReadFile(path + part)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		must(t, errors.Join(err, os.WriteFile(to+part, data, 0o600)))
	}
	return to
}

// contents are the bytes of all files beside a store, by name.
func contents(t testing.TB, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := filepath.Glob(path + "*")
	must(t, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		must(t, err)
		if !strings.HasSuffix(name, ".lock") {
			out[name] = string(data)
		}
	}
	return out
}

// unharmed opens a store in the state of a crash: it is sound, holds so many operations, and goes on.
func unharmed(t *testing.T, path string, n uint64) {
	t.Helper()
	if found, err := CheckFile(path); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	for round := range uint64(2) {
		e := opened(t, path)
		for i := range n {
			if _, err := viewOp(e, opID(i)); err != nil {
				t.Fatal(err)
			}
		}
		create(t, e, sketch(1<<20+round), 1000)
		sound(t, e)
		must(t, e.Close())
	}
}

// killed returns what a killed store of two operations and more leaves, in the two situations of its logs: one turn counts, or
// two.
func killed(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	path, goOn := tempStore(t), make(chan struct{})
	e, err := Open(path, Options{NoSync: true, logBytes: smallLog, At: func(p Point) {
		if p == BeforeFold {
			<-goOn
		}
	}})
	must(t, err)
	create(t, e, sketch(0), 1000)
	create(t, e, sketch(1), 1000)
	out["one turn"] = copied(t, path)
	for n := uint64(2); e.(*bolt).sealing() == nil; n++ {
		create(t, e, sketch(n), 1000)
	}
	out["two turns"] = copied(t, path)
	close(goOn)
	must(t, e.Close())
	return out
}

// TestDamagedLogs does to the files of a killed store what no crash does.
func TestDamagedLogs(t *testing.T) {
	change := func(part string, f func([]byte) []byte) func(*testing.T, string) string {
		return func(t *testing.T, path string) string {
			data, err := os.ReadFile(path + part)
			must(t, errors.Join(err, os.WriteFile(path+part, f(data), 0o600)))
			return path + part
		}
	}
	attacks := map[string]func(*testing.T, string) string{ // each returns what has to be named
		"the tree is removed": func(t *testing.T, path string) string { must(t, os.Remove(path)); return path },
		"the tree and a log are removed": func(t *testing.T, path string) string {
			must(t, errors.Join(os.Remove(path), os.Remove(path+logSuffixes[0])))
			return path
		},
		"the tree is a byte short": change("", func(b []byte) []byte { return b[:len(b)-1] }),
		"the tree is a byte long":  change("", func(b []byte) []byte { return append(b, 0) }),
		"both logs are empty": func(t *testing.T, path string) string {
			must(t, errors.Join(os.Truncate(path+".log", 0), os.Truncate(path+".log2", 0)))
			return path + ".log"
		},
		"both logs are zeros": func(t *testing.T, path string) string {
			change(".log2", func(b []byte) []byte { clear(b); return b })(t, path)
			return change(".log", func(b []byte) []byte { clear(b); return b })(t, path)
		},
		"the logs hold the same turn": func(t *testing.T, path string) string {
			data, err := os.ReadFile(path + ".log")
			must(t, errors.Join(err, os.WriteFile(path+".log2", data, 0o600)))
			return path + ".log"
		},
		"the logs are those of another store": func(t *testing.T, path string) string {
			other, _ := logged(t, 3)
			for _, part := range logSuffixes {
				data, err := os.ReadFile(other + part)
				must(t, errors.Join(err, os.WriteFile(path+part, data, 0o600)))
			}
			return path + ".log"
		},
	}
	for _, part := range logSuffixes {
		attacks[part+" is removed"] = func(t *testing.T, path string) string {
			must(t, os.Remove(path+part))
			return path + part
		}
		for _, n := range []int{0, 1, headSize, logHead - 1, logHead, logHead + 5000} {
			attacks[fmt.Sprint(part, " is cut to ", n)] = change(part, func(b []byte) []byte { return b[:n] })
		}
		attacks[part+" is a byte short"] = change(part, func(b []byte) []byte { return b[:len(b)-1] })
		attacks[part+" is zeros"] = change(part, func(b []byte) []byte { clear(b); return b })
		attacks[part+" has a head of zeros"] = change(part, func(b []byte) []byte { clear(b[:logHead]); return b })
		attacks[part+" has another turn's head"] = func(t *testing.T, path string) string {
			f, err := os.OpenFile(path+part, os.O_RDWR, 0)
			must(t, err)
			info, err := f.Stat()
			must(t, err)
			l := log{f: f, turn: turn{name: [turnSize]byte{9}}, length: info.Size()}
			must(t, errors.Join(l.writeHead(), f.Close()))
			return path + ".log"
		}
	}
	for state, good := range killed(t) {
		t.Run("CP-91/as a kill left it, "+state, func(t *testing.T) { unharmed(t, copied(t, good), 2) })
		for name, attack := range attacks {
			t.Run("CP-91/"+state+", "+name, func(t *testing.T) {
				path := copied(t, good)
				names := attack(t, path)
				before := contents(t, path)
				for _, must := range []bool{false, true} {
					e, err := Open(path, Options{NoSync: true, logBytes: smallLog, MustExist: must})
					if err == nil {
						e.Close()
					}
					if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), names) || !strings.Contains(err.Error(), "put a backup") {
						t.Errorf("%v, want the damage, %s and what to do", err, names)
					}
				}
				if found, err := CheckFile(path); err != nil || len(found) == 0 {
					t.Error("the check:", found, err)
				}
				if after := contents(t, path); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Error("the files were touched")
				}
			})
		}
	}
	t.Run("CP-91/of the turn before the newest no record may be gone", func(t *testing.T) {
		path := turned(t, 9, 0)
		_, ends := logged(t, 9)
		data, err := os.ReadFile(path + logSuffixes[1])
		must(t, err)
		clear(data[ends[7]:])
		must(t, os.WriteFile(path+logSuffixes[1], data, 0o600))
		if _, _, err := readLogs(path, turnA, false); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	})
	t.Run("CP-91/a log that grew for a large batch may not be cut back", func(t *testing.T) {
		path := tempStore(t)
		e := opened(t, path)
		must(t, e.Update(func(tx Tx) error {
			tx.Put(Blueprints, []byte("k"), bytes.Repeat([]byte("x"), 2*(smallLog+logRoom)))
			return nil
		}))
		cut := copied(t, path)
		must(t, os.Truncate(cut+".log", logHead+smallLog+logRoom))
		if _, err := Open(cut, Options{}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), cut+".log") {
			t.Error(err)
		}
	})
	t.Run("an earlier version's store that was not closed is refused", func(t *testing.T) {
		path := tempStore(t)
		must(t, opened(t, path).Close())
		db, err := openBolt(path, false)
		must(t, err)
		e := &bolt{db: db, path: path}
		must(t, errors.Join(e.change(func(w *boltReader) error { return w.setLayout(versionHeadless) }), db.Close()))
		if _, err := Open(path, Options{}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "earlier version") {
			t.Error(err)
		}
	})
}

// TestHonestCrash opens what is on disk at the points between two states of the logs, and what half of a step leaves.
func TestHonestCrash(t *testing.T) {
	path, made := tempStore(t), uint64(0)
	left := map[Point][]string{}
	stored := map[string]uint64{} // by copy
	e, err := Open(path, Options{NoSync: true, logBytes: smallLog, At: func(p Point) {
		switch p {
		case BeforeLog, AfterTurn, BeforeRemove: // nothing else writes then
			to := copied(t, path)
			left[p], stored[to] = append(left[p], to), made
		}
	}})
	must(t, err)
	t.Run("CP-91/before the first record", func(t *testing.T) { unharmed(t, copied(t, path), 0) })
	for made < 100 {
		create(t, e, sketch(made), 1000)
		made++
	}
	must(t, e.Close())
	for p, times := range map[Point]int{BeforeLog: 1, AfterTurn: 2, BeforeRemove: 2} {
		t.Run("CP-91/"+string(p), func(t *testing.T) {
			if len(left[p]) < times {
				t.Fatal("only", len(left[p]), "times")
			}
			for _, path := range left[p] {
				unharmed(t, copied(t, path), stored[path])
			}
		})
	}
	t.Run("CP-91/while the logs are made, at any length and with one missing", func(t *testing.T) {
		for _, n := range []int64{0, 1, headSize, logHead, logHead + 100} {
			half := copied(t, left[BeforeLog][0])
			must(t, os.Truncate(half+".log2", n))
			unharmed(t, copied(t, half), 0)
			must(t, errors.Join(os.Remove(half+".log2"), os.Truncate(half+".log", n)))
			unharmed(t, half, 0)
		}
	})
	t.Run("CP-91/the tree names a turn without a record", func(t *testing.T) {
		fresh := tempStore(t)
		e, err := Open(fresh, Options{NoSync: true, logBytes: smallLog})
		must(t, err)
		must(t, e.(*bolt).begin())
		between := copied(t, fresh)
		must(t, e.Close())
		unharmed(t, between, 0)
	})
	t.Run("CP-91/a turn that goes on in a file that had room is gone on with in the newer one", func(t *testing.T) {
		for _, was := range left[AfterTurn] {
			path := was
			for n := range uint64(2) { // whoever comes thinks that there is room in the older one
				e, err := Open(copied(t, path), Options{NoSync: true})
				must(t, err)
				create(t, e, sketch(1000+n), 1000)
				path = copied(t, e.(*bolt).path)
				must(t, e.Close())
				unharmed(t, copied(t, path), stored[was])
			}
		}
	})
}
