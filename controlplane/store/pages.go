package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"blockworld/sentinel/boltfile"
)

// errMoved says that the wanted transaction's meta page has been written over meanwhile.
var errMoved = boltfile.ErrMoved

// shape is what a walk has found.
type shape struct {
	layout  uint32 // 0: none was found
	buckets map[string]bool
}

// walk checks the shape of a file as of its newest transaction, or as of transaction want if that is not 0. Which buckets
// have to be there is a question of the layout, and what their records say is Check's to read. An error is one of
// reading, or wraps ErrForeign or errMoved; problems are damage.
func walk(f io.ReaderAt, size int64, want uint64) (shape, []Problem, error) {
	s := shape{buckets: map[string]bool{}}
	file, err := boltfile.Open(f, size, want)
	if errors.Is(err, boltfile.ErrForeign) {
		err = fmt.Errorf("%w: its %d bytes are something else, or were cut short; it was left as it was: move it away, or put a backup in its place",
			ErrForeign, size)
	}
	if err != nil {
		return s, nil, err
	}
	list, err := file.Buckets()
	for _, b := range list {
		if err != nil {
			break
		}
		s.buckets[b.Name] = true
		err = file.Records(b, func(key, value []byte) error {
			if b.Name == bucketNames[Meta] && bytes.Equal(key, versionKey) && len(value) == 4 {
				s.layout = binary.BigEndian.Uint32(value)
			}
			return nil
		})
	}
	var found []Problem
	if page, err := boltfile.PageSize(f); err == nil && page > 0 && size%page != 0 { // bbolt makes a file longer by whole pages
		found = append(found, Problem{"the end of the file", fmt.Sprintf("cut short, or something was put behind it: %d bytes are no whole pages of %d", size, page)})
	}
	for _, p := range file.Problems() {
		found = append(found, Problem{p.Where, p.What})
	}
	return s, found, err
}
