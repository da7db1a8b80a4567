package boltfile

import (
	"bytes"
	"fmt"
)

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
func (w *File) tree(id uint64, b bounds, depth int, visit onLeaf) {
	where := pageName(id)
	page := w.read(id, depth)
	if page == nil {
		return
	}
	if order.Uint16(page[8:]) == leafFlag {
		if order.Uint16(page[10:]) == 0 && id != w.root { // bbolt frees pages that come to hold nothing
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
		if w.err != nil {
			return
		}
		below := bounds{low: keys[i], high: b.high}
		if i+1 < count {
			below.high = keys[i+1]
		}
		w.tree(children[i], below, depth+1, visit)
	}
}

// leaf checks the layout of a leaf page, one inside a bucket's value included, and visits its records.
func (w *File) leaf(where string, page []byte, b *bounds, visit onLeaf, inline bool) bool {
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
func (w *File) fits(where string, page []byte, used int, inline bool) bool {
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
func (w *File) read(id uint64, depth int) []byte {
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

// readAt reads page id, which belongs to page of, and what follows it.
func (w *File) readAt(b []byte, id, of uint64) bool {
	_, err := w.f.ReadAt(b, int64(id)*w.page)
	switch {
	case err == nil:
		return true
	case short(err):
		return w.damaged(pageName(of), "cut off")
	}
	if w.err == nil {
		w.err = fmt.Errorf("%s: %w", pageName(of), err)
	}
	return false
}
