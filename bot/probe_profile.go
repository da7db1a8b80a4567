package bot

import (
	"encoding/hex"
	"strconv"
	"time"

	"blockworld/effects"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
)

// Profile is the server profile that follows from a probe. A placement has to reach the best grade found; walks, looks,
// lines and slot changes are covered by the placements that rest on them, so processed is enough for those. Without a
// fence a placement is offered only if accept says that observed is enough.
func (p *Probed) Profile(at time.Time, accept profile.Accept) profile.Profile {
	out := profile.Profile{
		Version: profile.Version, Address: p.Identity.Address, Mode: effects.Attached.String(), Probed: at.UTC().Truncate(time.Second),
		Account: hex.EncodeToString(p.Account[:]),
		Server: profile.Server{
			Identity: p.Identity.String(), HashedSeed: strconv.FormatUint(uint64(p.Identity.HashedSeed), 16),
			Dimensions: p.Identity.Dimensions, Protocol: int32(p.Protocol), Brand: string(p.Brand), Secure: p.Secure,
			GameMode: modeName(p.GameMode),
		},
		Found: profile.Found{
			Acks: p.Acks, Fence: p.Fence, Counters: p.Counters,
			Inventory: p.Inventory, HeldSlot: p.HeldSlot, Ticks: p.FenceTicks,
		},
		Offers: map[string]profile.Offer{}, Accept: accept, Rate: float64(p.Rate), Pace: p.Pace,
	}
	for _, c := range p.Chat {
		out.Found.Chat = append(out.Found.Chat, chatName(c))
	}
	for _, o := range p.Offers {
		if o.Capability.Effect() {
			p.addOffer(&out, o)
		}
	}
	return out
}

// addOffer adds one effect as far as the profile's own rules allow.
func (p *Probed) addOffer(out *profile.Profile, o Offer) {
	least := o.Grade
	if o.Capability == effects.PlaceBlock {
		switch {
		case o.Grade == effects.Observed && out.Accept != profile.AcceptObserved:
			return
		case o.Grade == effects.Attributed:
			out.Attribution = profile.AttributionCounter
		case o.Grade == effects.Acknowledged:
			out.Used = profile.UsedFrozen
		}
	} else {
		least = effects.Processed
	}
	out.Offers[o.Capability.String()] = profile.Offer{Least: profile.Grade(least), Reachable: profile.Grade(o.Grade), Why: o.Why}
}

func modeName(m worldstate.GameMode) string {
	names := [...]string{"unknown", "survival", "creative", "adventure", "spectator"}
	if int(m) < len(names) {
		return names[m]
	}
	return names[0]
}

func chatName(t worldstate.ChatTrust) string {
	names := [...]string{"system", "disguised", "unsigned", "signed"}
	if int(t) < len(names) {
		return names[t]
	}
	return "unknown"
}
