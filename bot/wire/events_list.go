package wire

import (
	"blockworld/worldstate"
	"blockworld/worldstate/nbt"
)

// listEvents turns packets that list things into facts: players, registries, tags.
func listEvents(dst []worldstate.Event, p Packet, ctx *EventContext) []worldstate.Event {
	switch p := p.(type) {
	case *PlayerInfoUpdate:
		return append(dst, playersListed(p))
	case *PlayerInfoRemove:
		return append(dst, worldstate.PlayersUnlisted{Players: p.Players})
	case *RegistryData:
		for _, r := range registries(p) {
			ctx.received(r)
			dst = append(dst, r)
		}
	case *UpdateTags:
		for _, r := range p.Registries {
			tags := make(map[string][]int32, len(r.Tags))
			for _, t := range r.Tags {
				tags[t.Name] = t.IDs
			}
			dst = append(dst, worldstate.TagsReceived{Registry: r.Registry, Tags: tags})
		}
	}
	return dst
}

func playersListed(p *PlayerInfoUpdate) worldstate.Event {
	e := worldstate.PlayersListed{Players: make([]worldstate.PlayerEntry, len(p.Entries))}
	for i := range p.Entries {
		in := &p.Entries[i]
		e.Players[i] = worldstate.PlayerEntry{
			UUID: in.Profile.UUID, Name: worldstate.Untrusted(in.Profile.Name), GameMode: gameMode(in.GameMode), Latency: in.Latency, Listed: in.Listed,
			HasName:     p.Actions&InfoAddPlayer != 0,
			HasGameMode: p.Actions&InfoGameMode != 0,
			HasLatency:  p.Actions&InfoLatency != 0,
			HasListed:   p.Actions&InfoListed != 0,
		}
	}
	return e
}

// registries returns the registries of a packet: one, or all of them out of the codec of earlier versions.
func registries(p *RegistryData) []worldstate.RegistryReceived {
	if len(p.Codec) > 0 {
		return codecRegistries(p.Codec)
	}
	r := worldstate.RegistryReceived{Name: p.Registry, Entries: make([]worldstate.RegistryEntry, len(p.Entries))}
	for i, e := range p.Entries {
		r.Entries[i] = worldstate.RegistryEntry{Key: e.Key, NBT: e.Data}
	}
	return []worldstate.RegistryReceived{r}
}

// codecRegistries takes {registry: {value: [{name, id, element}, ...]}, ...} apart. What has another shape is left out.
func codecRegistries(codec NBT) []worldstate.RegistryReceived {
	v, _, err := nbt.Parse(codec, nbt.Limits{})
	root, ok := v.(nbt.Compound)
	if err != nil || !ok {
		return nil
	}
	var out []worldstate.RegistryReceived
	for _, name := range root.Keys() {
		reg, ok := root.Compound(name)
		if !ok {
			continue
		}
		list, ok := reg.List("value")
		if !ok {
			continue
		}
		r := worldstate.RegistryReceived{Name: name}
		for _, item := range list.Items {
			if e, ok := item.(nbt.Compound); ok {
				r.Entries = placeEntry(r.Entries, e, len(list.Items))
			}
		}
		out = append(out, r)
	}
	return out
}

// placeEntry puts an entry where its id says, in a registry of at most n entries.
func placeEntry(entries []worldstate.RegistryEntry, e nbt.Compound, n int) []worldstate.RegistryEntry {
	key, _ := e.Str("name")
	id, ok := e.Int("id")
	if !ok {
		id = int64(len(entries))
	}
	if id < 0 || id >= int64(n) {
		return entries
	}
	for int64(len(entries)) <= id {
		entries = append(entries, worldstate.RegistryEntry{})
	}
	entries[id] = worldstate.RegistryEntry{Key: key}
	if el, ok := e.Compound("element"); ok {
		entries[id].NBT = nbt.Append(nil, el)
	}
	return entries
}
