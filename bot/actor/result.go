package actor

import (
	"encoding/json"
	"fmt"
	"strings"

	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// Result is the answer to one request; the set is closed: one type per read, and Effect.
type Result interface{ result() }

// Effect is what came of an effect.
type Effect struct {
	Action     effects.ActionID   `json:"action"`
	Capability effects.Capability `json:"capability"`
	Verdict    effects.Verdict    `json:"verdict"`
	Grade      effects.Grade      `json:"grade"`
	Code       effects.Code       `json:"code"`
	Why        string             `json:"why"`      // the code in words
	Receipt    bool               `json:"receipt"`  // the journal holds the action's receipt
	Position   geom.Vec3          `json:"position"` // where the bot is by the server's last word and what was walked since
}

// WorldStatus is the answer to world_status.
type WorldStatus struct {
	Ready         bool             `json:"ready"` // placed, loaded, alive, not riding
	Health        *float32         `json:"health"`
	Food          *int32           `json:"food"`
	GameMode      string           `json:"game_mode"`
	Dimension     string           `json:"dimension"`
	MinY          int32            `json:"min_y"`
	MaxY          int32            `json:"max_y"` // highest cell
	Position      geom.Vec3        `json:"position"`
	Look          geom.Rotation    `json:"look"`
	WorldAge      *int64           `json:"world_age"`   // ticks
	TimeOfDay     *int64           `json:"time_of_day"` // ticks
	Epoch         worldstate.Epoch `json:"epoch"`
	Sequence      uint64           `json:"sequence"`
	Cursor        effects.Cursor   `json:"cursor"`
	CursorHolds   bool             `json:"cursor_holds"` // no proven cell is known to differ
	Left          effects.Budgets  `json:"budgets_left"`
	PlayersOnline int              `json:"players_online"`
}

// MarshalJSON writes the status with names as the other answers have them. The mirror's epoch and sequence stand apart: they
// are not those of the publications that a request names.
func (s WorldStatus) MarshalJSON() ([]byte, error) {
	type plain WorldStatus // without this method
	return json.Marshal(struct {
		plain
		Look     look    `json:"look"`
		Epoch    *string `json:"epoch,omitempty"`    // hides the mirror's
		Sequence *string `json:"sequence,omitempty"` // hides the mirror's
		Mirror   mirror  `json:"mirror"`
		Cursor   cursor  `json:"cursor"`
		Left     left    `json:"budgets_left"`
	}{plain: plain(s), Look: look(s.Look), Mirror: mirror{s.Epoch.Host, s.Epoch.World, s.Epoch.Timeline, s.Sequence},
		Cursor: cursor{s.Cursor.Count, fmt.Sprintf("%016x", s.Cursor.Hash)}, Left: left(s.Left)})
}

type (
	look struct {
		Yaw   float32 `json:"yaw"`   // degrees
		Pitch float32 `json:"pitch"` // degrees
	}
	mirror struct {
		Host     uint64 `json:"host"`
		World    uint64 `json:"world"`
		Timeline uint64 `json:"timeline"`
		Sequence uint64 `json:"sequence"`
	}
	cursor struct {
		Count uint32 `json:"count"`
		Hash  string `json:"hash"` // hex: many readers of JSON round large numbers
	}
	left struct {
		Uses       int32 `json:"uses"`
		Quantity   int32 `json:"quantity"`
		Distance   int32 `json:"distance"`
		Characters int32 `json:"characters"`
	}
)

// MarshalJSON writes the entity with names as the other answers have them.
func (e Entity) MarshalJSON() ([]byte, error) {
	type plain Entity // without this method
	return json.Marshal(struct {
		plain
		Look look `json:"look"`
	}{plain(e), look(e.Look)})
}

// InventorySummary is the answer to inventory_summary.
type InventorySummary struct {
	Held    int8             `json:"held"`    // hotbar slot 0..8 as the server knows it, -1 unknown
	Counts  map[string]int32 `json:"counts"`  // by item name, over main inventory, hotbar, off hand and armour
	Special map[string]int32 `json:"special"` // of those, stacks with data of their own, which are never placed
	Unknown int              `json:"unknown"` // slots that hold something undecodable
	Empty   int              `json:"empty"`   // empty slots of main inventory and hotbar
}

// Cell is one cell of a scan.
type Cell struct {
	Pos   effects.Position `json:"pos"`
	State string           `json:"state"`
}

// ScanRegion is the answer to scan_region. Unknown cells are those not loaded or outside what may be seen; they may hold
// anything.
type ScanRegion struct {
	Cells   []Cell `json:"cells"`
	More    bool   `json:"more"` // the limit cut the list
	Known   int64  `json:"known"`
	Unknown int64  `json:"unknown"`
}

// Entity is one entity of nearby_entities.
type Entity struct {
	ID       int32         `json:"id"`
	Type     string        `json:"type"`
	Position geom.Vec3     `json:"position"`
	Look     geom.Rotation `json:"look"`
	Distance float64       `json:"distance"`
}

// NearbyEntities is the answer to nearby_entities, nearest first.
type NearbyEntities struct {
	Entities []Entity `json:"entities"`
	Total    int      `json:"total"` // within the radius, listed or not
}

// Line is one line of chat. Everything but Cursor and Trust was written by somebody in the world and is data, never an
// instruction; it is quoted, with control and special characters escaped.
type Line struct {
	Cursor    uint64 `json:"cursor"`
	Trust     string `json:"trust"` // system, disguised, unsigned, signed: who vouches for the sender
	Sender    string `json:"sender_untrusted"`
	Text      string `json:"text_untrusted"`
	Untrusted bool   `json:"untrusted"` // always true
}

// ChatSince is the answer to chat_since: public lines after the cursor. Asked again with Next it goes on without a gap or
// a repeat.
type ChatSince struct {
	Lines []Line `json:"lines"`
	Next  uint64 `json:"next"`
	Lost  uint64 `json:"lost"` // lines after the cursor that are no longer kept
}

func (Effect) result()           {}
func (WorldStatus) result()      {}
func (InventorySummary) result() {}
func (ScanRegion) result()       {}
func (NearbyEntities) result()   {}
func (ChatSince) result()        {}

// Denied is the guard's no: nothing was sent.
type Denied struct {
	Capability effects.Capability
	Decision   sentinel.Decision
}

// Error says every refusal in plain words.
func (d *Denied) Error() string { return fmt.Sprintf("%s %s", d.Capability, d.Decision.Explain()) }

// quote makes a text from the world one line of printable characters.
func quote(s worldstate.Untrusted) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people and models read it, no browser
	if e.Encode(string(s)) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// names lists the ten capabilities.
func names() string {
	var out []string
	for _, c := range effects.Capabilities() {
		out = append(out, c.String())
	}
	return strings.Join(out, ", ")
}
