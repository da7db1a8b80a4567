package store

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"blockworld/controlplane/operation"
)

// Memory returns an engine that keeps everything in memory, with the semantics of one on disk. Its Backup is a stream
// that only tests read.
func Memory() Engine {
	m := &memory{}
	for b := range m.buckets {
		m.buckets[b].values = map[string][]byte{}
	}
	m.buckets[Meta].put(string(versionKey), binary.BigEndian.AppendUint32(nil, Version))
	return m
}

type memory struct {
	mu      sync.RWMutex // held for writing while a change runs
	buckets [bucketCount]sorted
	tx      buffer
	stats   Stats
	closed  bool
}

// sorted is a map with its keys in order.
type sorted struct {
	keys   []string
	values map[string][]byte
}

func (s *sorted) put(key string, value []byte) {
	if _, ok := s.values[key]; !ok {
		at, _ := slices.BinarySearch(s.keys, key)
		s.keys = slices.Insert(s.keys, at, key)
	}
	s.values[key] = value
}

func (s *sorted) delete(key string) {
	if at, ok := slices.BinarySearch(s.keys, key); ok {
		s.keys = slices.Delete(s.keys, at, at+1)
		delete(s.values, key)
	}
}

func (m *memory) get(b Bucket, key []byte) ([]byte, *operation.Operation) {
	return m.buckets[b].values[string(key)], nil
}

func (m *memory) failure() error { return nil }

func (m *memory) scan(b Bucket, from, to []byte, back bool, f func(key, value []byte) bool) {
	s := &m.buckets[b]
	low, _ := slices.BinarySearch(s.keys, string(from))
	high := len(s.keys)
	if to != nil {
		high, _ = slices.BinarySearch(s.keys, string(to))
	}
	if low >= high {
		return
	}
	keys := s.keys[low:high]
	for i := range keys {
		k := keys[i]
		if back {
			k = keys[len(keys)-1-i]
		}
		if !f([]byte(k), s.values[k]) {
			return
		}
	}
}

// Update implements Engine.
func (m *memory) Update(f func(Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.tx.reset(m)
	if err := f(&m.tx); err != nil {
		return err
	}
	if err := m.tx.failure(); err != nil {
		return err
	}
	if m.tx.wrote == 0 {
		return nil
	}
	m.stats.Updates++
	m.stats.Commits++
	return m.tx.flush(func(b Bucket, key []byte, w write) error {
		m.stats.Writes++
		if w.deleted {
			m.buckets[b].delete(string(key))
		} else {
			m.buckets[b].put(string(key), bytes.Clone(w.value))
		}
		return nil
	})
}

// View implements Engine.
func (m *memory) View(f func(Tx) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return ErrClosed
	}
	t := buffer{under: m, view: true}
	if err := f(&t); err != nil {
		return err
	}
	return t.failure()
}

// Backup implements Engine.
func (m *memory) Backup(w io.Writer) error {
	return m.View(func(tx Tx) error {
		var b []byte
		for bucket := range bucketCount {
			tx.Scan(bucket, nil, nil, func(k, v []byte) bool {
				b = append(b, byte(bucket))
				b = append(binary.AppendUvarint(b, uint64(len(k))), k...)
				b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
				return true
			})
		}
		_, err := w.Write(b)
		return err
	})
}

// Check implements Engine.
func (m *memory) Check() (problems []Problem) {
	err := m.View(func(tx Tx) error {
		problems = checkRecords(tx)
		return nil
	})
	if err != nil {
		problems = append(problems, Problem{"the store", err.Error()})
	}
	return problems
}

// Stats implements Engine.
func (m *memory) Stats() Stats {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.stats
}

// Close implements Engine.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
