package effects

import (
	"math"
	"testing"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

func at(k FactKind, seq uint64) *FactRef { return &FactRef{Kind: k, Sequence: seq} }

// TestGestures grades move_to, look_at and equip; a receipt exists exactly for proven ones above processed.
func TestGestures(t *testing.T) {
	fence, sight := at(FactClosingReply, 5), at(FactWitness, 4)
	move := GestureFacts{Action: ActionID{1}, Capability: MoveTo, Ready: true, HasFence: true, Least: Observed}
	look, hand := move, move
	look.Capability, hand.Capability = LookAt, Equip
	post := map[Capability]Postcondition{MoveTo: StandsIn{target}, LookAt: LooksTowards{}, Equip: HoldsItem{Item: brickItem}}
	with := func(f GestureFacts, change func(*GestureFacts)) GestureFacts { change(&f); return f }
	cases := []struct {
		name    string
		f       GestureFacts
		verdict Verdict
		grade   Grade
		code    Code
	}{
		{"DC-10/nothing", move, UnverifiedEffect, GradeNone, CodeNoWitness},
		{"DC-10/fence reply alone", with(move, func(f *GestureFacts) { f.FenceReply = fence }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-10/processed is enough for a walk between steps", with(move, func(f *GestureFacts) { f.FenceReply, f.Least = fence, Processed }), Proven, Processed, CodeProcessed},
		{"DC-10/two quiet ticks without a fence", with(move, func(f *GestureFacts) { f.HasFence, f.QuietTicks, f.Least = false, 2, Processed }), Proven, Processed, CodeProcessed},
		{"DC-10/quiet ticks prove nothing beside a fence", with(move, func(f *GestureFacts) { f.QuietTicks, f.Least = 9, Processed }), UnverifiedEffect, GradeNone, CodeNoWitness},
		{"DC-10/corrected", with(move, func(f *GestureFacts) { f.FenceReply, f.Witness, f.Corrected = fence, sight, true }), Refused, GradeNone, CodeCorrected},
		{"DC-10/ignored while riding", with(move, func(f *GestureFacts) { f.FenceReply, f.Ready = fence, false }), UnverifiedEffect, GradeNone, CodeNotReady},
		{"DC-10/witness and fence", with(move, func(f *GestureFacts) { f.FenceReply, f.Witness = fence, sight }), Proven, Acknowledged, CodeWitnessThere},
		{"DC-10/witness without a fence", with(move, func(f *GestureFacts) { f.HasFence, f.QuietTicks, f.Witness = false, 2, sight }), Proven, Observed, CodeWitnessThere},
		{"DC-10/witness elsewhere", with(move, func(f *GestureFacts) { f.FenceReply, f.Elsewhere = fence, true }), UnverifiedEffect, Processed, CodeWitnessElsewhere},
		{"DC-10/distance walked", with(move, func(f *GestureFacts) { f.FenceReply, f.Walked, f.Counted = fence, 430, 431 }), Proven, Acknowledged, CodeDistanceWalked},
		{"DC-10/distance too short", with(move, func(f *GestureFacts) { f.FenceReply, f.Walked, f.Counted = fence, 430, 429 }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-10/nothing walked proves nothing", with(move, func(f *GestureFacts) { f.FenceReply = fence }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-10/server's word", with(move, func(f *GestureFacts) { f.FenceReply, f.Server, f.Least = fence, at(FactServerWord, 6), Attributed }), Proven, Attributed, CodeWitnessThere},
		{"DC-10/below the least grade", with(move, func(f *GestureFacts) { f.FenceReply, f.Witness, f.Least = fence, sight, Attributed }), UnverifiedEffect, Acknowledged, CodeBelowGrade},
		{"DC-11/no witness", with(look, func(f *GestureFacts) { f.FenceReply = fence }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-11/distance is not for looks", with(look, func(f *GestureFacts) { f.FenceReply, f.Walked, f.Counted = fence, 1, 9 }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-11/witness", with(look, func(f *GestureFacts) { f.FenceReply, f.Witness = fence, sight }), Proven, Acknowledged, CodeWitnessThere},
		{"DC-13/no echo", with(hand, func(f *GestureFacts) { f.FenceReply = fence }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-13/snapshot alone", with(hand, func(f *GestureFacts) { f.FenceReply, f.Snapshot = fence, at(FactSnapshot, 4) }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-13/held slot alone", with(hand, func(f *GestureFacts) { f.FenceReply, f.Held = fence, at(FactHeldSlot, 4) }), UnverifiedEffect, Processed, CodeProcessed},
		{"DC-13/snapshot and held slot", with(hand, func(f *GestureFacts) {
			f.FenceReply, f.Snapshot, f.Held = fence, at(FactSnapshot, 4), at(FactHeldSlot, 4)
		}), Proven, Acknowledged, CodeInventoryExact},
		{"DC-13/witness", with(hand, func(f *GestureFacts) { f.FenceReply, f.Witness = fence, sight }), Proven, Acknowledged, CodeWitnessThere},
		{"DC-13/something else", with(hand, func(f *GestureFacts) { f.FenceReply, f.Held, f.Other = fence, at(FactHeldSlot, 4), true }), Refused, GradeNone, CodeInventoryOther},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := JudgeGesture(c.f)
			if got.Verdict != c.verdict || got.Grade != c.grade || got.Code != c.code {
				t.Errorf("got %s at %s because %s", got.Verdict, got.Grade, got.Code)
			}
			o := got.Outcome(Outcome{Postcondition: post[c.f.Capability], LeastGrade: c.f.Least})
			_, err := NewReceipt(o)
			if want := c.verdict == Proven && c.grade >= Observed; (err == nil) != want {
				t.Errorf("receipt: %v", err)
			}
			if _, err := NewAttempt(o); (err == nil) != (c.verdict != Proven || c.grade == Processed) {
				t.Errorf("attempt: %v", err)
			}
		})
	}
}

func TestWitness(t *testing.T) {
	bot := worldstate.UUID{9}
	w := NewWitness(bot)
	see := func(seq uint64, e worldstate.Event) { w.Observe(Fact{seq, e}) }
	if _, ok := w.StandsIn(geom.BlockPos{}, 0); ok {
		t.Error("a witness that has seen nothing says so")
	}
	see(1, worldstate.EntityAdded{ID: 5, UUID: bot, Position: geom.Vec3{0.5, 64, 0.5}})
	see(2, worldstate.EntityAdded{ID: 6, UUID: worldstate.UUID{8}, Position: geom.Vec3{4.5, 64, 0.5}})
	see(3, worldstate.EntityMoved{ID: 6, Moved: true, Delta: geom.Vec3{1, 0, 0}})
	if _, ok := w.StandsIn(target, 1); ok {
		t.Error("an old sight counts")
	}
	see(4, worldstate.EntityMoved{ID: 5, Moved: true, Delta: geom.Vec3{1, 0, 0}, Turned: true, Rotation: geom.Rotation{Pitch: 30}})
	see(5, worldstate.EntityHeadTurned{ID: 5, HeadYaw: -179.5})
	if f, ok := w.StandsIn(geom.BlockPos{X: 1, Y: 64}, 3); !ok || f.Sequence != 4 {
		t.Errorf("%v, %v", f, ok)
	}
	if _, ok := w.LooksTowards(geom.Rotation{Yaw: 180, Pitch: 31}, 4); !ok {
		t.Error("the look was not seen")
	}
	if _, ok := w.LooksTowards(geom.Rotation{Yaw: float32(math.NaN()), Pitch: 31}, 4); ok {
		t.Error("no number is near everything")
	}
	see(6, worldstate.EntityEquipment{ID: 5, Items: []worldstate.EquipmentItem{{Slot: 0, Content: worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: brickItem, Count: 3}}}}})
	if _, ok := w.Holds(brickItem, 5); !ok {
		t.Error("the item was not seen")
	}
	if _, ok := w.Holds(otherItem, 5); ok {
		t.Error("another item was seen")
	}
	see(7, worldstate.EntitiesRemoved{IDs: []int32{5}})
	if _, ok := w.Holds(brickItem, 0); ok {
		t.Error("an entity that is gone is still seen")
	}
}

func TestDistanceIsALowerBound(t *testing.T) {
	if got := Distance(map[int32]int32{6: 100, 8: 50, 12: 999, 1: 7}); got != 150 {
		t.Errorf("%d", got)
	}
}

func TestSay(t *testing.T) {
	bot, stranger := worldstate.UUID{1}, worldstate.UUID{2}
	own := worldstate.ChatReceived{Trust: worldstate.ChatUnsigned, Sender: bot, Text: "hello"}
	change := func(f func(*worldstate.ChatReceived)) worldstate.ChatReceived { c := own; f(&c); return c }
	cases := []struct {
		name    string
		signed  bool
		least   Grade
		lines   []worldstate.ChatReceived
		verdict Verdict
		grade   Grade
		code    Code
	}{
		{"own line", false, Acknowledged, []worldstate.ChatReceived{own}, Proven, Acknowledged, CodeEcho},
		{"own line, signed, our salt", true, Attributed, []worldstate.ChatReceived{change(func(c *worldstate.ChatReceived) { c.Trust, c.Salt = worldstate.ChatSigned, 77 })}, Proven, Attributed, CodeEcho},
		{"own line, signed, other salt", true, Observed, []worldstate.ChatReceived{change(func(c *worldstate.ChatReceived) { c.Trust, c.Salt = worldstate.ChatSigned, 78 })}, UnverifiedEffect, GradeNone, CodeNoEcho},
		{"unsigned where attributed is asked", false, Attributed, []worldstate.ChatReceived{own}, UnverifiedEffect, Acknowledged, CodeBelowGrade},
		{"altered", false, Acknowledged, []worldstate.ChatReceived{change(func(c *worldstate.ChatReceived) { c.Text = "h*llo" })}, UnverifiedEffect, GradeNone, CodeEchoAltered},
		{"altered, then a system line", false, Observed, []worldstate.ChatReceived{change(func(c *worldstate.ChatReceived) { c.Text = "h*llo" }), {Text: "hello"}}, Proven, Observed, CodeEcho},
		{"somebody else's line", false, Acknowledged, []worldstate.ChatReceived{change(func(c *worldstate.ChatReceived) { c.Sender = stranger })}, UnverifiedEffect, Observed, CodeBelowGrade},
		{"system line under our id", false, Acknowledged, []worldstate.ChatReceived{change(func(c *worldstate.ChatReceived) { c.Trust = worldstate.ChatSystem })}, UnverifiedEffect, Observed, CodeBelowGrade},
		{"nothing", false, Observed, nil, UnverifiedEffect, GradeNone, CodeNoEcho},
	}
	for _, c := range cases {
		t.Run("DC-12/"+c.name, func(t *testing.T) {
			w := SayWatch{Action: ActionID{1}, Bot: bot, Text: "hello", Salt: 77, Signed: c.signed, Least: c.least}
			got, done := Settled{}, false
			for i, l := range c.lines {
				if got, done = w.Observe(Fact{uint64(i), l}); done {
					break
				}
			}
			if !done {
				got = w.Expire()
			}
			if got.Verdict != c.verdict || got.Grade != c.grade || got.Code != c.code {
				t.Errorf("got %s at %s because %s", got.Verdict, got.Grade, got.Code)
			}
			_, err := NewReceipt(got.Outcome(Outcome{Postcondition: LineHeard{Text: "hello"}, LeastGrade: c.least}))
			if (err == nil) != (c.verdict == Proven) {
				t.Errorf("receipt: %v", err)
			}
		})
	}
}

func TestEquipWatch(t *testing.T) {
	w := EquipWatch{Item: brickItem, Slot: 2}
	snapshot := func(item int32) worldstate.ContainerContent {
		s := make([]worldstate.Slot, 46)
		s[38] = worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: brickItem, Count: item}}
		return worldstate.ContainerContent{Slots: s}
	}
	w.Observe(Fact{1, snapshot(0)})
	if !w.Other || w.Snapshot != nil {
		t.Error("an empty slot counts as the item")
	}
	w.Observe(Fact{2, snapshot(5)})
	w.Observe(Fact{3, worldstate.HeldSlot{Slot: 2}})
	if w.Other || w.Snapshot == nil || w.Held == nil {
		t.Errorf("%+v", w)
	}
	w.Observe(Fact{4, worldstate.HeldSlot{Slot: 3}})
	if !w.Other || w.Held != nil {
		t.Error("another slot is held")
	}
}
