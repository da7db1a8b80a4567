package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// made returns a bbolt file of small pages: a bucket of several levels, one inside its bucket's value, an empty one, a
// record over several pages, free pages. It also returns what bbolt says is in it, in bbolt's order.
func made(t testing.TB) (data []byte, records []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	db.NoSync = true
	for round := range 4 { // pages of older rounds are free in the end
		err = errors.Join(err, db.Update(func(tx *bbolt.Tx) error {
			for _, name := range []string{"deep", "empty", "inline"} {
				if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
					return err
				}
			}
			deep := tx.Bucket([]byte("deep"))
			for i := range 60 {
				if err := deep.Put(binary.BigEndian.AppendUint32(nil, uint32(i)), fmt.Appendf(nil, "value %d of round %d", i, round)); err != nil {
					return err
				}
			}
			return errors.Join(deep.Put([]byte("long"), bytes.Repeat([]byte("x"), 5000)), tx.Bucket([]byte("inline")).Put([]byte("k"), []byte("v")))
		}))
	}
	err = errors.Join(err, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				records = append(records, fmt.Sprintf("%s %x %x", name, k, v))
				return nil
			})
		})
	}), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return data, records
}

// look returns everything that a file shows.
func look(data []byte, want uint64) (records []string, found []Problem, err error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)), want)
	if err != nil {
		return nil, nil, err
	}
	list, err := f.Buckets()
	for _, b := range list {
		err = errors.Join(err, f.Records(b, func(k, v []byte) error {
			records = append(records, fmt.Sprintf("%s %x %x", b.Name, k, v))
			return nil
		}))
	}
	return records, f.Problems(), err
}

// TestReadsWhatBoltWrote compares a look with bbolt's own reading.
func TestReadsWhatBoltWrote(t *testing.T) {
	data, want := made(t)
	got, found, err := look(data, 0)
	if err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	f, err := Open(bytes.NewReader(data), int64(len(data)), 0)
	if err != nil || f.InUse() <= 0 || f.InUse() > int64(len(data)) {
		t.Fatal(f.InUse(), err)
	}
	if got, found, err = look(data[:f.InUse()], 0); err != nil || len(found) > 0 || !cmp.Equal(got, want) {
		t.Error("what is in use is not the whole:", found, err)
	}
	_, found, err = look(data[:f.InUse()-1], 0)
	if err != nil || len(found) == 0 {
		t.Error("cut by a byte:", found, err)
	}
}

func TestWhichTransaction(t *testing.T) {
	data, want := made(t)
	newest := max(order.Uint64(data[pageHeaderSize+48:]), order.Uint64(data[1024+pageHeaderSize+48:]))
	if got, found, err := look(data, newest); err != nil || len(found) > 0 || !cmp.Equal(got, want) {
		t.Error(found, err)
	}
	if _, _, err := look(data, newest+1); !errors.Is(err, ErrMoved) {
		t.Error(err)
	}
}

// TestNothingIsLostInSilence flips every bit of the meta pages and of every page header in turn: either it is told, or all
// records are there. Keys and values carry no checksum here; their owners seal them.
func TestNothingIsLostInSilence(t *testing.T) {
	data, want := made(t)
	told, value := 0, 0
	for page := 0; page < len(data); page += 1024 {
		if value--; value > 0 {
			continue // it goes on with a long value
		}
		value = int(order.Uint32(data[page+12:])) + 1
		for bit := range (pageHeaderSize + metaSize) * 8 {
			if page > 1024 && bit >= pageHeaderSize*8 {
				break
			}
			data[page+bit/8] ^= 1 << (bit % 8)
			got, found, err := look(data, 0)
			data[page+bit/8] ^= 1 << (bit % 8)
			switch {
			case err != nil && !errors.Is(err, ErrForeign):
				t.Fatalf("page %d, bit %d: %v", page/1024, bit, err)
			case err != nil || len(found) > 0:
				told++
			case !cmp.Equal(got, want):
				t.Fatalf("page %d, bit %d: other records and no word", page/1024, bit)
			}
		}
	}
	if told < 2*metaSize*8 {
		t.Errorf("only %d flips were told", told)
	}
}

// TestVisitorEndsTheLook: an error of the visitor comes back, and no record follows.
func TestVisitorEndsTheLook(t *testing.T) {
	data, _ := made(t)
	f, err := Open(bytes.NewReader(data), int64(len(data)), 0)
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Buckets()
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	enough, calls := errors.New("enough"), 0
	err = f.Records(list[0], func(_, _ []byte) error {
		if calls++; calls == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || calls != 3 || len(f.Problems()) > 0 {
		t.Error(calls, err, f.Problems())
	}
}

func FuzzLook(f *testing.F) {
	data, _ := made(f)
	f.Add(data)
	f.Add(data[:3000])
	f.Add([]byte("no bbolt file"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, found, err := look(data, 0)
		if err != nil && !errors.Is(err, ErrForeign) {
			t.Error(err)
		}
		for _, p := range found {
			if p.Where == "" || p.What == "" {
				t.Errorf("a problem without words: %+v", p)
			}
		}
	})
}
