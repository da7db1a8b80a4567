package boltfile

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteWhole writes a file that nobody but its owner can read, whole or not at all, and durably: beside its place, synced,
// renamed. What was there before is replaced; after an error it is still there.
func WriteWhole(path string, data []byte) error {
	dir, name := filepath.Split(path)
	draft, err := os.CreateTemp(filepath.Clean(dir), name+".*.tmp") // of mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(data)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		os.Remove(draft.Name())
		return err
	}
	return SyncDir(filepath.Clean(dir))
}
