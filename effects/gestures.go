package effects

import (
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// GestureFacts are the frozen facts about one move_to, look_at or equip: what was seen after its packets went out.
type GestureFacts struct {
	Action     ActionID
	Capability Capability // MoveTo, LookAt or Equip
	Epoch      Epoch
	Least      Grade // by the server's profile; walks between placements ask for Processed

	Ready      bool     // loaded, alive, not riding, no teleport pending: the server was listening
	Corrected  bool     // a player_position came between the first packet and the fence reply
	FenceReply *FactRef // the reply to the fence behind the last packet; nil when not in, or the server has none
	QuietTicks int      // ticks without a correction since the last packet, for servers without a fence
	HasFence   bool     // the server answers fences, so quiet ticks prove nothing

	Witness   *FactRef // a second connection saw the result
	Elsewhere bool     // it saw the bot after the send, but otherwise
	Server    *FactRef // who rules on the server's side said so

	Walked  int64 // move_to: centimetres walked on ground
	Counted int64 // move_to: growth of the server's distance statistics, centimetres

	Snapshot *FactRef // equip: the forced inventory snapshot shows the item, plain, in the slot
	Held     *FactRef // equip: set_held_slot names the slot
	Other    bool     // equip: one of the two shows something else
}

// gestureRule is one row of the table that grades a gesture; the first match decides.
type gestureRule struct {
	name  string
	when  func(f *GestureFacts) bool
	grade Grade
	code  Code
}

func (f *GestureFacts) processed() bool {
	return f.Ready && !f.Corrected && (f.FenceReply != nil || !f.HasFence && f.QuietTicks >= 2)
}

// observed gives the fact that shows the result.
func (f *GestureFacts) observed() bool {
	switch {
	case f.Witness != nil:
		return true
	case f.Capability == MoveTo:
		return f.Walked > 0 && f.Counted >= f.Walked
	case f.Capability == Equip:
		return f.Snapshot != nil && f.Held != nil
	}
	return false
}

func (f *GestureFacts) code() Code {
	switch {
	case f.Witness != nil:
		return CodeWitnessThere
	case f.Capability == MoveTo:
		return CodeDistanceWalked
	}
	return CodeInventoryExact
}

// gestureRules grade what was seen. Grade none with a code of its own is judged by gestureVerdict.
var gestureRules = [...]gestureRule{
	{"corrected", func(f *GestureFacts) bool { return f.Corrected }, GradeNone, CodeCorrected},
	{"not ready", func(f *GestureFacts) bool { return !f.Ready }, GradeNone, CodeNotReady},
	{"something else in the slot", func(f *GestureFacts) bool { return f.Capability == Equip && f.Other && f.Witness == nil }, GradeNone, CodeInventoryOther},
	{"server's word", func(f *GestureFacts) bool { return f.Server != nil && f.processed() }, Attributed, CodeWitnessThere},
	{"observed and fenced", func(f *GestureFacts) bool { return f.observed() && f.processed() && f.FenceReply != nil }, Acknowledged, CodeNone},
	{"observed", func(f *GestureFacts) bool { return f.observed() && f.processed() }, Observed, CodeNone},
	{"seen elsewhere", func(f *GestureFacts) bool { return f.Elsewhere && f.processed() }, Processed, CodeWitnessElsewhere},
	{"processed", func(f *GestureFacts) bool { return f.processed() }, Processed, CodeProcessed},
	{"nothing", func(f *GestureFacts) bool { return true }, GradeNone, CodeNoWitness},
}

// JudgeGesture grades a move_to, look_at or equip and gives its verdict: refused when the server corrected it or shows
// something else, proven when the grade reaches the least one, else unverified. A proven gesture of grade processed is
// an attempt record, never a receipt.
func JudgeGesture(f GestureFacts) Settled {
	s := Settled{Action: f.Action, Evidence: Evidence{Epoch: f.Epoch}}
	for i := range gestureRules {
		if r := &gestureRules[i]; r.when(&f) {
			s.Grade, s.Code = r.grade, r.code
			break
		}
	}
	if s.Code == CodeNone {
		s.Code = f.code()
	}
	switch {
	case s.Code == CodeCorrected || s.Code == CodeInventoryOther:
		s.Verdict = Refused
	case s.Grade > GradeNone && s.Grade >= f.Least && f.Least > GradeNone:
		s.Verdict = Proven
	case s.Grade > Processed:
		s.Code = CodeBelowGrade
	}
	if s.Verdict == Proven && s.Grade == Attributed {
		s.Attribution = AttributionServer
	}
	for _, ref := range []*FactRef{f.FenceReply, f.Witness, f.Server, f.Snapshot, f.Held} {
		if ref != nil {
			s.Evidence.Facts = append(s.Evidence.Facts, *ref)
		}
	}
	if s.Code == CodeDistanceWalked && f.FenceReply != nil {
		s.Evidence.Facts = append(s.Evidence.Facts, FactRef{Kind: FactDistance, Sequence: f.FenceReply.Sequence, Value: int32(min(f.Counted, 1<<31-1))})
	}
	return s
}

// EquipWatch collects the facts of one equip on the bot's own connection.
type EquipWatch struct {
	Item     registry.ItemID
	Slot     uint8 // hotbar slot 0..8
	Snapshot *FactRef
	Held     *FactRef
	Other    bool
}

// Observe takes one fact that came after the packets of the equip. Only the forced snapshot of window 0 counts.
func (w *EquipWatch) Observe(f Fact) {
	switch e := f.Event.(type) {
	case worldstate.ContainerContent:
		i := worldstate.SlotHotbar + int(w.Slot)
		if e.Window != 0 || i >= len(e.Slots) || !e.Slots[i].Known {
			return
		}
		if s := e.Slots[i].Stack; s.Empty() || s.Item != w.Item {
			w.Other, w.Snapshot = true, nil
			return
		}
		w.Other, w.Snapshot = false, &FactRef{Kind: FactSnapshot, Sequence: f.Sequence, Value: int32(i)}
	case worldstate.HeldSlot:
		if e.Slot != int32(w.Slot) {
			w.Other, w.Held = true, nil
			return
		}
		w.Held = &FactRef{Kind: FactHeldSlot, Sequence: f.Sequence, Value: e.Slot}
	}
}

// SayWatch judges one line of chat by what comes back.
type SayWatch struct {
	Action ActionID
	Epoch  Epoch
	Bot    worldstate.UUID
	Text   string
	Salt   int64 // of our signed line
	Signed bool
	Least  Grade

	best    *Settled
	altered *FactRef
}

// Observe takes one fact that came after the line was sent; it returns the verdict as soon as nothing better can come.
// Text is compared, never interpreted.
func (w *SayWatch) Observe(f Fact) (Settled, bool) {
	e, ok := f.Event.(worldstate.ChatReceived)
	if !ok {
		return Settled{}, false
	}
	own := e.Sender == w.Bot && e.Trust >= worldstate.ChatUnsigned
	if string(e.Text) != w.Text {
		if own && w.altered == nil {
			w.altered = &FactRef{Kind: FactEcho, Sequence: f.Sequence}
		}
		return Settled{}, false
	}
	s := Settled{Action: w.Action, Verdict: Proven, Code: CodeEcho, Grade: Observed}
	switch {
	case own && e.Trust == worldstate.ChatSigned && w.Signed && e.Salt == w.Salt:
		s.Grade, s.Attribution = Attributed, AttributionSalt
	case own && !w.Signed:
		s.Grade = Acknowledged
	case own:
		return Settled{}, false // our line was signed; this one is not ours
	}
	s.Evidence = Evidence{Epoch: w.Epoch, Facts: []FactRef{{Kind: FactEcho, Sequence: f.Sequence}}}
	if w.best == nil || w.best.Grade < s.Grade {
		w.best = &s
	}
	if own && s.Grade >= w.Least {
		return *w.best, true
	}
	return Settled{}, false
}

// Expire gives the verdict when the line's time is over: the best echo if it reaches the least grade, else unverified.
func (w *SayWatch) Expire() Settled {
	s := Settled{Action: w.Action, Code: CodeNoEcho, Evidence: Evidence{Epoch: w.Epoch}}
	switch {
	case w.best != nil && w.best.Grade >= w.Least && w.Least > GradeNone:
		return *w.best
	case w.best != nil:
		s.Grade, s.Code, s.Evidence = w.best.Grade, CodeBelowGrade, w.best.Evidence
	case w.altered != nil:
		s.Code = CodeEchoAltered
		s.Evidence.Facts = []FactRef{*w.altered}
	}
	return s
}
