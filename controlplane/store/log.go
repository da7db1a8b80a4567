package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"blockworld/sentinel/boltfile"
)

// The log is a file beside the tree, made once and written over from its beginning again and again: a write into room that
// is there already costs one wait for the disk, where a transaction of the tree costs two and many pages. A record is one
// batch: {length u32, checksum u32, number u64}, big endian, then for every write {bucket, 1 if deleted, key, value}, key
// and value each behind its length as a uvarint; zeros fill it up to the next multiple of logAlign.
//
// The tree names the log's turn, 16 random bytes, anew whenever it has taken over what the log held. They go into the
// checksum of every record, so that what is left of earlier turns, or of another store, counts for nothing.
const (
	logHeader = 16
	logAlign  = 64
	logBytes  = 1 << 20 // before the tree takes it over, which everybody waits for: some 10 ms
	logRoom   = 1 << 18 // made ahead behind it, for the batch that fills it
	turnSize  = 16
)

// log is the writer's end of it.
type log struct {
	f      *os.File
	turn   []byte
	at     int64  // where the next record goes
	number uint64 // of the next record, in its turn
	buf    []byte
}

func logPath(path string) string { return path + ".log" }

// createLog makes a log with room for size bytes, empty and, with sync, on disk.
func createLog(path string, size int64, sync bool) (*log, error) {
	f, err := os.OpenFile(logPath(path), os.O_RDWR|os.O_CREATE|os.O_TRUNC|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, min(size+logRoom, 1<<20))
	for at := int64(0); at < size+logRoom && err == nil; at += int64(len(zeros)) {
		_, err = f.WriteAt(zeros, at)
	}
	if err == nil && sync {
		err = errors.Join(f.Sync(), boltfile.SyncDir(filepath.Dir(path)))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(logPath(path)))
	}
	return &log{f: f}, nil
}

// start begins a turn.
func (l *log) start(turn []byte) { l.turn, l.at, l.number = turn, 0, 0 }

// append writes a batch and waits until it is on disk.
func (l *log) append(batch []change, sync bool) error {
	l.buf = append(l.buf[:0], make([]byte, logHeader)...)
	for _, c := range batch {
		deleted := byte(0)
		if c.deleted {
			deleted = 1
		}
		l.buf = append(l.buf, byte(c.bucket), deleted)
		l.buf = append(binary.AppendUvarint(l.buf, uint64(len(c.key))), c.key...)
		l.buf = append(binary.AppendUvarint(l.buf, uint64(len(c.value))), c.value...)
	}
	n := len(l.buf)
	binary.BigEndian.PutUint32(l.buf, uint32(n))
	binary.BigEndian.PutUint64(l.buf[8:], l.number)
	binary.BigEndian.PutUint32(l.buf[4:], recordSum(l.turn, l.buf))
	l.buf = append(l.buf, make([]byte, -n&(logAlign-1))...)
	if n, err := l.f.WriteAt(l.buf, l.at); n > 0 && err != nil {
		return errors.Join(err, l.void())
	} else if err != nil {
		return err
	}
	if sync {
		if err := datasync(l.f); err != nil {
			return fmt.Errorf("%w: %w", errUnknown, err)
		}
	}
	l.at += int64(len(l.buf))
	l.number++
	return nil
}

// void makes sure that a record that was not written well is none: its callers hear that nothing was stored. The error is
// errUnknown if that cannot be had.
func (l *log) void() error {
	_, err := l.f.WriteAt(make([]byte, logHeader), l.at)
	if err == nil {
		err = datasync(l.f)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	return nil
}

var errUnknown = errors.New("what reached the disk is not known")

func recordSum(turn, record []byte) uint32 {
	sum := crc32.Update(crc32.Checksum(turn, castagnoli), castagnoli, record[:4])
	return crc32.Update(sum, castagnoli, record[8:])
}

// record returns the record with a number at the beginning of data; false: there is none.
func record(turn, data []byte, number uint64) ([]byte, bool) {
	if len(data) < logHeader {
		return nil, false
	}
	n := binary.BigEndian.Uint32(data)
	if n < logHeader || int64(n) > int64(len(data)) || binary.BigEndian.Uint64(data[8:]) != number ||
		binary.BigEndian.Uint32(data[4:]) != recordSum(turn, data[:n]) {
		return nil, false
	}
	return data[:n], true
}

// readLog reads what a turn has left in a store's log. A last record that is not whole was never answered for; a whole one
// behind it is the sign of damage. The log is returned open, for more, if it is to be written to.
func readLog(path string, turn []byte, write bool) (*recent, *log, error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	f, err := os.OpenFile(logPath(path), flags|noFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, damaged(logPath(path), "it is missing, and the last changes are in it")
	} else if err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(logPath(path))
	l, r := &log{f: f, turn: turn}, newRecent()
	for err == nil {
		rec, ok := record(turn, data[l.at:], l.number)
		if !ok {
			err = l.ends(data)
			break
		}
		if err = r.replay(rec[logHeader:]); err != nil {
			err = damaged(logPath(path), "record %d: %v", l.number, err)
		}
		l.at += (int64(len(rec)) + logAlign - 1) &^ (logAlign - 1)
		l.number++
		l.at = min(l.at, int64(len(data)))
	}
	if err == nil && write {
		return r, l, nil
	}
	return r, nil, errors.Join(err, f.Close())
}

// ends makes sure that no record of this turn lies behind the end.
func (l *log) ends(data []byte) error {
	for at := l.at + logAlign; at+logHeader <= int64(len(data)); at += logAlign {
		number := binary.BigEndian.Uint64(data[at+8:])
		if number <= l.number || number-l.number > uint64(len(data)/logAlign) {
			continue
		}
		if _, ok := record(l.turn, data[at:], number); ok {
			return damaged(l.f.Name(), "record %d is damaged, and there are others behind it", l.number)
		}
	}
	return nil
}

// replay takes the writes of one record.
func (r *recent) replay(data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(data) > 0 {
		if len(data) < 2 || data[0] >= byte(bucketCount) || data[1] > 1 {
			return errors.New("it names no bucket")
		}
		c := change{bucket: Bucket(data[0]), write: write{deleted: data[1] == 1}}
		data = data[2:]
		var parts [2][]byte
		for i := range parts {
			n, used := binary.Uvarint(data)
			if used <= 0 || n > uint64(len(data)-used) {
				return errors.New("it is cut short")
			}
			parts[i], data = data[used:used+int(n):used+int(n)], data[used+int(n):]
		}
		c.key, c.value = string(parts[0]), parts[1]
		r.add(c)
	}
	r.publish()
	return nil
}
