package effects

import (
	"testing"

	"blockworld/worldstate"
)

// TestDemotions: what does not fit together costs the session its counters.
func TestDemotions(t *testing.T) {
	cases := []struct {
		name string
		run  func(s *script)
		code Code
	}{
		{"reply that nobody asked for", func(s *script) { s.reply(same) }, CodeUnaskedReply},
		{"counter moves between fences", func(s *script) { s.p.FenceSent(); s.p.FenceSent(); s.reply(same); s.reply(plus) }, CodeCounterMoved},
		{"counter falls", func(s *script) {
			s.p.FenceSent()
			s.fact(worldstate.StatsAwarded{Entries: []worldstate.Stat{used(brickItem, 3)}})
		}, CodeCounterMoved},
		{"doubled entry", func(s *script) {
			s.p.FenceSent()
			s.fact(worldstate.StatsAwarded{Entries: []worldstate.Stat{used(brickItem, 7), used(brickItem, 7)}})
		}, CodeDoubledEntry},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, fenced())
			c.run(s)
			s.noticed(c.code)
			if !s.p.Demoted() {
				t.Fatal("not demoted")
			}
			s.send(place(1))
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.ack(1)
			s.want(UnverifiedEffect, GradeNone, CodeDemoted)
		})
	}
	t.Run("acknowledged by the way, accepted as observed", func(t *testing.T) {
		o := fenced()
		o.Demoted, o.Least = true, Observed
		s := newScript(t, o)
		s.send(place(1))
		s.cell(target, brick)
		s.want(Proven, Observed, CodeObservedExact)
	})
	t.Run("while a use waits for its ack", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, brick)
		s.reply(plus)
		s.reply(same) // nobody asked
		s.ack(1)
		s.want(UnverifiedEffect, GradeNone, CodeDemoted)
	})
	t.Run("a doubled fence reply never makes a false refusal", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		s.reply(same) // the doubled opening reply is taken for the closing one
		s.cell(floor, stone)
		s.cell(target, brick)
		s.ack(1)
		s.want(UnverifiedEffect, GradeNone, CodeOutOfStep)
		s.reply(plus) // the true closing reply
		s.noticed(CodeUnaskedReply)
	})
}

func slot(i int, n int32) worldstate.Event {
	return worldstate.ContainerSlot{Window: 0, Slot: int16(36 + i), Content: worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: brickItem, Count: n}}}
}

// TestSlotCounts: in survival the slot must lose what the counter gained.
func TestSlotCounts(t *testing.T) {
	placed := func(s *script, id byte, early bool, count int32) {
		s.send(place(id))
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, brick)
		if early {
			s.fact(slot(0, count))
			s.ack(int32(id))
			s.reply(plus)
			return
		}
		s.reply(plus)
		s.fact(slot(0, count))
		s.ack(int32(id))
	}
	cases := []struct {
		name   string
		mode   bool
		run    func(s *script)
		demote bool
	}{
		{"one each", true, func(s *script) { placed(s, 1, false, 63); placed(s, 2, false, 62) }, false},
		{"slot before the counter", true, func(s *script) { placed(s, 1, true, 63); placed(s, 2, true, 62); placed(s, 3, false, 61) }, false},
		{"slot stays although counted", true, func(s *script) { placed(s, 1, false, 64) }, true},
		{"slot falls too far", true, func(s *script) { placed(s, 1, false, 62) }, true},
		{"slot falls without a use", true, func(s *script) { placed(s, 1, false, 63); s.fact(slot(0, 62)) }, true},
		{"slot holds another item", true, func(s *script) {
			placed(s, 1, false, 63)
			s.fact(worldstate.InventorySlot{Slot: 0, Content: worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: otherItem, Count: 1}}})
		}, true},
		{"unknown content says nothing", true, func(s *script) { placed(s, 1, false, 63); s.fact(worldstate.InventorySlot{Slot: 0}) }, false},
		{"another slot says nothing", true, func(s *script) { placed(s, 1, false, 63); s.fact(slot(1, 5)) }, false},
		{"changed by ourselves", true, func(s *script) { placed(s, 1, false, 63); s.p.SlotChanged(0); s.fact(slot(0, 64)) }, false},
		{"lost by dying", true, func(s *script) {
			placed(s, 1, false, 63)
			s.fact(worldstate.HealthChanged{Health: 0})
			s.fact(slot(0, 0))
		}, false},
		{"another life", true, func(s *script) { placed(s, 1, false, 63); s.p.NextEpoch(Epoch{World: 2}); s.fact(slot(0, 0)) }, false},
		{"creative is exempt", false, func(s *script) { placed(s, 1, false, 64) }, false},
		{"forced snapshot", true, func(s *script) {
			placed(s, 1, false, 63)
			slots := make([]worldstate.Slot, 46)
			slots[36] = worldstate.Slot{Known: true}
			s.fact(worldstate.ContainerContent{Window: 0, Slots: slots})
		}, true},
		{"the last item", true, func(s *script) {
			p := place(1)
			p.SlotCount = 1
			s.send(p)
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.fact(slot(0, 0))
			s.ack(1)
		}, false},
	}
	for _, c := range cases {
		t.Run("DC-14/"+c.name, func(t *testing.T) {
			o := fenced()
			o.Survival = c.mode
			s := newScript(t, o)
			c.run(s)
			if s.p.Demoted() != c.demote {
				t.Errorf("demoted %v, want %v (%v)", s.p.Demoted(), c.demote, s.got.Notices)
			}
		})
	}
}
