package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt trusts its file: on a flipped bit it may fall back to its older meta page, lose records silently, panic in a
// goroutine of its own or fault. So before it sees a file, every page that can be reached is checked here, read only:
// both meta pages, each page's place, size and layout, the order of all keys, and the seal of every record.
//
// Layout (bbolt file format 2, native byte order): page header {id u64, flags u16, count u16, overflow u32}; branch
// element {pos u32, ksize u32, page u64}; leaf element {flags u32, pos u32, ksize u32, vsize u32}, pos counted from the
// element itself; then keys and values without gaps. Bucket value {root u64, sequence u64}, and with root 0 a whole
// leaf page behind it.
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

// checkFile checks a whole journal file. visit, if not nil, is called for every record, unsealed.
func checkFile(path string, visit func(bucket, key, record []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkReader(f, info.Size(), visit)
}

func checkReader(f io.ReaderAt, size int64, visit func(bucket, key, record []byte) error) error {
	w := &walker{f: f, size: size, visit: visit, seen: map[uint64]bool{}}
	root, err := w.metas()
	if err != nil {
		return err
	}
	return w.root(root)
}

type walker struct {
	f     io.ReaderAt
	size  int64
	page  int64  // page size
	high  uint64 // first page id that is not in use
	seen  map[uint64]bool
	visit func(bucket, key, record []byte) error
}

// metas checks both meta pages and returns the root page of the newer one. A damaged meta page means that the last
// transaction may be lost, so the older one is never taken instead.
func (w *walker) metas() (root uint64, err error) {
	if w.size < 2*512 {
		return 0, damaged("the whole file", "%d bytes are too few for a journal: it was cut short or is something else", w.size)
	}
	head := make([]byte, pageHeaderSize+metaSize)
	if _, err := w.f.ReadAt(head, 0); err != nil {
		return 0, err
	}
	meta := head[pageHeaderSize:]
	if order.Uint32(meta) != boltMagic {
		return 0, damaged("page 0", "this is no journal")
	}
	w.page = int64(order.Uint32(meta[8:]))
	if w.page < 512 || w.page > maxPageSize || w.page&(w.page-1) != 0 {
		return 0, damaged("page 0", "page size %d", w.page)
	}
	var newest uint64
	for id := range uint64(2) {
		if _, err := w.f.ReadAt(head, int64(id)*w.page); err != nil {
			return 0, damaged(pageName(id), "cut off")
		}
		if err := w.meta(id, head); err != nil {
			return 0, err
		}
		if tx := order.Uint64(meta[48:]); id == 0 || tx > newest {
			newest, root, w.high = tx, order.Uint64(meta[16:]), order.Uint64(meta[40:])
		}
	}
	if w.high > uint64(w.size/w.page) {
		return 0, damaged("the end of the file", "cut short: %d pages are in use, %d are there", w.high, w.size/w.page)
	}
	return root, nil
}

func (w *walker) meta(id uint64, head []byte) error {
	meta := head[pageHeaderSize:]
	h := fnv.New64a()
	h.Write(meta[:metaChecksumEnd])
	switch {
	case order.Uint64(head) != id || order.Uint16(head[8:]) != metaFlag:
		return damaged(pageName(id), "its header is not a meta page's")
	case order.Uint32(meta) != boltMagic || h.Sum64() != order.Uint64(meta[metaChecksumEnd:]):
		return damaged(pageName(id), "%v", errSeal)
	case order.Uint32(meta[4:]) != boltVersion || int64(order.Uint32(meta[8:])) != w.page:
		return damaged(pageName(id), "file format %d", order.Uint32(meta[4:]))
	case order.Uint64(meta[32:]) != noFreelist:
		return damaged(pageName(id), "it was written by another program")
	}
	return nil
}

// root walks the bucket of buckets.
func (w *walker) root(id uint64) error {
	found := map[string][]byte{}
	err := w.tree(id, bounds{}, 0, func(flags uint32, key, value []byte) error {
		if flags != bucketLeafFlag {
			return damaged("bucket list", "%q is not a bucket", key)
		}
		found[string(key)] = bytes.Clone(value)
		return nil
	})
	if err != nil {
		return err
	}
	meta, ok := found[string(metaBucket)]
	if !ok {
		return damaged("bucket list", "no bucket meta")
	}
	delete(found, string(metaBucket))
	if err := w.bucket(metaBucket, meta); err != nil { // first: a newer version may have other buckets
		return err
	}
	for _, name := range buckets()[1:] {
		value, ok := found[string(name)]
		if !ok {
			return damaged("bucket list", "bucket %s is missing", name)
		}
		if err := w.bucket(name, value); err != nil {
			return err
		}
		delete(found, string(name))
	}
	for name := range found {
		return damaged("bucket list", "bucket %q is not one of ours", name)
	}
	return nil
}

// bucket walks one bucket and unseals its records.
func (w *walker) bucket(name, value []byte) error {
	if len(value) < bucketSize || order.Uint64(value[8:]) != 0 {
		return damaged("bucket "+string(name), "its header")
	}
	version := false
	record := func(flags uint32, key, value []byte) error {
		if flags != 0 {
			return damaged(place(name, key), "a bucket where a record belongs")
		}
		if bytes.Equal(name, metaBucket) && bytes.Equal(key, versionKey) {
			version = true
			return checkVersion(value)
		}
		rec, err := unsealed(name, key, value)
		if err != nil {
			return damaged(place(name, key), "%v", err)
		}
		if w.visit != nil {
			return w.visit(name, key, rec)
		}
		return nil
	}
	var err error
	if root := order.Uint64(value); root != 0 {
		if len(value) != bucketSize {
			return damaged("bucket "+string(name), "its header")
		}
		err = w.tree(root, bounds{}, 0, record)
	} else {
		err = w.leaf("bucket "+string(name), value[bucketSize:], &bounds{}, record, true)
	}
	if err == nil && bytes.Equal(name, metaBucket) && !version {
		err = damaged("bucket meta", "no schema version")
	}
	return err
}

func checkVersion(raw []byte) error {
	if len(raw) != 4 {
		return damaged("bucket meta, key version", "it is not 4 bytes")
	}
	if v := binary.BigEndian.Uint32(raw); v != SchemaVersion {
		return fmt.Errorf("%w (schema %d, this program knows %d): use the program that wrote it; the file was left as it was",
			ErrForeignVersion, v, SchemaVersion)
	}
	return nil
}

// bounds are where the keys of a page may lie: from low on, below high; nil is open. last is the key before.
type bounds struct{ low, high, last []byte }

func (b *bounds) admit(key []byte) bool {
	ok := len(key) > 0 && (b.low == nil || bytes.Compare(key, b.low) >= 0) &&
		(b.high == nil || bytes.Compare(key, b.high) < 0) && (b.last == nil || bytes.Compare(key, b.last) > 0)
	b.last = key
	return ok
}

type onLeaf func(flags uint32, key, value []byte) error

// tree walks a page and everything below it.
func (w *walker) tree(id uint64, b bounds, depth int, visit onLeaf) error {
	page, err := w.read(id)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return damaged(pageName(id), "the tree is too deep")
	}
	if order.Uint16(page[8:]) == leafFlag {
		if order.Uint16(page[10:]) == 0 { // bbolt frees pages that come to hold nothing
			return damaged(pageName(id), "a leaf that holds nothing")
		}
		return w.leaf(pageName(id), page, &b, visit, false)
	}
	count := int(order.Uint16(page[10:]))
	if count == 0 {
		return damaged(pageName(id), "a branch without children")
	}
	end := pageHeaderSize + count*elementSize
	keys, children := make([][]byte, count), make([]uint64, count)
	for i := range count {
		at := pageHeaderSize + i*elementSize
		if at+elementSize > len(page) {
			return damaged(pageName(id), "its elements do not fit")
		}
		start, size := uint64(at)+uint64(order.Uint32(page[at:])), uint64(order.Uint32(page[at+4:]))
		if start != uint64(end) || start+size > uint64(len(page)) {
			return damaged(pageName(id), "element %d is out of place", i)
		}
		end += int(size)
		keys[i], children[i] = page[start:end:end], order.Uint64(page[at+8:])
		if !b.admit(keys[i]) {
			return damaged(pageName(id), "key %d is out of order", i)
		}
	}
	if err := w.fits(pageName(id), page, end, false); err != nil {
		return err
	}
	for i := range count {
		below := bounds{low: keys[i], high: b.high}
		if i+1 < count {
			below.high = keys[i+1]
		}
		if err := w.tree(children[i], below, depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}

// leaf checks the layout of a leaf page, one inside a bucket's value included, and visits its records.
func (w *walker) leaf(where string, page []byte, b *bounds, visit onLeaf, inline bool) error {
	if len(page) < pageHeaderSize || order.Uint16(page[8:]) != leafFlag {
		return damaged(where, "its page header")
	}
	if inline && (order.Uint64(page) != 0 || order.Uint32(page[12:]) != 0) {
		return damaged(where, "its page header")
	}
	count := int(order.Uint16(page[10:]))
	end := uint64(pageHeaderSize + count*elementSize)
	for i := range count {
		at := pageHeaderSize + i*elementSize
		if at+elementSize > len(page) {
			return damaged(where, "its elements do not fit")
		}
		flags, start := order.Uint32(page[at:]), uint64(at)+uint64(order.Uint32(page[at+4:]))
		ksize, vsize := uint64(order.Uint32(page[at+8:])), uint64(order.Uint32(page[at+12:]))
		if start != end || start+ksize+vsize > uint64(len(page)) {
			return damaged(where, "record %d is out of place", i)
		}
		end = start + ksize + vsize
		key, value := page[start:start+ksize:start+ksize], page[start+ksize:end:end]
		if !b.admit(key) {
			return damaged(where, "key %x is out of order", key)
		}
		if err := visit(flags, key, value); err != nil {
			return err
		}
	}
	return w.fits(where, page, int(end), inline)
}

// fits tells whether a page is exactly as large as its content needs.
func (w *walker) fits(where string, page []byte, used int, inline bool) error {
	want := (int64(used) + w.page - 1) / w.page * w.page
	if inline {
		want = int64(used)
	}
	if int64(len(page)) != want {
		return damaged(where, "%d bytes for %d of content", len(page), used)
	}
	return nil
}

// read returns a page with its overflow. A page may be reached once.
func (w *walker) read(id uint64) ([]byte, error) {
	head := make([]byte, pageHeaderSize)
	if id < 2 || id >= w.high {
		return nil, damaged(pageName(id), "there is no such page")
	}
	if _, err := w.f.ReadAt(head, int64(id)*w.page); err != nil {
		return nil, unreadable(id, err)
	}
	flags, more := order.Uint16(head[8:]), uint64(order.Uint32(head[12:]))
	if order.Uint64(head) != id || flags != leafFlag && flags != branchFlag || more >= w.high-id {
		return nil, damaged(pageName(id), "its header")
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			return nil, damaged(pageName(i), "two places lead to it")
		}
		w.seen[i] = true
	}
	page := make([]byte, (int64(more)+1)*w.page)
	if _, err := w.f.ReadAt(page, int64(id)*w.page); err != nil {
		return nil, unreadable(id, err)
	}
	return page, nil
}

func unreadable(id uint64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged(pageName(id), "cut off")
	}
	return fmt.Errorf("%s: %w", pageName(id), err)
}

func pageName(id uint64) string { return fmt.Sprintf("page %d", id) }
