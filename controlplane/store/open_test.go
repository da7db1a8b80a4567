package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// some returns the bytes of a store with some history: several levels of pages, free pages, inline buckets.
func some(t testing.TB, n uint64) []byte {
	t.Helper()
	path, e := filled(t, n, false)
	must(t, e.Update(func(tx Tx) error {
		BlueprintsOf(tx).Put("house", make([]byte, 30_000))
		return LeasesOf(tx).Put(Lease{ID: "l", Actor: "bot"})
	}))
	must(t, e.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	page := os.Getpagesize()
	high := max(binary.NativeEndian.Uint64(data[16+40:]), binary.NativeEndian.Uint64(data[page+16+40:]))
	return data[:int(high)*page] // behind it lies room to grow
}

// refused opens a file that must not be opened, and checks that it is left as it was.
func refused(t *testing.T, data []byte, want ...error) {
	t.Helper()
	path := tempStore(t)
	must(t, os.WriteFile(path, data, 0o600))
	e, err := Open(path, Options{})
	if err == nil {
		e.Close()
	}
	is := false
	for _, w := range want {
		is = is || errors.Is(err, w)
	}
	if !is || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want %v and the path", err, want)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Error("the file was touched", err)
	}
	if others, _ := filepath.Glob(path + ".*"); len(others) != 1 || others[0] != path+".lock" {
		t.Error("something was left beside it:", others)
	}
}

func TestRefused(t *testing.T) {
	good, page := some(t, 300), os.Getpagesize()
	for _, n := range []int{0, 1, 100, page - 1, page, page + 50, 2 * page, 3*page + 7, len(good) / 3} {
		t.Run(fmt.Sprintf("CP-91/cut short to %d bytes", n), func(t *testing.T) { refused(t, good[:n], ErrForeign, ErrCorrupt) })
	}
	t.Run("CP-91/a leaf whose count lost its only bit", func(t *testing.T) {
		const leaf = 2 // the flag of such pages
		tried := 0
		for at := 2 * page; at < len(good); at += page {
			if n := binary.NativeEndian.Uint16(good[at+10:]); binary.NativeEndian.Uint16(good[at+8:]) == leaf && n > 0 && n&(n-1) == 0 && tried < 20 {
				bad := bytes.Clone(good)
				binary.NativeEndian.PutUint16(bad[at+10:], 0)
				path := tempStore(t)
				must(t, os.WriteFile(path, bad, 0o600))
				if e, err := Open(path, Options{}); err == nil { // a page that is free may hold anything
					if sound(t, e); e.Close() != nil {
						t.Error("close")
					}
				} else if tried++; !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrForeign) {
					t.Error(err)
				}
			}
		}
		if tried == 0 {
			t.Error("no such page")
		}
	})
	t.Run("CP-91/something else", func(t *testing.T) {
		refused(t, []byte("notes: buy milk\n"), ErrForeign)
		refused(t, bytes.Repeat([]byte("x"), 5*page), ErrForeign)
		refused(t, make([]byte, 5*page), ErrForeign)
	})
	t.Run("CP-91/newest meta page torn", func(t *testing.T) {
		at := 0
		if binary.NativeEndian.Uint64(good[16+48:]) < binary.NativeEndian.Uint64(good[page+16+48:]) {
			at = page
		}
		bad := bytes.Clone(good)
		bad[at+16+40] ^= 1
		refused(t, bad, ErrCorrupt)
	})
	write := func(f func(tx *bbolt.Tx) error) []byte {
		path := tempStore(t)
		must(t, os.WriteFile(path, good, 0o600))
		db, err := openBolt(path, false)
		must(t, err)
		must(t, errors.Join(db.Update(f), db.Close()))
		data, err := os.ReadFile(path)
		must(t, err)
		return data
	}
	t.Run("CP-91/a newer version", func(t *testing.T) {
		refused(t, write(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("of the future"))
			return errors.Join(err, tx.Bucket([]byte("meta")).Put(versionKey, binary.BigEndian.AppendUint32(nil, versionWithLog+1)))
		}), ErrForeignVersion)
	})
	t.Run("CP-91/a bucket is gone", func(t *testing.T) {
		refused(t, write(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("keys")) }), ErrCorrupt)
	})
	t.Run("CP-91/another program's file", func(t *testing.T) {
		path := tempStore(t)
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
		must(t, err)
		must(t, errors.Join(db.Update(func(tx *bbolt.Tx) error { return nil }), db.Update(func(tx *bbolt.Tx) error { return nil }), db.Close()))
		data, err := os.ReadFile(path)
		must(t, err)
		refused(t, data, ErrForeign)
	})
	t.Run("no store where one must be", func(t *testing.T) {
		for _, path := range []string{tempStore(t), filepath.Join(t.TempDir(), "none", "x.db")} {
			if _, err := Open(path, Options{MustExist: true}); !errors.Is(err, ErrNoStore) {
				t.Error(err)
			}
			if _, err := CheckFile(path); !errors.Is(err, ErrNoStore) {
				t.Error(err)
			}
		}
	})
}

// TestFlippedBit flips single bits anywhere in a file. It is refused, or found by the check, or the record says so when it
// is read; or the bit lay where nothing is stored, and everything reads as before.
func TestFlippedBit(t *testing.T) {
	good := some(t, 40)
	path := tempStore(t)
	content := func() (string, error) {
		e, err := Open(path, Options{NoSync: true})
		if err != nil {
			return "", err
		}
		defer e.Close()
		var b bytes.Buffer
		err = e.View(func(tx Tx) error {
			for bucket := range bucketCount {
				tx.Scan(bucket, nil, nil, func(k, v []byte) bool { fmt.Fprintf(&b, "%d %x %x\n", bucket, k, v); return true })
			}
			return nil
		})
		if found := e.Check(); (err != nil) != (len(found) > 0) {
			t.Errorf("reading: %v, check: %v", err, found)
		}
		return b.String(), err
	}
	must(t, os.WriteFile(path, good, 0o600))
	want, err := content()
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	tries, found := 300, 0
	if full() {
		tries = 20_000
	}
	for i := range tries {
		bad := bytes.Clone(good)
		at := rng.IntN(len(bad))
		if i%3 == 0 { // headers, where small changes do most
			at = at/os.Getpagesize()*os.Getpagesize() + rng.IntN(64)
		}
		bad[at] ^= 1 << rng.IntN(8)
		must(t, os.WriteFile(path, bad, 0o600))
		got, err := content()
		switch {
		case errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForeign) || errors.Is(err, ErrForeignVersion):
			found++
		case err != nil:
			t.Errorf("byte %d: %v", at, err)
		case got != want:
			t.Fatalf("byte %d: other content and no error", at)
		}
	}
	if found < tries/20 {
		t.Errorf("only %d of %d flips were seen", found, tries)
	}
}

func TestUnsafe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and links are others there")
	}
	t.Run("the file is the owner's alone, and so is a directory that was made for it", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "new", "data")
		path := filepath.Join(dir, "control.db")
		opened(t, path)
		for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, path + ".lock": 0o600} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Error(name, info.Mode(), err)
			}
		}
	})
	try := func(t *testing.T, path string) {
		t.Helper()
		if _, err := Open(path, Options{}); !errors.Is(err, ErrUnsafe) {
			t.Error(err)
		}
	}
	t.Run("symbolic links are refused", func(t *testing.T) {
		path := tempStore(t)
		must(t, opened(t, path).Close())
		link := filepath.Join(t.TempDir(), "link.db")
		must(t, os.Symlink(path, link))
		try(t, link)
		dir := filepath.Join(t.TempDir(), "link")
		must(t, os.Symlink(filepath.Dir(path), dir))
		try(t, filepath.Join(dir, "control.db"))
		locked := filepath.Join(t.TempDir(), "a.db")
		must(t, os.Symlink(path, locked+".lock"))
		if _, err := Open(locked, Options{}); err == nil {
			t.Error("the lock is a link")
		}
	})
	t.Run("what others can read or write is refused", func(t *testing.T) {
		path := tempStore(t)
		must(t, opened(t, path).Close())
		must(t, os.Chmod(path, 0o640))
		try(t, path)
		must(t, os.Chmod(path, 0o600))
		must(t, os.Chmod(filepath.Dir(path), 0o777))
		try(t, path)
		try(t, t.TempDir()) // a directory where the file belongs
	})
}

// TestReadOnly runs as a user who may not write.
func TestReadOnly(t *testing.T) {
	path := tempStore(t)
	must(t, opened(t, path).Close())
	dir := filepath.Dir(path)
	must(t, os.Chmod(dir, 0o500))
	defer os.Chmod(dir, 0o700)
	c := child(t, "open", path)
	if os.Getuid() == 0 {
		exe := filepath.Join(os.TempDir(), fmt.Sprintf("store-test-%d", os.Getpid()))
		data, err := os.ReadFile(os.Args[0])
		must(t, err)
		must(t, os.WriteFile(exe, data, 0o755))
		defer os.Remove(exe)
		c.Path = exe
		if !asNobody(c, dir) {
			t.Skip("no other user to run as here")
		}
	}
	out, err := c.Output()
	if err != nil || !strings.HasPrefix(string(out), "readonly true") {
		t.Error(string(out), err)
	}
}

func TestLock(t *testing.T) {
	t.Run("CP-90/a second open in one process", func(t *testing.T) {
		path := tempStore(t)
		opened(t, path)
		_, err := Open(path, Options{})
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
			t.Error(err)
		}
		if _, err := CheckFile(path); !errors.Is(err, ErrLocked) {
			t.Error(err)
		}
	})
	t.Run("CP-90/held by another process, free after its kill", func(t *testing.T) {
		path := tempStore(t)
		holder := child(t, "hold", path)
		lines(t, holder, func(line string) bool {
			if line != "open" {
				t.Error(line)
			}
			_, err := Open(path, Options{})
			if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(holder.Process.Pid)) {
				t.Error(err)
			}
			said, err := child(t, "hold", path).Output()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(string(said), "in use") {
				t.Error("a second process got in:", string(said), err)
			}
			return false
		})
		opened(t, path)
	})
}

func TestBackup(t *testing.T) {
	e := opened(t, tempStore(t))
	for n := range uint64(50) {
		create(t, e, sketch(n), 1000)
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() { // writes go on all the time
		for n := uint64(100); ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			err := e.Update(func(tx Tx) error { _, _, err := Ops(tx).Create(sketch(n), allowed, 1000); return err })
			if err != nil {
				done <- err
				return
			}
		}
	}()
	last := 0
	for i := range 5 {
		to := filepath.Join(t.TempDir(), fmt.Sprint(i, ".db"))
		var b bytes.Buffer
		must(t, errors.Join(e.Backup(&b), os.WriteFile(to, b.Bytes(), 0o600)))
		found, err := CheckFile(to)
		if err != nil || len(found) > 0 {
			t.Error(found, err)
		}
		for _, p := range e.Check() { // on the living store, too
			t.Error(p)
		}
		copied := opened(t, to)
		all := view(t, copied, func(tx Tx) ([]host.OpID, error) {
			return ids(func(f func(operation.Operation) bool) error { return Ops(tx).All(host.OpID{}, f) })
		})
		if len(all) < 50 || len(all) < last {
			t.Error(len(all), "operations in backup", i)
		}
		last = len(all)
		create(t, copied, sketch(1_000_000), 1000) // it can be gone on with
	}
	close(stop)
	must(t, <-done)
}

// TestCopiesLeft: a copy that a crash has left is removed by its own store, whatever the names of directories look like.
func TestCopiesLeft(t *testing.T) {
	dir := t.TempDir()
	left := map[string]bool{} // and whether it is to stay
	for name, stays := range map[string]bool{"[ab]": false, "a": true} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		copied := filepath.Join(dir, name, "control.db.unfinished-backup-1")
		must(t, os.WriteFile(copied, nil, 0o600))
		left[copied] = stays
	}
	mine := filepath.Join(dir, "[ab]", "control.db.copy-20261201") // somebody's backup
	must(t, os.WriteFile(mine, nil, 0o600))
	left[mine] = true
	opened(t, filepath.Join(dir, "[ab]", "control.db"))
	for copied, stays := range left {
		if _, err := os.Stat(copied); (err == nil) != stays {
			t.Errorf("%s: %v", copied, err)
		}
	}
}

// TestUpgrade opens a file that the first layout's program wrote.
func TestUpgrade(t *testing.T) {
	old, err := os.ReadFile("testdata/layout1.db")
	must(t, err)
	path := tempStore(t)
	must(t, os.WriteFile(path, old, 0o600))
	if _, err := CheckFile(path); err == nil {
		t.Error("an older layout was checked as if it were the newest")
	}
	must(t, opened(t, path).Close())
	t.Run("the old file is kept", func(t *testing.T) {
		kept, err := os.ReadFile(path + ".layout1")
		if err != nil || !bytes.Equal(kept, old) {
			t.Error(err)
		}
	})
	t.Run("a second open changes nothing", func(t *testing.T) {
		before, err := os.ReadFile(path)
		must(t, err)
		must(t, opened(t, path).Close())
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(before, after) {
			t.Error("the file changed", err)
		}
		if found, err := CheckFile(path); err != nil || len(found) > 0 {
			t.Error(found, err)
		}
	})
	e := opened(t, path)
	t.Run("CP-93/every operation is there with its end", func(t *testing.T) {
		want := map[string]string{ // capability and state -> kind, acked, receipt
			"place_block queued": "effect false 0", "place_block awaiting_confirmation": "effect false 0", "place_block succeeded": "effect true 12",
			"place_block outcome_unknown": "effect true 0", "say rejected": "effect false 0", "build_structure running": "macro true 0",
		}
		must(t, e.View(func(tx Tx) error {
			return Ops(tx).All(host.OpID{}, func(op operation.Operation) bool {
				receipt := uint64(0)
				if op.Confirmed() {
					receipt = op.Outcome.Receipt.Number
				}
				what := op.Action.Capability + " " + op.State.String()
				if got := fmt.Sprint(op.Kind, " ", op.Acked, " ", receipt); got != want[what] {
					t.Errorf("%s: %s, want %s", what, got, want[what])
				}
				if op.Created != 1_700_000_000_000 || op.Entered != op.Updated || op.Version != 3 {
					t.Error(what, op.Created, op.Entered, op.Version)
				}
				delete(want, what)
				return true
			})
		}))
		if len(want) > 0 {
			t.Error("missing:", want)
		}
	})
	t.Run("indexes, budgets and records", func(t *testing.T) {
		must(t, e.View(func(tx Tx) error {
			open, err := ids(Ops(tx).Unfinished)
			task, err2 := ids(func(f func(operation.Operation) bool) error { return Ops(tx).ByTask("house", Place{}, f) })
			if len(open) != 4 || len(task) != 4 || errors.Join(err, err2) != nil {
				t.Error(len(open), len(task), err, err2)
			}
			used, err := UsageIn(tx).Get("blocks", 3)
			past, err2 := UsageIn(tx).Get("blocks", -1)
			if used != (Usage{3, 3, 2, 2}) || past != (Usage{1, 9, 0, 0}) || errors.Join(err, err2) != nil {
				t.Error(used, past, err, err2)
			}
			l, ok, _ := LeasesOf(tx).Get("builder")
			s, ok2, _ := StopsOf(tx).Get("digger")
			d := named(tx, "house")
			k, ok4, _ := KeysOf(tx).Get("alice", "key-c3")
			if !ok || !ok2 || !ok4 || l.Renewed != l.Acquired || !s.Latched || string(BlueprintsOf(tx).Get(d)) != "a house of bricks" || k.Pruned {
				t.Error(l, s, d, k)
			}
			return nil
		}))
	})
	t.Run("an operation goes on where it stood", func(t *testing.T) {
		open := view(t, e, func(tx Tx) ([]host.OpID, error) { return ids(Ops(tx).Unfinished) })
		if op := stepped(t, e, open[0], 1_700_000_009_000, operation.Polled{}); op.State != operation.Delivered {
			t.Error(op.State)
		}
	})
	sound(t, e)
}

func TestUpgradeRefuses(t *testing.T) {
	old, err := os.ReadFile("testdata/layout1.db")
	must(t, err)
	t.Run("RU-04/an unknown state in an old file", func(t *testing.T) {
		refusedBut(t, bytes.ReplaceAll(old, []byte(`"state":"running"`), []byte(`"state":"walking"`)))
	})
	t.Run("an old file that does not agree with itself", func(t *testing.T) {
		refusedBut(t, bytes.ReplaceAll(old, []byte(`"reserved":2`), []byte(`"reserved":9`)))
	})
	t.Run("a kept file is not written over", func(t *testing.T) {
		path := tempStore(t)
		must(t, os.WriteFile(path, old, 0o600))
		must(t, os.WriteFile(path+".layout1", []byte("mine"), 0o600))
		if _, err := Open(path, Options{}); !errors.Is(err, ErrExists) {
			t.Error(err)
		}
		if kept, _ := os.ReadFile(path + ".layout1"); string(kept) != "mine" {
			t.Error("it was")
		}
	})
}

// refusedBut is refused, for an upgrade: the copy beside it may be there.
func refusedBut(t *testing.T, data []byte) {
	t.Helper()
	path := tempStore(t)
	must(t, os.WriteFile(path, data, 0o600))
	if _, err := Open(path, Options{}); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Error("the file was touched", err)
	}
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("half a store was left")
	}
}

// TestReadingChangesNothing compares the file before and after.
func TestReadingChangesNothing(t *testing.T) {
	path, e := filled(t, 200, false)
	before, err := os.ReadFile(path)
	must(t, err)
	t.Run("RU-05/views, checks, backups and refused changes change no byte", func(t *testing.T) {
		must(t, e.View(func(tx Tx) error {
			_, err := ids(func(f func(operation.Operation) bool) error { return Ops(tx).All(host.OpID{}, f) })
			return err
		}))
		sound(t, e)
		must(t, e.Backup(&bytes.Buffer{}))
		must(t, e.Update(func(tx Tx) error { _, err := Ops(tx).Get(opID(1)); return err }))
		if err := e.Update(func(tx Tx) error { tx.Put(Leases, []byte("x"), nil); return errNo }); !errors.Is(err, errNo) {
			t.Error(err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Error("the file changed", err)
		}
	})
	t.Run("opening reads no operation: a record that cannot be read does not keep a store from opening", func(t *testing.T) {
		id := opID(1)
		must(t, e.Update(func(tx Tx) error { tx.Put(Operations, id[:], []byte("{}")); return nil }))
		must(t, e.Close())
		e := opened(t, path)
		if found := e.Check(); len(found) != 1 || !strings.Contains(found[0].Where, id.String()) {
			t.Error(found)
		}
		if _, err := viewOp(e, id); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
		if _, err := viewOp(e, opID(2)); err != nil {
			t.Error(err)
		}
	})
}
