package journal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"blockworld/sentinel/boltfile"
)

// ErrLooking says that a journal was opened with Look, which stores nothing.
var ErrLooking = errors.New("this is a copy of the journal to look at: nothing is stored in it")

// ErrBusy says that no quiet moment was found to copy a journal that is being written to.
var ErrBusy = errors.New("the journal is written to all the time just now: try again, or wait until the build pauses or ends")

// lookPatience is how long Look waits for a moment between two commits that is long enough for a copy.
const lookPatience = 10 * time.Second

// Look opens a copy of a data directory's journal as of its newest commit, to read from, while another process may be
// writing to it. It takes no lock, changes nothing and needs no right to write there. The copy goes away with Close.
// Errors are those of Open, and ErrBusy.
//
// The copy is consistent although nobody is kept from writing: bbolt never writes to a page that its newest meta page
// leads to, and writes the meta page last. So if both meta pages are the same before and behind the copying, every page
// that they lead to was too, and what a next transaction may have begun to write lies in pages that nothing leads to.
// All pages and records of the copy are checked like those of a journal.
func Look(dir string, opts Options) (*Journal, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Rand == nil {
		opts.Rand = rand.Reader
	}
	path := filepath.Join(dir, FileName)
	if err := exists(path); err != nil {
		return nil, err
	}
	var err error
	for range 3 { // a rotation of the key may fall between copying and reading the key
		var j *Journal
		if j, err = look(dir, path, opts); err == nil {
			return j, nil
		}
		if !errors.Is(err, ErrWrongKey) && !errors.Is(err, ErrNoKey) {
			break
		}
	}
	return nil, err
}

func look(dir, path string, opts Options) (*Journal, error) {
	folder, err := os.MkdirTemp("", "blockworld-look-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("copy journal %s: %w", path, storage(err))
	}
	j := &Journal{dir: dir, copy: folder, opts: opts}
	j.opts.noSync = true
	draft := filepath.Join(folder, FileName)
	if err = copyFile(path, draft, lookPatience); err == nil {
		err = j.load(draft)
	}
	if err != nil {
		j.Close()
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, nil
}

// copyFile copies what is in use of a journal file, at a moment at which nothing is committed.
func copyFile(from, to string, patience time.Duration) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return storage(err)
	}
	defer out.Close()
	var pages []byte // kept from try to try: the less time a try takes, the likelier no commit falls into it
	for end := time.Now().Add(patience); ; {
		var still bool
		pages, still, err = copyOnce(in, pages)
		switch {
		case err == nil && still:
			_ = in.Sync() // what is shown should outlive a power cut; not every system lets a reader ask for it
			_, err = out.Write(pages)
			return storage(errors.Join(err, out.Close()))
		case !time.Now().Before(end):
			return anyOf(err, ErrBusy)
		}
		time.Sleep(time.Millisecond)
	}
}

// source is a journal file as copyOnce sees it.
type source interface {
	io.ReaderAt
	Stat() (os.FileInfo, error)
}

// copyOnce reads the pages in use into buf, or into a larger one. False says that a transaction was committed meanwhile.
func copyOnce(in source, buf []byte) (pages []byte, still bool, err error) {
	before, used, err := bothMetas(in)
	if err != nil {
		return buf, false, err
	}
	if int64(cap(buf)) < used {
		buf = make([]byte, used+used/4)
	}
	buf = buf[:used]
	if _, err := in.ReadAt(buf, 0); err != nil {
		return buf, false, err
	}
	after, _, err := bothMetas(in)
	return buf, err == nil && bytes.Equal(before, after), err
}

// bothMetas reads the two meta pages, checks them, and returns their bytes and how much of the file is in use.
func bothMetas(f source) (raw []byte, used int64, err error) {
	page, err := boltfile.PageSize(f)
	switch {
	case err != nil:
		return nil, 0, notOurs(err)
	case page == 0:
		return nil, 0, damaged("page 0", "its page size")
	}
	raw = make([]byte, 2*page)
	if _, err := f.ReadAt(raw, 0); err != nil {
		return nil, 0, damaged("page 1", "cut off")
	}
	info, err := f.Stat() // behind the reading: the file may just have grown
	if err != nil {
		return nil, 0, err
	}
	file, err := openShape(bytes.NewReader(raw), info.Size())
	if err != nil {
		return nil, 0, err
	}
	return raw, file.InUse(), nil
}
