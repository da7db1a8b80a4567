package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"blockworld/sentinel/boltfile"
)

// The log is two files beside the tree, made once and written over from their beginnings again and again: a write into room
// that is there already costs one wait for the disk, where a transaction of the tree costs two and many pages. One file is
// written to; when it is full the other one goes on, and the tree takes over what the full one holds meanwhile. A record is
// one batch: {length u32, checksum u32, number u64}, big endian, then for every write {bucket, 1 if deleted, key, value}, key
// and value each behind its length as a uvarint; zeros fill it up to the next multiple of logAlign.
//
// Each time that a file is begun anew is a turn. The tree names the oldest turn that it has not taken over, and each turn's
// name follows from the one before. It goes into the checksum of every record, so that what is left of earlier turns, or of
// another store, counts for nothing. Numbers run on from turn to turn, so that an end that was lost is noticed in the next.
const (
	logHeader = 16
	logAlign  = 64
	logBytes  = 1 << 20 // how much a file holds before the other one goes on
	logRoom   = 1 << 18 // made ahead behind it, for the batch that fills it
	turnSize  = 16
)

// turn is one use of one of the files.
type turn struct {
	name  [turnSize]byte
	first uint64 // number of its first record
}

// next is the turn behind one that ends before the record with that number.
func (t turn) next(number uint64) turn {
	sum := sha256.Sum256(t.name[:])
	return turn{[turnSize]byte(sum[:]), number}
}

// log is the writer's end of one of the files.
type log struct {
	f      *os.File
	turn   turn
	at     int64  // where the next record goes
	number uint64 // of the next record
	buf    []byte
}

// logSuffixes are behind the store's name in the names of the two files.
var logSuffixes = [2]string{".log", ".log2"}

// createLogs makes both files with room for size bytes, empty and, with sync, on disk.
func createLogs(path string, size int64, sync bool) (logs [2]*log, err error) {
	for i, suffix := range logSuffixes {
		if logs[i], err = createLog(path+suffix, size, sync); err != nil {
			return logs, errors.Join(err, closeLogs(logs))
		}
	}
	if sync {
		if err = boltfile.SyncDir(filepath.Dir(path)); err != nil {
			return logs, errors.Join(err, closeLogs(logs))
		}
	}
	return logs, nil
}

func createLog(path string, size int64, sync bool) (*log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, min(size+logRoom, 1<<20))
	for at := int64(0); at < size+logRoom && err == nil; at += int64(len(zeros)) {
		_, err = f.WriteAt(zeros, at)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &log{f: f}, nil
}

func closeLogs(logs [2]*log) (err error) {
	for _, l := range logs {
		if l != nil {
			err = errors.Join(err, l.f.Close())
		}
	}
	return err
}

// start begins a turn.
func (l *log) start(t turn) { l.turn, l.at, l.number = t, 0, t.first }

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

func recordSum(t turn, record []byte) uint32 {
	sum := crc32.Update(crc32.Checksum(t.name[:], castagnoli), castagnoli, record[:4])
	return crc32.Update(sum, castagnoli, record[8:])
}

// record returns the record with a number at the beginning of data; false: there is none.
func record(t turn, data []byte, number uint64) ([]byte, bool) {
	if len(data) < logHeader {
		return nil, false
	}
	n := binary.BigEndian.Uint32(data)
	if n < logHeader || int64(n) > int64(len(data)) || binary.BigEndian.Uint64(data[8:]) != number ||
		binary.BigEndian.Uint32(data[4:]) != recordSum(t, data[:n]) {
		return nil, false
	}
	return data[:n], true
}

// readLogs reads what the logs of a store hold from a turn on: that turn's records and the next one's, oldest first. The log
// in front is the one to go on with. Both are returned open if they are to be written to.
func readLogs(path string, t turn, write bool) (layers []*recent, logs [2]*log, err error) {
	var data [2][]byte
	for i := range logs {
		if logs[i], data[i], err = openLog(path+logSuffixes[i], write); err != nil {
			return nil, logs, errors.Join(err, closeLogs(logs))
		}
	}
	var first, second *recent
	if _, ok := record(t, data[1], t.first); ok { // the turn is the other file's
		logs[0], logs[1], data[0], data[1] = logs[1], logs[0], data[1], data[0]
	}
	logs[0].start(t)
	if first, err = logs[0].read(data[0]); err == nil {
		logs[1].start(t.next(logs[0].number))
		second, err = logs[1].read(data[1])
	}
	if err == nil && logs[0].at == 0 { // nothing of the turn, wherever it was to be
		err = (&log{f: logs[1].f, turn: t, number: t.first}).ends(data[1])
	}
	layers = []*recent{first, second}
	if err == nil && second.last.Load() == 0 {
		layers = layers[:1]
	} else {
		logs[0], logs[1] = logs[1], logs[0]
	}
	if err != nil || !write {
		err = errors.Join(err, closeLogs(logs))
	}
	return layers, logs, err
}

func openLog(path string, write bool) (*log, []byte, error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	f, err := os.OpenFile(path, flags|noFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, damaged(path, "it is missing, and the last changes may be in it")
	} else if err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(path)
	return &log{f: f}, data, err
}

// read reads the records of a turn that was started. A last record that is not whole was never answered for; a whole one
// behind it is the sign of damage.
func (l *log) read(data []byte) (*recent, error) {
	r := newRecent()
	for {
		rec, ok := record(l.turn, data[l.at:], l.number)
		if !ok {
			return r, l.ends(data)
		}
		if err := r.replay(rec[logHeader:]); err != nil {
			return r, damaged(l.f.Name(), "record %d: %v", l.number, err)
		}
		l.at = min(l.at+(int64(len(rec))+logAlign-1)&^(logAlign-1), int64(len(data)))
		l.number++
	}
}

// ends makes sure that no record of this turn lies behind the end.
func (l *log) ends(data []byte) error {
	for at := l.at; at+logHeader <= int64(len(data)); at += logAlign {
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
