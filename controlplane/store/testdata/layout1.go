//go:build ignore

// This program wrote layout1.db, a store as the first layout had it. It stands here so that everybody can see what is in
// the file; the file is the evidence and is not made anew. Use: go run layout1.go FILE
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

func main() {
	db, err := bbolt.Open(os.Args[1], 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	check(err)
	put := func(bucket, key, value string) {
		check(db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte(bucket))
			if err != nil {
				return err
			}
			return b.Put([]byte(key), []byte(value))
		}))
	}
	put("meta", "version", "\x00\x00\x00\x01")
	for _, bucket := range []string{"operations", "open", "keys", "by_actor", "leases", "stops", "usage", "tokens", "blueprints", "names"} {
		check(db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists([]byte(bucket)); return err }))
	}
	for n, o := range operations {
		id := fmt.Sprintf("%031x%d", 0xabc, n+1)
		raw, _ := hex.DecodeString(id)
		payload := hex.EncodeToString(hash("request " + id))
		put("operations", string(raw), operation(id, payload, o))
		if o.open {
			put("open", string(raw), "")
		}
		put("keys", "alice\x00key-"+id[30:], fmt.Sprintf(`{"op":"%s","payload":"%s"}`, id, payload))
		put("by_actor", "builder\x00"+string(raw), "")
	}
	put("leases", "builder", `{"id":"lease-1","actor":"builder","holder":"alice","acquired":1700000000000,"expires":1700000060000}`)
	put("stops", "digger", `{"actor":"digger","latched":true,"by":"owner","why":"lava","at":1700000000500}`)
	put("usage", "blocks\x003", `{"used":3,"quantity":3,"reserved":2,"reserved_quantity":2}`)
	put("usage", "blocks\x00-1", `{"used":1,"quantity":9,"reserved":0,"reserved_quantity":0}`)
	token := hash("a token")
	put("tokens", string(token), fmt.Sprintf(`{"id":"laptop","hash":"%x","principal":"alice","kind":"user","scopes":["read","execute"],"actors":["builder"],"created":1700000000000}`, token))
	house := hash("a house of bricks")
	put("blueprints", string(house), "a house of bricks")
	put("names", "house", string(house))
	check(db.Update(func(*bbolt.Tx) error { return nil }))
	check(db.Close())
}

type op struct {
	state, capability, task, parent, more string
	open                                  bool
}

var parent = fmt.Sprintf("%031x%d", 0xabc, 6)

// operations are one of each sort that the first layout could hold.
var operations = []op{
	{"queued", "place_block", "house", "", `"attempts":0,"committed":false`, true},
	{"awaiting-confirmation", "place_block", "", "", `"attempts":0,"committed":false`, true},
	{"succeeded", "place_block", "house", parent, `"attempts":1,"committed":true,"outcome":{"op":"ID","status":"succeeded","code":"proven","receipt":{"number":12,"digest":"` +
		fmt.Sprintf("%064x", 0x77) + `","grade":"attributed","key":"f00d"},"sent":true,"evidence":"` + fmt.Sprintf("%064x", 0x78) + `"}`, false},
	{"outcome-unknown", "place_block", "house", "", `"attempts":2,"committed":true,"outcome":{"op":"ID","status":"outcome_unknown","code":"unverified_effect","sent":true,"evidence":"` +
		fmt.Sprintf("%064x", 0) + `"}`, true},
	{"rejected", "say", "", "", `"attempts":0,"committed":false,"rejection":{"code":"rule_denied","message":"no chat","rules":["quiet"]}`, false},
	{"running", "build_structure", "house", "", `"attempts":1,"committed":true,"children":1,"run":{"progress_seq":4,"percent":30,"note":"walls","digest":"` +
		fmt.Sprintf("%064x", 0x79) + `"}`, true},
}

func operation(id, payload string, o op) string {
	binding := base64.StdEncoding.EncodeToString([]byte("binding of " + id))
	task, up, reservations := "", "", ""
	if o.task != "" {
		task = fmt.Sprintf(`"task":"%s",`, o.task)
	}
	if o.parent != "" {
		up = fmt.Sprintf(`"parent":"%s",`, o.parent)
	}
	if o.state != "rejected" {
		reservations = `"reservations":[{"budget":"blocks","window":3,"count":1,"quantity":1}],`
	}
	more := ""
	for i := 0; i < len(o.more); i++ {
		if i+4 <= len(o.more) && o.more[i:i+4] == `"ID"` {
			more += `"` + id + `"`
			i += 3
		} else {
			more += o.more[i : i+1]
		}
	}
	return `{"id":"` + id + `","principal":"alice","actor":"builder","host":"home",` + task + `"lease":"lease-1","key":"key-` + id[30:] + `","payload":"` + payload + `",` + up +
		`"action":{"capability":"` + o.capability + `","arguments":{"pos":[10,64,-3],"block":"minecraft:stone"}},` +
		`"bound":{"op":"` + id + `","binding":"` + binding + `","digest":"` + hex.EncodeToString(hash(binding)) + `","precondition":"` + hex.EncodeToString(hash("ground")) +
		`","epoch":{"host":1,"world":2,"timeline":3},"sequence":17,"effects":[{"kind":"world.place","operation":"create","ownership":"own","scope":"plot-1","risk":"low","reversible":true,"quantity":1}],"summary":"place minecraft:stone","valid_until":-1},` +
		`"state":"` + o.state + `",` + more + `,"decision":{"result":"allow","revision":"r1"},` + reservations +
		`"created":1700000000000,"updated":1700000001000,"version":3}`
}

func hash(s string) []byte { h := sha256.Sum256([]byte(s)); return h[:] }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
