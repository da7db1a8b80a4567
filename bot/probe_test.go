package bot

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// probed is a server that answers a probe as told.
type probed struct {
	fence, grows, snapshot bool
}

func (k probed) answer(s *peer) {
	played := int32(100)
	s.send(&wire.SystemChat{Content: wire.Literal("welcome")},
		&wire.PlayerChat{Sender: worldstate.UUID{5}, Message: "hi", Name: wire.Literal("x")})
	for {
		switch p := s.read().(type) {
		case *wire.ClientCommand:
			if k.fence && p.Action == wire.RequestStats {
				s.send(&wire.AwardStats{Stats: []worldstate.Stat{{Category: registry.StatCategoryCustom, ID: registry.StatPlayTime, Value: played}}})
				if k.grows {
					played += 20
				}
			}
		case *wire.ContainerClick:
			if k.snapshot && p.Slot == -1 {
				s.send(&wire.ContainerSetContent{StateID: 7, Items: make([]wire.ItemStack, 46)})
			}
		}
	}
}

func TestProbe(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server probed
		place  effects.Grade
		move   effects.Grade
		equip  effects.Grade
		fence  profile.Finding
	}{
		{"vanilla", probed{true, true, true}, effects.Attributed, effects.Acknowledged, effects.Acknowledged, profile.FindingYes},
		{"frozen statistics", probed{true, false, true}, effects.Acknowledged, effects.Processed, effects.Acknowledged, profile.FindingYes},
		{"no fence, no snapshot", probed{}, effects.Observed, effects.Processed, effects.Processed, profile.FindingNo},
		{"no fence", probed{snapshot: true}, effects.Observed, effects.Processed, effects.Observed, profile.FindingNo},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p, err := Probe(t.Context(), serve(t, registry.Latest, standing(tt.server.answer)))
				if err != nil {
					t.Fatal(err)
				}
				grade := func(c effects.Capability) effects.Grade {
					o, _ := p.Best(c)
					if o.Why == "" {
						t.Errorf("%s is offered without a reason", c)
					}
					return o.Grade
				}
				if p.Fence != tt.fence || grade(effects.PlaceBlock) != tt.place || grade(effects.MoveTo) != tt.move || grade(effects.Equip) != tt.equip {
					t.Errorf("found %+v", p)
				}
				if grade(effects.LookAt) != effects.Processed || grade(effects.Say) != effects.Acknowledged {
					t.Errorf("found %+v", p)
				}
				if diff := cmp.Diff([]worldstate.ChatTrust{worldstate.ChatSystem, worldstate.ChatUnsigned}, p.Chat); diff != "" {
					t.Error(diff)
				}
				for _, accept := range []profile.Accept{profile.AcceptAttributed, profile.AcceptObserved} {
					file := p.Profile(time.Now(), accept)
					if err := file.Validate(); err != nil {
						t.Errorf("accept %v: %v", accept, err)
					}
					_, offered := file.Offer(effects.PlaceBlock)
					if want := tt.place > effects.Observed || accept == profile.AcceptObserved; offered != want {
						t.Errorf("accept %v: place_block offered %v", accept, offered)
					}
				}
			})
		})
	}
}

func TestProbeOfSpectator(t *testing.T) {
	p := &Probed{GameMode: worldstate.Spectator, Fence: profile.FindingYes, Counters: profile.FindingYes, Secure: true}
	p.offer()
	for _, c := range []effects.Capability{effects.PlaceBlock, effects.Say} {
		if _, ok := p.Best(c); ok {
			t.Errorf("%s is offered", c)
		}
	}
}
