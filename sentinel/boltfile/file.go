package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt file format 2, native byte order: page header {id u64, flags u16, count u16, overflow u32}; branch element {pos
// u32, ksize u32, page u64}; leaf element {flags u32, pos u32, ksize u32, vsize u32}, pos counted from the element itself;
// then keys and values without gaps. Bucket value {root u64, sequence u64}, and with root 0 a whole leaf page behind it.
// Meta {magic u32, version u32, page size u32, flags u32, root u64, sequence u64, freelist u64, high u64, transaction u64,
// checksum u64}.
const (
	pageHeaderSize  = 16
	elementSize     = 16
	bucketSize      = 16
	metaSize        = 64
	branchFlag      = 1
	leafFlag        = 2
	metaFlag        = 4
	boltMagic       = 0xED0CDAED
	boltVersion     = 2
	minPageSize     = 512
	maxPageSize     = 1 << 20
	maxDepth        = 64
	noFreelist      = ^uint64(0)
	bucketLeafFlag  = 1
	metaChecksumEnd = 56 // bytes of a meta that its checksum covers
)

var order = binary.NativeEndian

// ErrForeign is returned for what does not begin like a bbolt file.
var ErrForeign = errors.New("this is no bbolt file, or it was cut short")

// ErrMoved says that the wanted transaction's meta page has been written over meanwhile.
var ErrMoved = errors.New("the file has moved on")

// Problem is one damage of a file.
type Problem struct {
	Where string // page, or bucket and key
	What  string
}

// File is a bbolt file that is being looked at. Damage does not end the look, but what lies below it is left out.
type File struct {
	f     io.ReaderAt
	size  int64
	page  int64  // page size
	high  uint64 // first page id that is not in use
	root  uint64 // page of the bucket of buckets
	seen  []bool // by page id
	spare [][]byte
	found []Problem
	err   error // of reading, or a visitor's
}

// Bucket is a bucket of the top level.
type Bucket struct {
	Name  string
	value []byte
}

// Open checks both meta pages of a file of so many bytes. The look is at the newest transaction, or at the wanted one if
// that is not 0. The error wraps ErrForeign or ErrMoved, or is one of reading; damage is among the Problems.
func Open(f io.ReaderAt, size int64, want uint64) (*File, error) {
	w := &File{f: f, size: size}
	var err error
	if w.page, err = PageSize(f); err != nil {
		return nil, err
	}
	if w.page == 0 {
		w.damaged("page 0", "its page size")
		return w, nil
	}
	if err := w.metas(want); err != nil {
		return nil, err
	}
	if len(w.found) == 0 {
		w.seen = make([]bool, w.high)
	}
	return w, nil
}

// PageSize returns the page size that the first meta page names, in bytes, 0 for one that no file has. It never changes.
// Errors wrap ErrForeign or are those of reading.
func PageSize(f io.ReaderAt) (int64, error) {
	head := make([]byte, pageHeaderSize+metaSize)
	if _, err := f.ReadAt(head, 0); err != nil && !short(err) {
		return 0, err
	} else if err != nil || order.Uint32(head[pageHeaderSize:]) != boltMagic {
		return 0, ErrForeign
	}
	size := int64(order.Uint32(head[pageHeaderSize+8:]))
	if size < minPageSize || size > maxPageSize || size&(size-1) != 0 {
		return 0, nil
	}
	return size, nil
}

// Problems returns the damage found up to now, in the order of the look.
func (w *File) Problems() []Problem { return w.found }

// InUse returns how many bytes the pages in use take, counted from the file's beginning.
func (w *File) InUse() int64 { return int64(w.high) * w.page }

func (w *File) damaged(where, format string, args ...any) bool {
	w.found = append(w.found, Problem{where, fmt.Sprintf(format, args...)})
	return false
}

// metas checks both meta pages and takes the wanted or newer one. A damaged meta page means that the last transaction may
// be lost, so the older one is never taken instead.
func (w *File) metas(want uint64) error {
	var newest uint64
	head := make([]byte, pageHeaderSize+metaSize)
	for id := range uint64(2) {
		if !w.readAt(head, id, id) || !w.meta(id, head) {
			return w.err
		}
		meta := head[pageHeaderSize:]
		tx := order.Uint64(meta[48:])
		if want == 0 && (id == 0 || tx > newest) || want != 0 && tx == want {
			newest, w.root, w.high = tx, order.Uint64(meta[16:]), order.Uint64(meta[40:])
		}
	}
	switch {
	case want != 0 && newest != want:
		return ErrMoved
	case w.high > uint64(w.size/w.page):
		w.damaged("the end of the file", "cut short: %d pages are in use, %d are there", w.high, w.size/w.page)
	}
	return nil
}

func (w *File) meta(id uint64, head []byte) bool {
	meta := head[pageHeaderSize:]
	h := fnv.New64a()
	h.Write(meta[:metaChecksumEnd])
	switch {
	case order.Uint64(head) != id || order.Uint16(head[8:]) != metaFlag:
		return w.damaged(pageName(id), "its header is not a meta page's")
	case order.Uint32(meta) != boltMagic || h.Sum64() != order.Uint64(meta[metaChecksumEnd:]):
		return w.damaged(pageName(id), "its checksum is wrong")
	case order.Uint32(meta[4:]) != boltVersion || int64(order.Uint32(meta[8:])) != w.page:
		return w.damaged(pageName(id), "file format %d", order.Uint32(meta[4:]))
	case order.Uint64(meta[32:]) != noFreelist: // ours keep none in the file
		return w.damaged(pageName(id), "it was written by another program")
	}
	return true
}

// Buckets walks the bucket of buckets, once for a File, and returns what it lists, by name. The error is one of reading.
func (w *File) Buckets() ([]Bucket, error) {
	if len(w.found) > 0 {
		return nil, nil
	}
	var out []Bucket
	w.tree(w.root, bounds{}, 0, func(flags uint32, key, value []byte) bool {
		if flags != bucketLeafFlag {
			return w.damaged("bucket list", "%q is not a bucket", key)
		}
		out = append(out, Bucket{string(key), bytes.Clone(value)})
		return true
	})
	return out, w.err
}

// Records walks a bucket, once for a File, and calls visit for every record in the order of the keys. Both slices are
// valid during the call only. An error of visit ends the look and is returned; any other is one of reading.
func (w *File) Records(b Bucket, visit func(key, value []byte) error) error {
	where := "bucket " + b.Name
	if len(b.value) < bucketSize || order.Uint64(b.value[8:]) != 0 {
		w.damaged(where, "its header")
		return nil
	}
	record := func(flags uint32, key, value []byte) bool {
		if flags != 0 {
			return w.damaged(fmt.Sprintf("%s, key %x", where, key), "a bucket where a record belongs")
		}
		w.err = visit(key, value)
		return w.err == nil
	}
	if root := order.Uint64(b.value); root == 0 {
		w.leaf(where, b.value[bucketSize:], &bounds{}, record, true)
	} else if len(b.value) != bucketSize {
		w.damaged(where, "its header")
	} else {
		w.tree(root, bounds{}, 0, record)
	}
	return w.err
}

func short(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func pageName(id uint64) string { return fmt.Sprintf("page %d", id) }
