package controlplane_test

import (
	"encoding/json"
	"testing"

	"blockworld/controlplane"
	"blockworld/effects/host"
)

// FuzzCursor: whatever is sent as a cursor is either the present one or gets the present view, and opens no list.
func FuzzCursor(f *testing.F) {
	w := newWorld(f)
	v := w.queued(ann, "bot1")
	now, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: v.ID})
	w.ok(err)
	for _, s := range []string{"", "AAAA", now.Cursor, now.Cursor[1:], "%", "0", now.Cursor + now.Cursor} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		got, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: v.ID, Cursor: cursor})
		if err != nil || got.Cursor != now.Cursor || got.Changed != (cursor != now.Cursor) {
			t.Fatalf("cursor %q: %+v, %v", cursor, got, err)
		}
		if _, err = w.g.Operations(w.ctx, ann, controlplane.Filter{After: cursor}); (err == nil) != (cursor == "") {
			t.Fatalf("cursor %q opens a list: %v", cursor, err)
		}
	})
}

// FuzzSubmit: a request of any shape is refused with a code of the closed set, or meets the gateway's conditions; it
// never reaches the host with arguments that are no JSON object.
func FuzzSubmit(f *testing.F) {
	w := newWorld(f)
	good := w.request(ann, "bot1")
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":1,"a":2}`, `[]`, `{`, `null`, "{\"a\":\"\xff\"}", `{"a":1e999}`, `{"n":123456789012345678901}`} {
		f.Add("bot1", "key", "task", "place_block", []byte(s))
	}
	f.Add("BOT", "ke y", "", "", []byte{})
	f.Fuzz(func(t *testing.T, actor, key, task, capability string, args []byte) {
		r := good
		r.Actor, r.Key, r.Task, r.Lease = host.Name(actor), key, host.Name(task), "none"
		r.Action = host.Action{Capability: capability, Arguments: args}
		_, err := w.g.Submit(w.ctx, ann, r)
		switch code := controlplane.CodeOf(err); code {
		case controlplane.CodeInvalid, controlplane.CodeTooLarge, controlplane.CodeNotFound:
		case controlplane.CodeLeaseExpired: // past its shape
			var object map[string]any
			if json.Unmarshal(args, &object) != nil && object == nil {
				t.Fatalf("arguments %q are taken for an object", args)
			}
		default:
			t.Fatalf("%v", err)
		}
	})
}
