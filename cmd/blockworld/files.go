package main

import (
	"fmt"
	"os"

	"blockworld/sentinel/boltfile"
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
	return notWritten(path, boltfile.WriteWhole(path, data))
}
