package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// makeFolder makes a folder for output.
func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fail(exitFailed, notWritten(path, err))
	}
	return nil
}

// makePrivate makes the data folder, for its owner only.
func makePrivate(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fail(exitFailed, notWritten(path, err))
	}
	return nil
}

// notWritten says what to do about a file or folder that could not be written; nil stays nil.
func notWritten(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s could not be written (%w): see that you may write there and that there is room, or choose another place", path, err)
}

// writePrivate writes a file that nobody but its owner can read, whole or not at all.
func writePrivate(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // of mode 0600
	if err != nil {
		return notWritten(path, err)
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return notWritten(path, err)
}
