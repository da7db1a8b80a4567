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
// and value each behind its length as a uvarint; zeros fill it up to the next multiple of logAlign. In front of the records a
// file has a head, in a block of its own: {magic, turn's name, number of its first record u64, length of the file u64, checksum
// u32}. A file is never shorter than its head says.
//
// Each time that a file is begun anew is a turn. The tree names the oldest turn that it has not taken over, and each turn's
// name follows from the one before. It goes into the checksum of every record, so that what is left of earlier turns, or of
// another store, counts for nothing. Numbers run on from turn to turn, so that an end that was lost is noticed in the next.
const (
	logHeader = 16      // of a record
	logHead   = 1 << 12 // of a file, before its first record
	logAlign  = 64
	logBytes  = 1 << 20 // how much a file holds before the other one goes on
	logRoom   = 1 << 18 // made ahead behind it, for the batch that fills it
	turnSize  = 16
	headSize  = 8 + turnSize + 8 + 8 + 4
)

// logMagic begins every file of a log.
var logMagic = [8]byte{'b', 'w', 's', 't', 'o', 'l', 'g', 1}

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

// follows tells whether a turn is the one behind another.
func (t turn) follows(before turn) bool { return t == before.next(t.first) && t.first >= before.first }

// log is the writer's end of one of the files.
type log struct {
	f      *os.File
	turn   turn
	length int64  // of the file, at least, as its head says
	at     int64  // where the next record goes
	number uint64 // of the next record
	buf    []byte
}

// logSuffixes are behind the store's name in the names of the two files.
var logSuffixes = [2]string{".log", ".log2"}

// createLogs makes both files with room for size bytes, without a record and, with sync, on disk. The first one is to be
// written to; the other one's turn is the one before, which never had a record.
func createLogs(path string, size int64, before turn, sync bool) (logs [2]*log, err error) {
	turns := [2]turn{before.next(before.first), before}
	for i, suffix := range logSuffixes {
		if logs[i], err = createLog(path+suffix, size, turns[i], sync); err != nil {
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

func createLog(path string, size int64, t turn, sync bool) (*log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	l := &log{f: f, turn: t, length: logHead + size + logRoom}
	if err = l.zero(0, l.length); err == nil {
		err = l.writeHead()
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	l.start()
	return l, nil
}

// zero writes zeros.
func (l *log) zero(from, to int64) (err error) {
	zeros := make([]byte, min(to-from, 1<<20))
	for err == nil && from < to {
		zeros = zeros[:min(to-from, int64(len(zeros)))]
		_, err = l.f.WriteAt(zeros, from)
		from += int64(len(zeros))
	}
	return err
}

func (l *log) writeHead() error {
	head := append(make([]byte, 0, headSize), logMagic[:]...)
	head = append(head, l.turn.name[:]...)
	head = binary.BigEndian.AppendUint64(head, l.turn.first)
	head = binary.BigEndian.AppendUint64(head, uint64(l.length))
	head = binary.BigEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	_, err := l.f.WriteAt(head, 0)
	return err
}

// readHead takes what the head says.
func (l *log) readHead(data []byte) error {
	if len(data) < logHead {
		return damaged(l.f.Name(), "it is cut short to %d bytes, and the last changes may have been in it", len(data))
	}
	sum := headSize - 4
	if [8]byte(data) != logMagic || binary.BigEndian.Uint32(data[sum:]) != crc32.Checksum(data[:sum], castagnoli) {
		return damaged(l.f.Name(), "its head is damaged, and the last changes may be in it")
	}
	data, rest := data[len(logMagic):], len(data)
	l.turn = turn{[turnSize]byte(data), binary.BigEndian.Uint64(data[turnSize:])}
	l.length = int64(binary.BigEndian.Uint64(data[turnSize+8:]))
	if l.length < logHead || int64(rest) < l.length {
		return damaged(l.f.Name(), "it is cut short to %d of %d bytes, and the last changes may have been in it", rest, l.length)
	}
	return nil
}

func closeLogs(logs [2]*log) (err error) {
	for _, l := range logs {
		if l != nil {
			err = errors.Join(err, l.f.Close())
		}
	}
	return err
}

// start goes to the place of the turn's first record.
func (l *log) start() { l.at, l.number = logHead, l.turn.first }

// begin begins a turn: its name is on disk before anything relies on it. The error is errUnknown.
func (l *log) begin(t turn, sync bool) error {
	l.turn = t
	if err := l.named(sync); err != nil {
		return err
	}
	l.start()
	return nil
}

// named puts the head on disk.
func (l *log) named(sync bool) error {
	err := l.writeHead()
	if err == nil && sync {
		err = datasync(l.f)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	return nil
}

// grow makes the file longer, for a record that does not fit. The head says so when it is true, and before the record is there.
func (l *log) grow(to int64, sync bool) error {
	if err := l.zero(l.length, to); err != nil {
		return err
	}
	if sync {
		if err := l.f.Sync(); err != nil {
			return err
		}
	}
	l.length = to
	return l.named(sync)
}

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
	if end := l.at + int64(len(l.buf)); end > l.length {
		if err := l.grow(end, sync); err != nil {
			return err
		}
	}
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
	if logs[1].turn == t { // the turn is the other file's
		logs[0], logs[1], data[0], data[1] = logs[1], logs[0], data[1], data[0]
	}
	var first, second *recent
	of, other := logs[0].turn, logs[1].turn
	switch {
	case of != t:
		err = damaged(logs[0].f.Name(), "neither it nor %s holds the turn that the tree names, and the last changes were in it", logs[1].f.Name())
	case other.follows(of):
		if first, err = logs[0].read(data[0]); err == nil && logs[0].number != other.first {
			err = damaged(logs[0].f.Name(), "record %d is damaged or gone, and %s begins with record %d", logs[0].number, logs[1].f.Name(), other.first)
		}
		if err == nil {
			second, err = logs[1].read(data[1])
		}
		layers = []*recent{first, second}
		logs[0], logs[1] = logs[1], logs[0]
	case of.follows(other):
		first, err = logs[0].read(data[0])
		layers = []*recent{first}
	default:
		err = damaged(logs[1].f.Name(), "it holds neither the turn before that of %s nor the one behind it", logs[0].f.Name())
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
	l := &log{f: f}
	data, err := os.ReadFile(path)
	if err == nil {
		err = l.readHead(data)
	}
	return l, data, err
}

// read reads the records of the turn that the head names. A last record that is not whole was never answered for; a whole one
// behind it is the sign of damage.
func (l *log) read(data []byte) (*recent, error) {
	r := newRecent()
	l.start()
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
