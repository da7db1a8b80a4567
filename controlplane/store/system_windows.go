package store

import "os"

const (
	noFollow   = 0
	mapAtLeast = 0 // mapping more than there is would make the file as large
)

// openToOthers knows nothing: permissions are not in the mode here.
func openToOthers(os.FileMode) bool { return false }

// writableByOthers knows nothing: permissions are not in the mode here.
func writableByOthers(os.FileMode) bool { return false }
