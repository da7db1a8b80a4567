package worldstate

import (
	"fmt"
	"maps"
	"slices"
)

// PlayerInfo is an entry of the player list. Name is as the server lists it.
type PlayerInfo struct {
	UUID     UUID
	Name     Untrusted
	GameMode GameMode
	Latency  int32 // milliseconds
	Listed   bool
}

func (m *Mirror) playersListed(ev PlayersListed) error {
	if len(m.roster)+len(ev.Players) > maxPlayers {
		fresh := 0
		for _, p := range ev.Players {
			if _, ok := m.roster[p.UUID]; !ok {
				fresh++
			}
		}
		if len(m.roster)+fresh > maxPlayers {
			return fmt.Errorf("%w: more than %d players", ErrMalformed, maxPlayers)
		}
	}
	for _, p := range ev.Players {
		info, ok := m.roster[p.UUID]
		if !ok && !p.HasName {
			continue // the game's client knows only players that were added with a name
		}
		info.UUID = p.UUID
		if p.HasName {
			info.Name = p.Name
		}
		if p.HasGameMode {
			info.GameMode = p.GameMode
		}
		if p.HasLatency {
			info.Latency = p.Latency
		}
		if p.HasListed {
			info.Listed = p.Listed
		}
		m.roster[p.UUID] = info
	}
	return nil
}

// received keeps what the configuration phase sent, unparsed.
type received struct {
	registries map[string][]RegistryEntry
	tags       map[string]map[string][]int32
}

func newReceived() received {
	return received{registries: map[string][]RegistryEntry{}, tags: map[string]map[string][]int32{}}
}

func (r *received) registry(ev RegistryReceived) error {
	if _, ok := r.registries[ev.Name]; !ok && len(r.registries) >= maxRegistries {
		return fmt.Errorf("%w: more than %d registries", ErrMalformed, maxRegistries)
	}
	r.registries[ev.Name] = slices.Clone(ev.Entries)
	return nil
}

func (r *received) tag(ev TagsReceived) error {
	if _, ok := r.tags[ev.Registry]; !ok && len(r.tags) >= maxRegistries {
		return fmt.Errorf("%w: tags of more than %d registries", ErrMalformed, maxRegistries)
	}
	r.tags[ev.Registry] = maps.Clone(ev.Tags)
	return nil
}

func (r *received) names() []string { return slices.Sorted(maps.Keys(r.registries)) }
