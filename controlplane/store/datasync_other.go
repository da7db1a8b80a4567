//go:build !linux

package store

import "os"

// datasync waits until what was written to a file is on disk.
func datasync(f *os.File) error { return f.Sync() }
