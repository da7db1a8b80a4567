package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// BackupFile writes a backup of an engine to a new file, durable before it returns. An existing file is not written over.
func BackupFile(e Engine, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("backup %s: %w: name a new file", path, ErrExists)
	}
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storage(err)
	}
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("backup: %w", storage(err))
	}
	err = errors.Join(e.Backup(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		os.Remove(draft)
		return fmt.Errorf("backup: %w", storage(err))
	}
	return syncDir(filepath.Dir(path))
}

// checkContent checks that a blueprint is what its digest says.
func checkContent(digest, data []byte) error {
	if sum := sha256.Sum256(data); string(sum[:]) != string(digest) {
		return errors.New("its digest is another")
	}
	return nil
}
