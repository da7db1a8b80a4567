package journal

import (
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// BenchmarkRawUpdate is the limit that BenchmarkMark stands beside: one bbolt transaction with one small value.
func BenchmarkRawUpdate(b *testing.B) {
	db, err := openBolt(filepath.Join(b.TempDir(), "raw.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for n := uint64(0); b.Loop(); n++ {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("raw"))
			if err != nil {
				return err
			}
			return bucket.Put(number(n), []byte("value"))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
