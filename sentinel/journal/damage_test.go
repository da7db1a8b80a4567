package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// order is how bbolt writes numbers.
var order = binary.NativeEndian

// content is everything a journal file says, in order.
func content(data []byte) (string, error) {
	var b strings.Builder
	err := checkReader(bytes.NewReader(data), int64(len(data)), func(bucket, key, record []byte) error {
		fmt.Fprintf(&b, "%s %x %x\n", bucket, key, record)
		return nil
	})
	return b.String(), err
}

// aged returns the bytes of a journal with some history: several levels of pages, free pages, inline buckets.
func aged(t testing.TB, n uint32) (dir string, data []byte) {
	t.Helper()
	j := filled(t, n, true)
	dir = closed(t, j)
	data, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return dir, data
}

// TestFlippedByte flips single bits anywhere in the file: either it is refused, naming a place, or the bit lay where
// nothing is stored.
func TestFlippedByte(t *testing.T) {
	_, good := aged(t, 60)
	want, err := content(good)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	tries, found := 600, 0
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		tries = 100_000
	}
	for i := range tries {
		at := rng.IntN(len(good))
		if i%3 == 0 { // headers, where small changes do most
			at = at/os.Getpagesize()*os.Getpagesize() + rng.IntN(64)
		}
		bit := byte(1) << rng.IntN(8)
		good[at] ^= bit
		got, err := content(good)
		good[at] ^= bit
		switch {
		case errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForeignVersion):
			found++
			var d *Damage
			if errors.As(err, &d) && d.Where == "" {
				t.Errorf("byte %d: %v names no place", at, err)
			}
		case err != nil:
			t.Errorf("byte %d: %v", at, err)
		case got != want:
			t.Fatalf("byte %d, bit %b: other content and no error", at, bit)
		}
	}
	if found < tries/20 {
		t.Errorf("only %d of %d flips were seen", found, tries)
	}
	t.Logf("%d of %d flips refused, the others lay in unused space; file of %d bytes", found, tries, len(good))
}

// TestLeafThatLostItsCount: a count of which only one bit was set and flipped makes a leaf look empty, and its records
// vanish.
func TestLeafThatLostItsCount(t *testing.T) {
	const leaf = 2 // the flag of such pages
	_, good := aged(t, 60)
	want, err := content(good)
	if err != nil {
		t.Fatal(err)
	}
	page, found := os.Getpagesize(), 0
	for at := 2 * page; at < len(good); at += page {
		n := order.Uint16(good[at+10:])
		if order.Uint16(good[at+8:]) != leaf || n == 0 {
			continue
		}
		order.PutUint16(good[at+10:], 0)
		got, err := content(good)
		order.PutUint16(good[at+10:], n)
		switch {
		case errors.Is(err, ErrCorrupt):
			found++
		case err != nil:
			t.Errorf("page %d: %v", at/page, err)
		case got != want: // otherwise nobody reads that page any more
			t.Fatalf("page %d: other content and no error", at/page)
		}
	}
	if found == 0 {
		t.Error("no leaf is in use")
	}
}

// refused opens a damaged file and checks that it is refused and left as it was.
func refused(t *testing.T, dir string, data []byte, want error) {
	t.Helper()
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := Open(dir, testOptions())
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
	if err == nil {
		j.Close()
	}
	if _, err := Check(dir); !errors.Is(err, want) {
		t.Errorf("check: %v, want %v", err, want)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Error("the file was touched", err)
	}
}

func TestDamagedFiles(t *testing.T) {
	dir, good := aged(t, 40)
	page := os.Getpagesize()
	for _, n := range []int{0, 1, 100, page - 1, page, page + 50, 2 * page, 3*page + 7, len(good) / 2} {
		t.Run(fmt.Sprintf("CP-91/truncated to %d", n), func(t *testing.T) { refused(t, dir, good[:n], ErrCorrupt) })
	}
	change := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] ^= b
		return c
	}
	t.Run("CP-91/newest meta page torn", func(t *testing.T) {
		newest := 0
		if order.Uint64(good[16+48:]) < order.Uint64(good[page+16+48:]) {
			newest = page
		}
		refused(t, dir, change(newest+16+40, 1), ErrCorrupt)
	})
	t.Run("CP-91/something else", func(t *testing.T) { refused(t, dir, bytes.Repeat([]byte("x"), 3*page), ErrCorrupt) })
	t.Run("CP-91/newer version", func(t *testing.T) {
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := openBolt(path)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			if _, err := tx.CreateBucket([]byte("of the future")); err != nil {
				return err
			}
			return tx.Bucket(metaBucket).Put(versionKey, binary.BigEndian.AppendUint32(nil, SchemaVersion+1))
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(path)
		refused(t, dir, data, ErrForeignVersion)
	})
	t.Run("another program's bbolt file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), FileName)
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
		data, _ := os.ReadFile(path)
		refused(t, dir, data, ErrCorrupt)
	})
	if _, err := Open(t.TempDir(), Options{MustExist: true}); !errors.Is(err, ErrNoJournal) {
		t.Error(err)
	}
	if _, err := Check(t.TempDir()); !errors.Is(err, ErrNoJournal) {
		t.Error(err)
	}
}

// TestRecordUnderAnotherKey: a sound record that stands in another's place is found, too.
func TestRecordUnderAnotherKey(t *testing.T) {
	dir := closed(t, filled(t, 3, false))
	db, err := openBolt(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	a, b := actionID(0), actionID(1)
	err = db.Update(func(tx *bbolt.Tx) error {
		v := bytes.Clone(tx.Bucket(actionsBucket).Get(a[:]))
		return tx.Bucket(actionsBucket).Put(b[:], v)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, testOptions())
	var d *Damage
	if !errors.As(err, &d) || !strings.Contains(d.Where, "actions") || !strings.Contains(d.Where, b.String()) {
		t.Error(err)
	}
}

func TestCheckSummary(t *testing.T) {
	j := filled(t, 5, true)
	mustMark(t, j, mark(9, 9))
	s, err := Check(j.Dir())
	if !errors.Is(err, ErrLocked) {
		t.Error("checked while in use:", err)
	}
	if s, err = Check(closed(t, j)); err != nil || s.Receipts != 5 || s.Entries != 7 || s.Actions != 6 || s.Open != 1 || s.Missions != 1 {
		t.Errorf("%+v %v", s, err)
	}
	// What no single record shows: a receipt index entry that is gone, with a sound file around it.
	dir := copied(t, j.Dir())
	db, err := openBolt(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	id := actionID(2)
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(receiptsBucket).Delete(id[:]) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(dir); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}
