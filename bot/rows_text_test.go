package bot_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blockworld/bot"
	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// order is what is written everywhere in the world of TestTextStaysApart. A name of a player has room for it.
const order = "op 7, plot=*"

// TestTextStaysApart sends every kind of text that the bot decodes. In facts and in the mirror it may stand as Untrusted or
// as raw bytes that nobody parses, and in answers only where they say that it is untrusted.
func TestTextStaysApart(t *testing.T) {
	t.Parallel()
	for _, p := range []registry.Protocol{registry.V1_20_3, registry.V1_21_7} { // items with NBT, items with components
		t.Run(fmt.Sprintf("SE-15/names, books, signs, titles, lists, MOTD, %d", p), func(t *testing.T) {
			t.Parallel()
			st := play(t, server.Config{Protocol: p}, nil)
			st.give(0, "minecraft:stone", 64)
			st.effect(place(2, -60, 0, "minecraft:stone"))
			before := st.status()
			st.put(cell(3, -60, 2), "oak_sign")
			st.other("Neighbour")
			await(t, st.b, "the neighbour is seen", func(tx *bot.Tx) bool { return len(tx.View().Entities()) == 1 })
			heard := &listener{from: map[string]bool{}}
			st.b.Do(t.Context(), func(tx *bot.Tx) { tx.Attach(heard) })

			text := wire.Literal(order)
			st.s.Do(func(w *server.World) {
				me := w.Player("Tester")
				me.GiveStack(36+1, named(t, st.s.Registry(), "minecraft:stone"))
				me.GiveStack(36+2, named(t, st.s.Registry(), "minecraft:written_book"))
				me.Send(&wire.BlockEntityData{Pos: cell(3, -60, 2), Type: 7, Data: compound("front_text", order)})
				me.Send(&wire.SetEntityData{EntityID: 77, Metadata: entityNamed(order)})
				me.Send(&wire.ServerData{MOTD: text})
				me.Send(&wire.PlayerInfoUpdate{Actions: wire.InfoAddPlayer | wire.InfoDisplayName | wire.InfoListed, Entries: []wire.PlayerInfo{{
					Profile: wire.GameProfile{UUID: worldstate.UUID{9}, Name: order}, Listed: true, HasDisplayName: true, DisplayName: text}}})
				me.Send(&wire.OpenScreen{Window: 5, Title: text})
				w.Pretend(worldstate.UUID{9}, order, order)
			})
			await(t, st.b, "the last was heard", func(tx *bot.Tx) bool { return heard.from["worldstate.ChatReceived"] })
			st.b.Do(t.Context(), func(tx *bot.Tx) {
				for _, kind := range []string{"WindowOpened", "PlayersListed", "BlockEntityChanged"} {
					if !heard.from["worldstate."+kind] {
						t.Errorf("no %s was heard: the test looks at nothing", kind)
					}
				}
				if len(heard.leaks) > 0 {
					t.Errorf("facts with world text outside Untrusted: %v", heard.leaks)
				}
				if leaks := leaksOf(tx.View().Dump()); len(leaks) > 0 {
					t.Errorf("the mirror keeps world text outside Untrusted: %v", leaks)
				}
				tx.Detach(heard)
			})
			for _, r := range []effects.Request{effects.WorldStatusRequest{}, effects.InventorySummaryRequest{},
				effects.NearbyEntitiesRequest{Radius: 100}, effects.ScanRegionRequest{Min: effects.Position{X: 2, Y: -60, Z: 0}, Max: effects.Position{X: 3, Y: -60, Z: 2}}} {
				res, err := st.do(r)
				if err != nil {
					t.Fatal(err)
				}
				if b, err := json.Marshal(res); err != nil || strings.Contains(string(b), order) {
					t.Errorf("%s, %v", b, err)
				}
			}
			if after := st.status(); after.Cursor != before.Cursor || after.Left != before.Left || st.receipts() != 1 {
				t.Errorf("before %+v\nafter  %+v, %d receipts", before, after, st.receipts())
			}
		})
	}
	t.Run("SE-15/boss bar, scoreboard, on-screen titles, tab list, open book are not read", func(t *testing.T) {
		never := []string{"boss_event", "set_objective", "set_score", "set_player_team", "set_title_text", "set_subtitle_text",
			"set_action_bar_text", "tab_list", "open_book", "open_sign_editor"}
		for _, p := range registry.Protocols() {
			ids := wire.IDs(p, wire.Play, wire.Clientbound)
			if len(ids) == 0 {
				t.Errorf("%s has no packets", p)
			}
			for _, id := range ids {
				if name := wire.NameOf(p, wire.Play, wire.Clientbound, id); slices.Contains(never, name) {
					t.Errorf("%s decodes %s: say above where its text goes", p, name)
				}
			}
		}
	})
}

// listener notes the kinds of facts it hears and where world text stands in them as anything but Untrusted.
type listener struct {
	from  map[string]bool
	leaks []string
}

func (l *listener) Fact(_ *bot.Tx, f bot.Fact) {
	l.from[fmt.Sprintf("%T", f.Event)] = true
	l.leaks = append(l.leaks, leaksOf(f.Event)...)
}
func (l *listener) Tick(*bot.Tx) bool { return false }
func (l *listener) Ended(error)       {}

// leaksOf returns where the order stands in a value, but for Untrusted and raw bytes.
func leaksOf(v any) (leaks []string) {
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if v.Type() != reflect.TypeFor[worldstate.Untrusted]() && strings.Contains(v.String(), order) {
				leaks = append(leaks, path)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				return
			}
			for i := range v.Len() {
				walk(path, v.Index(i))
			}
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				walk(path, k)
				walk(path, v.MapIndex(k))
			}
		}
	}
	walk(reflect.TypeOf(v).Name(), reflect.ValueOf(v))
	return leaks
}

// named is an item whose data holds the order: as its name, and for a book also as a page would.
func named(t *testing.T, r *registry.Registry, item string) wire.ItemStack {
	t.Helper()
	it, ok := r.Item(item)
	if !ok {
		t.Fatalf("no item %s", item)
	}
	s := wire.ItemStack{Item: it.ID, Count: 1}
	if wire.Has(r.Protocol(), wire.ItemComponents) {
		s.Components = append([]byte{1, 0, 5}, nbtString(order)...) // one added, none removed: custom_name
	} else {
		s.NBT = compound("title", order)
	}
	return s
}

// compound is a network NBT compound with one string.
func compound(key, value string) wire.NBT {
	b := append([]byte{10, 8, 0, byte(len(key))}, key...)
	b = append(b, 0, byte(len(value)))
	return append(append(b, value...), 0)
}

// nbtString is a text component in network NBT.
func nbtString(s string) []byte { return append([]byte{8, 0, byte(len(s))}, s...) }

// entityNamed is metadata with a custom name: index 2, type 6 (optional text), present.
func entityNamed(name string) wire.Metadata {
	return append(append(wire.Metadata{2, 6, 1}, nbtString(name)...), 0xFF)
}
