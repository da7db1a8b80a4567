package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Layout 1 had no checksums, no index by task or parent, none by time, and kept its keys and usage as JSON. Its
// operations did not say what kind they are, whether their host had taken them, when their state began and what ended
// them; their states were written with hyphens. Nothing but this file knows of it.
var layout1Buckets = []string{"meta", "operations", "open", "keys", "by_actor", "leases", "stops", "usage", "tokens",
	"blueprints", "names"}

// upgrade brings a file to this program's layout. The old file is kept beside it, with ".layout1" behind its name. A
// crash at any time leaves the old file in its place, or the new one.
func upgrade(path string, from uint32) error {
	if from != 1 {
		return fmt.Errorf("%w: layout %d is not known", ErrForeign, from)
	}
	if err := keep(path, fmt.Sprintf("%s.layout%d", path, from)); err != nil {
		return err
	}
	return createFile(path, func(to *bbolt.DB) error {
		old, err := openBolt(path, true)
		if err != nil {
			return err
		}
		err = old.View(func(tx *bbolt.Tx) error { return (&upgrader{to: to}).all(tx) })
		return errors.Join(err, old.Close())
	})
}

// keep copies a file to a name that is free, or that holds the same already.
func keep(path, name string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if there, err := os.ReadFile(name); err == nil && bytes.Equal(there, old) {
		return nil
	} else if err == nil {
		return fmt.Errorf("%w: %s would be written over: move it away", ErrExists, name)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|noFollow, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(old))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

type upgrader struct {
	to      *bbolt.DB
	waiting int
	tx      *bbolt.Tx
	w       *boltReader
}

// all carries every record over and checks the whole of it.
func (u *upgrader) all(old *bbolt.Tx) error {
	for _, name := range layout1Buckets {
		err := old.Bucket([]byte(name)).ForEach(func(k, v []byte) error {
			if err := u.record(name, k, v); err != nil {
				return fmt.Errorf("%w: %w", damaged("bucket "+name+", key "+hex.EncodeToString(k), "it cannot be read"), err)
			}
			return u.commit(1000)
		})
		if err != nil {
			return errors.Join(err, u.rollback())
		}
	}
	if err := u.commit(1); err != nil {
		return err
	}
	return u.to.View(func(tx *bbolt.Tx) error {
		r := &boltReader{tx: tx}
		if found := checkRecords(&buffer{under: r, view: true}); len(found) > 0 {
			return &Damage{found[0]}
		}
		return r.err
	})
}

func (u *upgrader) put(b Bucket, key, value []byte) (err error) {
	if u.tx == nil {
		if u.tx, err = u.to.Begin(true); err != nil {
			return err
		}
		u.w = &boltReader{tx: u.tx}
	}
	u.waiting++
	return u.w.write(b, bytes.Clone(key), write{value: value})
}

func (u *upgrader) commit(least int) error {
	if u.tx == nil || u.waiting < least {
		return nil
	}
	tx := u.tx
	u.tx, u.waiting = nil, 0
	return tx.Commit()
}

func (u *upgrader) rollback() error {
	if u.tx == nil {
		return nil
	}
	return u.tx.Rollback()
}

// record carries one record over.
func (u *upgrader) record(bucket string, k, v []byte) error {
	switch bucket {
	case "operations":
		return u.operation(v)
	case "keys":
		var key struct {
			Op      host.OpID      `json:"op"`
			Payload effects.Digest `json:"payload"`
		}
		if err := strictly(v, &key); err != nil {
			return err
		}
		return u.put(Keys, k, Key{Op: key.Op, Payload: key.Payload}.encode())
	case "usage":
		return u.usage(k, v)
	case "leases":
		var l Lease
		if err := strictly(v, &l); err != nil {
			return err
		}
		l.Renewed = l.Acquired // layout 1 did not say
		return u.json(Leases, k, l)
	case "stops":
		var s Stop
		if err := strictly(v, &s); err != nil {
			return err
		}
		return u.json(Stops, k, s)
	case "tokens":
		var t Token
		if err := strictly(v, &t); err != nil {
			return err
		}
		return u.json(Tokens, k, t)
	case "blueprints":
		return u.put(Blueprints, k, v)
	case "names":
		return u.put(Names, k, v)
	}
	return nil // meta has the layout; open and by_actor follow from the operations
}

func strictly(v []byte, into any) error {
	return json.Unmarshal(v, into, json.RejectUnknownMembers(true))
}

func (u *upgrader) json(b Bucket, key []byte, v any) error {
	record, err := encode(v)
	if err != nil {
		return err
	}
	return u.put(b, key, record)
}

// usage reads "budget 0 window in decimal".
func (u *upgrader) usage(k, v []byte) error {
	var old struct {
		Used             int64 `json:"used"`
		Quantity         int64 `json:"quantity"`
		Reserved         int64 `json:"reserved"`
		ReservedQuantity int64 `json:"reserved_quantity"`
	}
	if err := strictly(v, &old); err != nil {
		return err
	}
	budget, text, _ := strings.Cut(string(k), "\x00")
	var window int64
	if _, err := fmt.Sscanf(text, "%d", &window); err != nil {
		return fmt.Errorf("window %q: %w", text, err)
	}
	now := Usage{old.Used, old.Quantity, old.Reserved, old.ReservedQuantity}
	if !now.valid() {
		return errors.New("it is no usage")
	}
	return u.put(UsageOf, usageKey(budget, window), now.encode())
}

// operation adds what layout 1 did not say.
func (u *upgrader) operation(v []byte) error {
	var op operation.Operation
	if err := strictly(v, &op); err != nil {
		return err
	}
	op.Kind = host.KindEffect
	if op.Action.Capability == "build_structure" {
		op.Kind = host.KindMacro
	}
	op.Entered = op.Updated
	op.Acked = op.Committed || op.State == operation.Accepted || op.State == operation.Running
	switch {
	case op.Terminal() && op.Outcome != nil:
		op.Ended = op.Outcome.ContentDigest()
	case op.Terminal(): // repeats of what ended it are not known any more
		op.Ended = effects.Digest{1}
	}
	record, err := operation.Append(nil, &op)
	if err != nil {
		return err
	}
	if op, err = operation.Decode(record); err != nil {
		return err
	}
	if err := u.put(bucketOf(&op), op.ID[:], record); err != nil {
		return err
	}
	if err := u.put(ByActor, timeKey(op.Actor, op.Created, op.ID), nil); err != nil {
		return err
	}
	if op.Task != "" {
		if err := u.put(ByTask, timeKey(op.Task, op.Created, op.ID), nil); err != nil {
			return err
		}
	}
	if op.Parent != (host.OpID{}) {
		if err := u.put(ByParent, parentKey(op.Parent, op.ID), nil); err != nil {
			return err
		}
	}
	return nil
}
