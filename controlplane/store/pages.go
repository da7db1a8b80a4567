package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt trusts its file: on a flipped bit it may fall back to its older meta page, lose records silently, panic in a
// goroutine of its own or fault. So before it sees a file, the shape of everything that can be reached is checked here,
// read only: both meta pages, each page's place, size and layout, the order of all keys.
//
// Layout (bbolt file format 2, native byte order): page header {id u64, flags u16, count u16, overflow u32}; branch
// element {pos u32, ksize u32, page u64}; leaf element {flags u32, pos u32, ksize u32, vsize u32}, pos counted from the
// element itself; then keys and values without gaps. Bucket value {root u64, sequence u64}, and with root 0 a whole
// leaf page behind it. Meta {magic u32, version u32, page size u32, flags u32, root u64, sequence u64, freelist u64,
// high u64, transaction u64, checksum u64}.
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
	maxPageSize     = 1 << 20
	maxDepth        = 64
	noFreelist      = ^uint64(0)
	bucketLeafFlag  = 1
	metaChecksumEnd = 56 // bytes of a meta that its checksum covers
)

var order = binary.NativeEndian

// shape is what a walk has found.
type shape struct {
	layout  uint32 // 0: none was found
	buckets map[string]bool
}

// walker checks the shape of a file. The first damage of a page ends the look at that page and what lies below it.
type walker struct {
	f     io.ReaderAt
	size  int64
	page  int64  // page size
	high  uint64 // first page id that is not in use
	top   uint64 // page of the bucket of buckets
	seen  []bool // by page id
	shape shape
	found []Problem
	err   error // of reading
	spare [][]byte
}

// walk checks the file as of its newest transaction, or as of transaction want if that is not 0. An error is one of
// reading, or wraps ErrForeign; problems are damage.
func walk(f io.ReaderAt, size int64, want uint64) (shape, []Problem, error) {
	w := &walker{f: f, size: size, shape: shape{buckets: map[string]bool{}}}
	root, err := w.metas(want)
	if err != nil {
		return w.shape, nil, err
	}
	if len(w.found) == 0 {
		w.seen = make([]bool, w.high)
		w.root(root)
	}
	return w.shape, w.found, w.err
}

func (w *walker) damaged(where, format string, args ...any) bool {
	w.found = append(w.found, Problem{where, fmt.Sprintf(format, args...)})
	return false
}

// errMoved says that the wanted transaction's meta page has been written over meanwhile.
var errMoved = errors.New("the store has moved on")

// metas checks both meta pages and returns the root page of the wanted or newer one. A damaged meta page means that the
// last transaction may be lost, so the older one is never taken instead.
func (w *walker) metas(want uint64) (root uint64, err error) {
	head := make([]byte, pageHeaderSize+metaSize)
	if _, err := w.f.ReadAt(head, 0); err != nil {
		return 0, notOurs(w.size, err)
	}
	meta := head[pageHeaderSize:]
	if order.Uint32(meta) != boltMagic {
		return 0, notOurs(w.size, nil)
	}
	w.page = int64(order.Uint32(meta[8:]))
	if w.page < 512 || w.page > maxPageSize || w.page&(w.page-1) != 0 {
		w.damaged("page 0", "page size %d", w.page)
		return 0, nil
	}
	var newest uint64
	for id := range uint64(2) {
		if _, err := w.f.ReadAt(head, int64(id)*w.page); err != nil {
			w.damaged(pageName(id), "cut off")
			return 0, nil
		}
		tx := order.Uint64(meta[48:])
		if !w.meta(id, head) {
			return 0, nil
		}
		if want == 0 && (id == 0 || tx > newest) || want != 0 && tx == want {
			newest, root, w.high = tx, order.Uint64(meta[16:]), order.Uint64(meta[40:])
		}
	}
	switch {
	case want != 0 && newest != want:
		return 0, errMoved
	case w.high > uint64(w.size/w.page):
		w.damaged("the end of the file", "cut short: %d pages are in use, %d are there", w.high, w.size/w.page)
	}
	return root, nil
}

func notOurs(size int64, err error) error {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("%w: its %d bytes are something else, or were cut short; it was left as it was: move it away, or put a backup in its place",
		ErrForeign, size)
}

func (w *walker) meta(id uint64, head []byte) bool {
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
	case order.Uint64(meta[32:]) != noFreelist:
		return w.damaged(pageName(id), "it was written by another program")
	}
	return true
}

// root walks the bucket of buckets, and each bucket. Which buckets have to be there is a question of the layout.
func (w *walker) root(id uint64) {
	var values [][]byte
	var names []string
	w.top = id
	w.tree(id, bounds{}, 0, func(flags uint32, key, value []byte) bool {
		if flags != bucketLeafFlag {
			return w.damaged("bucket list", "%q is not a bucket", key)
		}
		names, values = append(names, string(key)), append(values, bytes.Clone(value))
		return true
	})
	for i, name := range names {
		w.shape.buckets[name] = true
		w.bucket(name, values[i])
	}
}

func (w *walker) bucket(name string, value []byte) {
	where := "bucket " + name
	if len(value) < bucketSize || order.Uint64(value[8:]) != 0 {
		w.damaged(where, "its header")
		return
	}
	record := func(flags uint32, key, value []byte) bool {
		if flags != 0 {
			return w.damaged(where, "a bucket where a record belongs")
		}
		if name == bucketNames[Meta] && bytes.Equal(key, versionKey) && len(value) == 4 {
			w.shape.layout = binary.BigEndian.Uint32(value)
		}
		return true
	}
	if root := order.Uint64(value); root == 0 {
		w.leaf(where, value[bucketSize:], &bounds{}, record, true)
	} else if len(value) != bucketSize {
		w.damaged(where, "its header")
	} else {
		w.tree(root, bounds{}, 0, record)
	}
}

// bounds are where the keys of a page may lie: from low on, below high; nil is open. last is the key before.
type bounds struct{ low, high, last []byte }

func (b *bounds) admit(key []byte) bool {
	ok := len(key) > 0 && (b.low == nil || bytes.Compare(key, b.low) >= 0) &&
		(b.high == nil || bytes.Compare(key, b.high) < 0) && (b.last == nil || bytes.Compare(key, b.last) > 0)
	b.last = key
	return ok
}

type onLeaf func(flags uint32, key, value []byte) bool

// tree walks a page and everything below it.
func (w *walker) tree(id uint64, b bounds, depth int, visit onLeaf) {
	where := pageName(id)
	page := w.read(id, depth)
	if page == nil {
		return
	}
	if order.Uint16(page[8:]) == leafFlag {
		if order.Uint16(page[10:]) == 0 && id != w.top { // bbolt frees pages that come to hold nothing
			w.damaged(where, "a leaf that holds nothing")
			return
		}
		w.leaf(where, page, &b, visit, false)
		return
	}
	count := int(order.Uint16(page[10:]))
	end := pageHeaderSize + count*elementSize
	if count == 0 || end > len(page) {
		w.damaged(where, "a branch with %d children", count)
		return
	}
	keys, children := make([][]byte, count), make([]uint64, count)
	for i := range count {
		at := pageHeaderSize + i*elementSize
		start, size := uint64(at)+uint64(order.Uint32(page[at:])), uint64(order.Uint32(page[at+4:]))
		if start != uint64(end) || start+size > uint64(len(page)) {
			w.damaged(where, "element %d is out of place", i)
			return
		}
		end += int(size)
		keys[i], children[i] = page[start:end:end], order.Uint64(page[at+8:])
		if !b.admit(keys[i]) {
			w.damaged(where, "key %d is out of order", i)
			return
		}
	}
	if !w.fits(where, page, end, false) {
		return
	}
	for i := range count {
		below := bounds{low: keys[i], high: b.high}
		if i+1 < count {
			below.high = keys[i+1]
		}
		w.tree(children[i], below, depth+1, visit)
	}
}

// leaf checks the layout of a leaf page, one inside a bucket's value included, and visits its records.
func (w *walker) leaf(where string, page []byte, b *bounds, visit onLeaf, inline bool) bool {
	if len(page) < pageHeaderSize || order.Uint16(page[8:]) != leafFlag ||
		inline && (order.Uint64(page) != 0 || order.Uint32(page[12:]) != 0) {
		return w.damaged(where, "its page header")
	}
	count := int(order.Uint16(page[10:]))
	end := uint64(pageHeaderSize + count*elementSize)
	if end > uint64(len(page)) {
		return w.damaged(where, "its elements do not fit")
	}
	for i := range count {
		at := pageHeaderSize + i*elementSize
		flags, start := order.Uint32(page[at:]), uint64(at)+uint64(order.Uint32(page[at+4:]))
		ksize, vsize := uint64(order.Uint32(page[at+8:])), uint64(order.Uint32(page[at+12:]))
		if start != end || start+ksize+vsize > uint64(len(page)) {
			return w.damaged(where, "record %d is out of place", i)
		}
		end = start + ksize + vsize
		key, value := page[start:start+ksize:start+ksize], page[start+ksize:end:end]
		if !b.admit(key) {
			return w.damaged(where, "key %x is out of order", key)
		}
		if !visit(flags, key, value) {
			return false
		}
	}
	return w.fits(where, page, int(end), inline)
}

// fits tells whether a page is exactly as large as its content needs.
func (w *walker) fits(where string, page []byte, used int, inline bool) bool {
	want := (int64(used) + w.page - 1) / w.page * w.page
	if inline {
		want = int64(used)
	}
	if int64(len(page)) != want {
		return w.damaged(where, "%d bytes for %d of content", len(page), used)
	}
	return true
}

// read returns a page with its overflow, valid until the next page of the same depth. A page may be reached once.
func (w *walker) read(id uint64, depth int) []byte {
	where := pageName(id)
	if id < 2 || id >= w.high {
		w.damaged(where, "there is no such page")
		return nil
	}
	if depth > maxDepth {
		w.damaged(where, "the tree is too deep")
		return nil
	}
	for len(w.spare) <= depth {
		w.spare = append(w.spare, make([]byte, w.page))
	}
	page := w.spare[depth][:w.page]
	if !w.readAt(page, id, id) {
		return nil
	}
	flags, more := order.Uint16(page[8:]), uint64(order.Uint32(page[12:]))
	if order.Uint64(page) != id || flags != leafFlag && flags != branchFlag || more >= w.high-id {
		w.damaged(where, "its header")
		return nil
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			w.damaged(pageName(i), "two places lead to it")
			return nil
		}
		w.seen[i] = true
	}
	if more > 0 {
		page = append(page, make([]byte, int64(more)*w.page)...)
		w.spare[depth] = page
		if !w.readAt(page[w.page:], id+1, id) {
			return nil
		}
	}
	return page
}

func (w *walker) readAt(b []byte, id, of uint64) bool {
	_, err := w.f.ReadAt(b, int64(id)*w.page)
	switch {
	case err == nil:
		return true
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return w.damaged(pageName(of), "cut off")
	}
	if w.err == nil {
		w.err = fmt.Errorf("%s: %w", pageName(of), err)
	}
	return false
}

func pageName(id uint64) string { return fmt.Sprintf("page %d", id) }
