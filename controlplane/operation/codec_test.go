package operation

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"blockworld/effects/host"
)

func stored(t testing.TB, path ...Event) string {
	t.Helper()
	op := after(t, host.KindEffect, path...)
	raw, err := Append(nil, &op)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestCodec(t *testing.T) {
	t.Run("what is written is what json.Marshal writes, and reads back the same", func(t *testing.T) {
		for name, path := range paths {
			op := after(t, host.KindEffect, path...)
			want, err := jsonv2.Marshal(&op)
			if err != nil {
				t.Fatal(err)
			}
			got := stored(t, path...)
			if got != string(want) {
				t.Errorf("%s\n%s\n%s", name, got, want)
			}
			back, err := Decode([]byte(got))
			if err != nil || cmp.Diff(op, back) != "" {
				t.Error(name, err, cmp.Diff(op, back))
			}
		}
	})
	good := stored(t, allowed, Polled{}, ackYes, succeeded)
	for name, c := range map[string]struct {
		from, to string
		want     error
	}{
		"RU-04/an unknown state":             {`"state":"succeeded"`, `"state":"done"`, ErrUnknownValue},
		"RU-04/an unknown member":            {`"attempts":`, `"tries":`, ErrUnknownValue},
		"RU-04/an unknown result":            {`"result":"allow"`, `"result":"maybe"`, ErrUnknownValue},
		"RU-04/an unknown kind":              {`"kind":"effect"`, `"kind":"read"`, ErrUnknownValue},
		"RU-04/an unknown outcome":           {`"status":"succeeded"`, `"status":"fine"`, ErrUnknownValue},
		"RU-04/an unknown closure":           {`"created"`, `"closure":"whatever","created"`, ErrUnknownValue},
		"RU-04/a member twice":               {`"committed":true`, `"committed":true,"committed":true`, ErrMalformed},
		"RU-04/an outcome of another state":  {`"status":"succeeded"`, `"status":"failed"`, ErrUnknownValue},
		"RU-04/no version":                   {`"version":4`, `"version":0`, ErrMalformed},
		"RU-04/an end without its event":     {`"ended":"`, `"payload":"`, ErrMalformed},
		"RU-04/spent without being taken":    {`"acked":true`, `"acked":false`, ErrMalformed},
		"RU-04/a closure of a known outcome": {`"created"`, `"closure":"accepted_unverified","created"`, ErrMalformed},
		"RU-04/a wrong type":                 {`"attempts":1`, `"attempts":"1"`, ErrMalformed},
		"RU-04/an approval of another macro": {`"committed":true`, `"committed":true,"approved_by":"bob","approved_in":"01000000000000000000000000000000"`, ErrMalformed},
		"RU-04/an approval by nobody":        {`"committed":true`, `"committed":true,"approved_in":"09090000000000000000000000000000"`, ErrMalformed},
		"RU-04/a short id":                   {`"id":"01`, `"id":"`, ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, c.from, c.to, 1)
			if bad == good {
				t.Fatal("nothing was changed")
			}
			op, err := Decode([]byte(bad))
			if !errors.Is(err, c.want) || op.ID != (host.OpID{}) {
				t.Error(err)
			}
		})
	}
	t.Run("what could not be read again is not written", func(t *testing.T) {
		for name, spoil := range map[string]func(*Operation){
			"arguments": func(op *Operation) { op.Action.Arguments = json.RawMessage(`{"a":`) },
			"two":       func(op *Operation) { op.Action.Arguments = json.RawMessage(`{},"state":"queued"`) },
			"text":      func(op *Operation) { op.Bound.Summary = "\xff" },
			"state":     func(op *Operation) { op.State = 99 },
			"result":    func(op *Operation) { op.Decision.Result = 9 },
		} {
			op := after(t, host.KindEffect, allowed)
			spoil(&op)
			if b, err := Append([]byte("before"), &op); err == nil || string(b) != "before" {
				t.Error(name, err, string(b))
			}
		}
	})
}

// FuzzDecode: whatever bytes there are, they are refused or stand for themselves.
func FuzzDecode(f *testing.F) {
	for _, path := range paths {
		f.Add([]byte(stored(f, path...)))
	}
	f.Add([]byte(`{"id":"01","state":"queued"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		op, err := Decode(raw)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnknownValue) {
				t.Error(err)
			}
			return
		}
		again, err := Append(nil, &op)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if third, err := Append(nil, &back); err != nil || string(third) != string(again) {
			t.Errorf("%v\n%s\n%s", err, again, third)
		}
		for _, ev := range []Event{Polled{}, CancelAsked{}, Gap{}, Fenced{FenceStop}} {
			if after, _, err := Step(op, ev, op.Updated+1); err == nil && after.State < op.State && after.State != OutcomeUnknown {
				t.Errorf("%s moved back to %s", op.State, after.State)
			}
		}
	})
}
