package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// copySuffix is behind the store's name in that of a copy while a backup is made of it, and something random behind it. Opening
// the store removes such copies, so it is a name that nobody gives to a backup.
const copySuffix = ".unfinished-backup-"

// Backup implements Engine. What the log holds is put into a copy of the tree first, so that a backup is one whole file.
func (e *bolt) Backup(w io.Writer) error {
	if err := e.backup(w); err != nil {
		return fmt.Errorf("backup of %s: %w", e.path, storage(err))
	}
	return nil
}

func (e *bolt) backup(w io.Writer) error {
	s, err := e.snapshot()
	if err != nil {
		return err
	}
	defer s.tree.tx.Rollback()
	draft, err := os.CreateTemp(filepath.Dir(e.path), filepath.Base(e.path)+copySuffix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	defer draft.Close()
	if _, err := s.tree.tx.WriteTo(draft); err != nil {
		return err
	}
	db, err := openBolt(draft.Name(), false)
	if err != nil {
		return err
	}
	db.NoSync = true // it is read back at once
	err = db.Update(func(tx *bbolt.Tx) error {
		to := &boltReader{tx: tx}
		if err := s.each(to.write); err != nil {
			return err
		}
		return to.whole()
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if _, err := draft.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(w, draft)
	return err
}

// checkContent checks that a blueprint is what its digest says.
func checkContent(digest, data []byte) error {
	if sum := sha256.Sum256(data); string(sum[:]) != string(digest) {
		return errors.New("its digest is another")
	}
	return nil
}
