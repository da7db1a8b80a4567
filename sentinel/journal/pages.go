package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"blockworld/sentinel/boltfile"
)

// Before bbolt sees a journal, all of it is checked, read only: the shape of its file, that the buckets are those of the
// tree, and the seal of every record.

// checkFile checks a whole journal file. visit, if not nil, is called for every record, unsealed.
func checkFile(path string, visit func(bucket, key, record []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkReader(f, info.Size(), visit)
}

func checkReader(f io.ReaderAt, size int64, visit func(bucket, key, record []byte) error) error {
	file, err := openShape(f, size)
	if err != nil {
		return err
	}
	list, err := file.Buckets()
	if err := firstOf(file, err); err != nil {
		return err
	}
	found := map[string]boltfile.Bucket{}
	for _, b := range list {
		found[b.Name] = b
	}
	for _, name := range buckets() { // meta first: a newer version may have other buckets
		b, ok := found[string(name)]
		if !ok {
			return damaged("bucket list", "bucket %s is missing", name)
		}
		if err := checkBucket(file, b, visit); err != nil {
			return err
		}
		delete(found, string(name))
	}
	for name := range found {
		return damaged("bucket list", "bucket %q is not one of ours", name)
	}
	return nil
}

// openShape checks the meta pages of a journal file.
func openShape(f io.ReaderAt, size int64) (*boltfile.File, error) {
	file, err := boltfile.Open(f, size, 0)
	if err != nil {
		return nil, notOurs(err)
	}
	return file, firstOf(file, nil)
}

// notOurs turns boltfile's word for a file that is something else into ours.
func notOurs(err error) error {
	if errors.Is(err, boltfile.ErrForeign) {
		return damaged("page 0", "this is no journal, or it was cut short")
	}
	return err
}

// firstOf returns the first damage of a file, if there is one, and the error otherwise.
func firstOf(file *boltfile.File, err error) error {
	if all := file.Problems(); len(all) > 0 {
		return &Damage{Where: all[0].Where, What: all[0].What}
	}
	return err
}

// checkBucket walks one bucket and unseals its records.
func checkBucket(file *boltfile.File, b boltfile.Bucket, visit func(bucket, key, record []byte) error) error {
	name := []byte(b.Name)
	meta, version := bytes.Equal(name, metaBucket), false
	err := firstOf(file, file.Records(b, func(key, value []byte) error {
		if meta && bytes.Equal(key, versionKey) {
			version = true
			return checkVersion(value)
		}
		record, err := unsealed(name, key, value)
		if err != nil {
			return damaged(place(name, key), "%v", err)
		}
		if visit != nil {
			return visit(name, key, record)
		}
		return nil
	}))
	if err == nil && meta && !version {
		err = damaged("bucket meta", "no schema version")
	}
	return err
}

func checkVersion(raw []byte) error {
	if len(raw) != 4 {
		return damaged("bucket meta, key version", "it is not 4 bytes")
	}
	if v := binary.BigEndian.Uint32(raw); v != SchemaVersion {
		return fmt.Errorf("%w (schema %d, this program knows %d): use the program that wrote it; the file was left as it was",
			ErrForeignVersion, v, SchemaVersion)
	}
	return nil
}
