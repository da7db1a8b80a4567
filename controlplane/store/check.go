package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"blockworld/effects/host"
)

// maxProblems bounds what a check lists.
const maxProblems = 100

// Check implements Engine: the shape of every page, the checksum and content of every record, and whether records and
// indexes agree. It works on one moment while writes go on.
func (e *bolt) Check() []Problem {
	for range 20 {
		s, err := e.snapshot()
		if err != nil {
			return []Problem{{e.path, err.Error()}}
		}
		found, err := s.check(e.path)
		s.tree.tx.Rollback()
		if errors.Is(err, errMoved) { // two commits between the two looks at the meta page
			continue
		} else if err != nil {
			return []Problem{{e.path, err.Error()}}
		}
		return found
	}
	return []Problem{{e.path, "it is written to so fast that no moment was found to check it: try again"}}
}

// CheckFile checks a store that no process has open, without changing it. Errors are those of Open.
func CheckFile(path string) ([]Problem, error) {
	var d *Damage
	if _, err := safe(path, false); errors.As(err, &d) {
		return []Problem{d.Problem}, nil
	} else if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, storage(err))
	}
	lock, err := takeLock(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, storage(err))
	}
	defer lock.Close()
	layout, err := inspect(path)
	switch {
	case errors.As(err, &d):
		return []Problem{d.Problem}, nil
	case err == nil && layout < Version:
		err = fmt.Errorf("its layout is %d: open it once, so that it is upgraded", layout)
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	db, err := openBolt(path, true)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, storage(err))
	}
	defer db.Close()
	tx, err := db.Begin(false)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	defer tx.Rollback()
	s := &moment{tree: &boltReader{tx: tx}}
	s.reader = s.tree
	turn, ok, err := s.tree.turn()
	if err == nil && ok {
		var layers []*recent
		layers, _, err = readLogs(path, turn, false)
		for _, r := range layers {
			s.over(r, newest)
		}
	}
	if errors.As(err, &d) {
		return []Problem{d.Problem}, nil
	} else if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, storage(err))
	}
	return s.check(path)
}

// check checks a moment of the store. Pages that its transaction sees are not written to while it lasts.
func (s *moment) check(path string) ([]Problem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	_, found, err := walk(f, info.Size(), uint64(s.tree.tx.ID()))
	if err != nil || len(found) > 0 {
		return found, err
	}
	s.tree.keep = func(p Problem) { found = append(found, p) }
	records := checkRecords(&buffer{under: s, view: true})
	return append(found, records...), nil
}

// checker reads every record and counts what indexes should say.
type checker struct {
	tx       Tx
	found    []Problem
	reserved map[string]Usage // by usage key, as the unfinished operations say
	listed   [bucketCount]int // records of each index
	expected [bucketCount]int // as the operations say
}

func checkRecords(tx Tx) []Problem {
	c := &checker{tx: tx, reserved: map[string]Usage{}}
	c.scan(Operations, func(k, v []byte) error { return c.operation(Operations, k, v) })
	c.scan(Unfinished, func(k, v []byte) error { return c.operation(Unfinished, k, v) })
	c.scan(Keys, c.key)
	c.scan(Pruned, func(k, v []byte) error {
		r, err := Ops(c.tx).Pruned(host.OpID(pad(k)))
		if err == nil && !bytes.Equal(r.ID[:], k) {
			err = fmt.Errorf("it is operation %s", r.ID)
		}
		return err
	})
	for _, b := range []Bucket{ByActor, ByTask, ByParent} {
		c.scan(b, func(k, v []byte) error { return nil })
		if c.listed[b] != c.expected[b] && len(c.found) == 0 {
			c.problem("bucket "+b.String(), "%d are listed, %d would be right", c.listed[b], c.expected[b])
		}
	}
	c.usage()
	c.rest()
	return c.found
}

func (c *checker) problem(where, format string, args ...any) {
	if len(c.found) < maxProblems {
		c.found = append(c.found, Problem{where, fmt.Sprintf(format, args...)})
	}
}

func (c *checker) scan(b Bucket, f func(k, v []byte) error) {
	c.tx.Scan(b, nil, nil, func(k, v []byte) bool {
		c.listed[b]++
		err := f(k, v)
		var d *Damage
		if errors.As(err, &d) {
			c.problem(d.Where, "%s", strings.TrimPrefix(err.Error(), d.Error()+": "))
		} else if err != nil {
			c.problem(place(b, k), "%v", err)
		}
		return true
	})
}

// operation checks one operation, and that each index names it.
func (c *checker) operation(b Bucket, k, v []byte) error {
	op, err := decodeOp(b, k, v)
	if err != nil {
		return err
	}
	id := op.ID[:]
	c.index(ByActor, timeKey(op.Actor, op.Created, op.ID), true)
	c.index(ByTask, timeKey(op.Task, op.Created, op.ID), op.Task != "")
	c.index(ByParent, parentKey(op.Parent, op.ID), op.Parent != (host.OpID{}))
	key, ok, err := KeysOf(c.tx).Get(op.Principal, op.Key)
	if err == nil && (!ok || key != Key{Op: op.ID, Payload: op.Payload}) {
		err = errors.New("its key does not lead to it")
	}
	if b == Unfinished && c.tx.Get(Operations, id) != nil {
		err = errors.Join(err, errors.New("it is there twice"))
	}
	if c.tx.Get(Pruned, id) != nil {
		err = errors.Join(err, errors.New("it is there and pruned"))
	}
	for _, r := range op.Reserved() {
		u := c.reserved[string(usageKey(r.Budget, r.Window))]
		reserve(&u, r)
		c.reserved[string(usageKey(r.Budget, r.Window))] = u
	}
	return err
}

func (c *checker) index(b Bucket, key []byte, want bool) {
	if want {
		c.expected[b]++
	}
	if got := c.tx.Get(b, key) != nil; got != want {
		c.problem(place(b, key), "listed: %v, right would be: %v", got, want)
	}
}

func (c *checker) key(k, v []byte) error {
	key, ok := decodeKey(v)
	switch {
	case !ok:
		return errors.New("it is no key record")
	case key.Pruned && c.tx.Get(Pruned, key.Op[:]) == nil:
		return fmt.Errorf("nothing is kept of operation %s", key.Op)
	case !key.Pruned && !Ops(c.tx).has(key.Op):
		return fmt.Errorf("operation %s is not there", key.Op)
	}
	return nil
}

// usage compares what budgets hold back with what unfinished operations hold.
func (c *checker) usage() {
	err := UsageIn(c.tx).Each(func(budget string, window int64, u Usage) bool {
		k := string(usageKey(budget, window))
		if want := c.reserved[k]; u.ReservedCount != want.ReservedCount || u.ReservedQuantity != want.ReservedQuantity {
			c.problem(fmt.Sprintf("budget %s, window %d", budget, window), "%d actions and %d items are reserved, unfinished operations hold %d and %d",
				u.ReservedCount, u.ReservedQuantity, want.ReservedCount, want.ReservedQuantity)
		}
		delete(c.reserved, k)
		return true
	})
	if err != nil {
		c.problem("bucket usage", "%v", err)
	}
	for k := range c.reserved {
		budget, window, _ := usageKeyOf([]byte(k))
		c.problem(fmt.Sprintf("budget %s, window %d", budget, window), "unfinished operations hold reservations that are not counted")
	}
}

// rest decodes what stands for itself.
func (c *checker) rest() {
	c.scan(Leases, func(k, _ []byte) error { return second(LeasesOf(c.tx).Get(host.Name(k))) })
	c.scan(Stops, func(k, _ []byte) error { return second(StopsOf(c.tx).Get(host.Name(k))) })
	c.scan(Tokens, func(k, v []byte) error { return decode(Tokens, k, v, new(Token)) })
	c.scan(Names, func(k, v []byte) error {
		if c.tx.Get(Blueprints, v) == nil {
			return errors.New("its blueprint is not there")
		}
		return nil
	})
	c.scan(Blueprints, func(k, v []byte) error { return checkContent(k, v) })
	c.scan(Meta, func(k, v []byte) error {
		if !reserved(k) {
			return errors.New("it is none of ours")
		}
		return nil
	})
}

func second[T any](_ T, _ bool, err error) error { return err }

func pad(k []byte) []byte { return append(bytes.Clone(k), make([]byte, 16)...)[:16] }
