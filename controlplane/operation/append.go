package operation

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"blockworld/effects"
	"blockworld/effects/host"
)

// Append appends the stored form of op, JSON, to b. It writes what json.Marshal would, several times faster: every
// change of every operation comes through here. Errors wrap ErrMalformed or ErrUnknownValue; b is then returned as it was.
func Append(b []byte, op *Operation) ([]byte, error) {
	w := writer{b: b}
	w.operation(op)
	if w.err != nil {
		return b, fmt.Errorf("operation %s cannot be stored: %w", op.ID, w.err)
	}
	return w.b, nil
}

// writer appends JSON objects member by member.
type writer struct {
	b   []byte
	err error
}

func (w *writer) operation(op *Operation) {
	w.b = append(w.b, '{')
	w.hex("id", op.ID[:])
	w.str("kind", string(op.Kind))
	w.str("principal", string(op.Principal))
	w.str("actor", string(op.Actor))
	w.str("host", string(op.Host))
	w.strIf("task", string(op.Task))
	w.str("lease", op.Lease)
	w.str("key", op.Key)
	w.hex("payload", op.Payload[:])
	if op.Parent != (host.OpID{}) {
		w.hex("parent", op.Parent[:])
	}
	w.open("action")
	w.str("capability", op.Action.Capability)
	w.raw("arguments", jsontext.Value(op.Action.Arguments))
	w.close()
	if op.Bound.Op != (host.OpID{}) {
		w.bound(&op.Bound)
	}
	w.progress(op)
	w.close()
}

func (w *writer) bound(bd *host.Bound) {
	w.open("bound")
	w.hex("op", bd.Op[:])
	w.name("binding")
	w.b = append(base64.StdEncoding.AppendEncode(append(w.b, '"'), bd.Binding), '"')
	w.hex("digest", bd.Digest[:])
	w.hex("precondition", bd.Precondition[:])
	w.open("epoch")
	w.uint("host", bd.Epoch.Host)
	w.uint("world", bd.Epoch.World)
	w.uint("timeline", bd.Epoch.Timeline)
	w.close()
	w.uint("sequence", bd.Sequence)
	w.name("effects")
	w.b = append(w.b, '[')
	for i := range bd.Effects {
		w.element()
		w.preview(&bd.Effects[i])
	}
	w.b = append(w.b, ']')
	w.str("summary", bd.Summary)
	w.int("valid_until", bd.ValidUntil)
	w.close()
}

func (w *writer) preview(p *host.Preview) {
	w.b = append(w.b, '{')
	w.str("kind", p.Kind)
	w.str("operation", p.Operation)
	w.str("ownership", p.Ownership)
	w.str("scope", string(p.Scope))
	if len(p.Tags) > 0 {
		w.name("tags")
		w.b = append(w.b, '[')
		for _, t := range p.Tags {
			w.element()
			w.quote(string(t))
		}
		w.b = append(w.b, ']')
	}
	w.str("risk", p.Risk)
	w.bool("reversible", p.Reversible)
	w.int("quantity", p.Quantity)
	w.pos("pos", p.Pos)
	w.pos("to", p.To)
	w.strIf("block", p.Block)
	w.strIf("item", p.Item)
	w.strIf("text", p.Text)
	w.close()
}

func (w *writer) pos(n string, p *[3]int32) {
	if p == nil {
		return
	}
	w.name(n)
	w.b = append(w.b, '[')
	for _, c := range p {
		w.element()
		w.b = strconv.AppendInt(w.b, int64(c), 10)
	}
	w.b = append(w.b, ']')
}

// progress writes what Step writes.
func (w *writer) progress(op *Operation) {
	if !op.State.Valid() || op.Decision.Result >= resultCount {
		w.err = ErrUnknownValue
		return
	}
	w.str("state", op.State.String())
	w.uint("attempts", uint64(op.Attempts))
	w.bool("acked", op.Acked)
	if op.Children > 0 {
		w.uint("children", uint64(op.Children))
	}
	if op.Tally != (Tally{}) {
		w.open("tally")
		w.uint("confirmed", uint64(op.Tally.Confirmed))
		w.uint("unproven", uint64(op.Tally.Unproven))
		w.close()
	}
	w.strIf("cancel_requested", op.CancelRequested)
	if op.Run != (Run{}) {
		w.open("run")
		w.uint("progress_seq", op.Run.Seq)
		w.int("percent", int64(op.Run.Percent))
		w.str("note", op.Run.Note)
		w.hex("digest", op.Run.Digest[:])
		w.close()
	}
	if op.Outcome != nil {
		w.outcome(op.Outcome)
	}
	if r := op.Rejection; r != nil {
		w.open("rejection")
		w.str("code", r.Code)
		w.str("message", r.Message)
		w.list("rules", r.Rules)
		w.close()
	}
	w.open("decision")
	w.str("result", op.Decision.Result.String())
	w.str("revision", op.Decision.Revision)
	w.list("rules", op.Decision.Rules)
	w.close()
	w.reservations(op.Reservations)
	w.bool("committed", op.Committed)
	w.strIf("approved_by", string(op.ApprovedBy))
	if op.ApprovedIn != (host.OpID{}) {
		w.hex("approved_in", op.ApprovedIn[:])
	}
	w.strIf("closure", op.Closure)
	w.strIf("closed_by", string(op.ClosedBy))
	w.int("created", int64(op.Created))
	w.int("entered", int64(op.Entered))
	w.int("updated", int64(op.Updated))
	w.uint("version", op.Version)
	if op.Ended != (effects.Digest{}) {
		w.hex("ended", op.Ended[:])
	}
}

func (w *writer) outcome(o *host.Outcome) {
	w.open("outcome")
	w.hex("op", o.Op[:])
	w.str("status", string(o.Status))
	w.strIf("code", o.Code)
	w.strIf("message", o.Message)
	if r := o.Receipt; r != nil {
		w.open("receipt")
		w.uint("number", r.Number)
		w.hex("digest", r.Digest[:])
		w.str("grade", r.Grade)
		w.str("key", r.Key)
		w.close()
	}
	if len(o.Output) > 0 {
		w.raw("output", jsontext.Value(o.Output))
	}
	w.bool("sent", o.Sent)
	w.hex("evidence", o.Evidence[:])
	w.close()
}

func (w *writer) reservations(all []Reservation) {
	if len(all) == 0 {
		return
	}
	w.name("reservations")
	w.b = append(w.b, '[')
	for _, r := range all {
		w.element()
		w.b = append(w.b, '{')
		w.str("budget", r.Budget)
		w.int("window", r.Window)
		w.int("count", r.Count)
		w.int("quantity", r.Quantity)
		w.close()
	}
	w.b = append(w.b, ']')
}

// element puts a comma before every element but the first.
func (w *writer) element() {
	if last := w.b[len(w.b)-1]; last != '{' && last != '[' {
		w.b = append(w.b, ',')
	}
}

func (w *writer) name(n string) {
	w.element()
	w.b = append(append(append(w.b, '"'), n...), '"', ':')
}

func (w *writer) open(n string) {
	w.name(n)
	w.b = append(w.b, '{')
}

func (w *writer) close() { w.b = append(w.b, '}') }

func (w *writer) quote(s string) {
	var err error
	if w.b, err = jsontext.AppendQuote(w.b, s); err != nil && w.err == nil {
		w.err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
}

func (w *writer) str(n, s string) {
	w.name(n)
	w.quote(s)
}

func (w *writer) strIf(n, s string) {
	if s != "" {
		w.str(n, s)
	}
}

func (w *writer) list(n string, all []string) {
	if len(all) == 0 {
		return
	}
	w.name(n)
	w.b = append(w.b, '[')
	for _, s := range all {
		w.element()
		w.quote(s)
	}
	w.b = append(w.b, ']')
}

func (w *writer) hex(n string, raw []byte) {
	w.name(n)
	w.b = append(hex.AppendEncode(append(w.b, '"'), raw), '"')
}

func (w *writer) uint(n string, v uint64) {
	w.name(n)
	w.b = strconv.AppendUint(w.b, v, 10)
}

func (w *writer) int(n string, v int64) {
	w.name(n)
	w.b = strconv.AppendInt(w.b, v, 10)
}

func (w *writer) bool(n string, v bool) {
	w.name(n)
	w.b = strconv.AppendBool(w.b, v)
}

// raw writes JSON that came from outside; what is none would make the whole record unreadable.
func (w *writer) raw(n string, v jsontext.Value) {
	w.name(n)
	if !v.IsValid() && w.err == nil {
		w.err = fmt.Errorf("%s is no JSON: %w", n, ErrMalformed)
	}
	w.b = append(w.b, v...)
}
