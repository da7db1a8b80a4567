package main

import (
	"fmt"

	"blockworld/bot/builder"
	"blockworld/effects/mission"
	"blockworld/sentinel"
	"blockworld/worldstate/registry"
)

// teller tells people about a mission's events. A line that comes again is told once, and its count at the end.
type teller struct {
	say   func(format string, args ...any)
	reg   *registry.Registry
	times map[string]int // by line, of those that are told once
	order []string
	away  mission.Waiting // the server's going that the next event gives the reason of
}

func newTeller(say func(string, ...any), reg *registry.Registry) *teller {
	return &teller{say: say, reg: reg, times: map[string]int{}}
}

// hear puts an event into a line, if it is worth one.
func (t *teller) hear(e builder.Event) {
	switch e := e.(type) {
	case builder.Waiting:
		if e.For == mission.WaitKicked || e.For == mission.WaitServerAway {
			t.away = e.For // it is told together with the reason, which comes with the rejoining
			return
		}
		t.say("%s", builder.Words(e))
		t.short(e.Short)
	case builder.Rejoining:
		if t.away == mission.WaitNothing {
			t.say("%s", builder.Words(e))
			return
		}
		t.say("%s: %s; the bot joins again by itself, as often as --tries allows", awayWords(t.away), e.Why)
		t.away = mission.WaitNothing
	case builder.Denied:
		words := builder.Words(e)
		if e.Rule == sentinel.RulePrecondition.String() {
			words += "; the step is tried again"
		}
		t.once(words)
	case builder.Walked:
		t.once(builder.Words(e))
	default:
		if words := builder.Words(e); words != "" {
			t.say("%s", words)
		}
	}
}

func awayWords(w mission.Waiting) string {
	if w == mission.WaitKicked {
		return "kicked"
	}
	return "the server is away"
}

// once tells a line that may come many times.
func (t *teller) once(words string) {
	if t.times[words]++; t.times[words] == 1 {
		t.order = append(t.order, words)
		t.say("%s", words)
	}
}

// end tells how often what was told once has come.
func (t *teller) end() {
	for _, words := range t.order {
		if n := t.times[words]; n > 1 {
			t.say("%d times: %s", n, words)
		}
	}
}

// short lists missing items.
func (t *teller) short(short []mission.Shortage) {
	for _, s := range short {
		name := fmt.Sprint(s.Item)
		if it := t.reg.ItemByID(s.Item); it != nil {
			name = it.Name
		}
		t.say("  %6d  %s (have %d)", s.Need-s.Have, name, s.Have)
	}
}
