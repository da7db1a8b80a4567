package worldstate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"

	"blockworld/worldstate/geom"
)

// Dump is everything a mirror shows, as plain values in a fixed order: what two replays of the same facts must agree on.
// Chunk data appears by the states of its cells, never by how they are packed.
type Dump struct {
	Epoch         Epoch
	Sequence      Sequence
	Identity      Identity
	Dimension     Dimension
	DimensionName string
	Self          Self
	Inventory     Inventory
	Window        OpenWindow
	Columns       []ColumnDump
	Entities      []Entity
	Players       []PlayerInfo
	Chat          ChatPage
	Stats         []Stat // by category, then id
	StatReplies   uint64
	Ack           Ack
	Time          Time
	Border        Border
	Registries    []string // names of those received
}

// ColumnDump is one column of a Dump.
type ColumnDump struct {
	Pos           geom.ChunkPos
	MinY, Height  int32
	States        string // SHA-256 of all states as little-endian 16 bit numbers by y, z, x
	BlockEntities []BlockEntity
}

// Dump returns what the mirror shows now.
func (v View) Dump() Dump {
	m := v.mirror()
	d := Dump{
		Epoch: v.Epoch(), Sequence: v.Sequence(), Identity: v.Identity(), Dimension: v.Dimension(), DimensionName: v.DimensionName(),
		Self: v.Self(), Inventory: v.Inventory(), Window: v.Window(), Entities: v.Entities(), Players: v.Players(), Chat: v.Chat(0),
		StatReplies: m.stats.Replies, Ack: v.Ack(), Time: v.Time(), Border: v.Border(), Registries: m.received.names(),
	}
	for key, value := range m.stats.values {
		d.Stats = append(d.Stats, Stat{key.Category, key.ID, value})
	}
	slices.SortFunc(d.Stats, compareStats)
	for _, pos := range v.Columns() {
		d.Columns = append(d.Columns, m.world.columns[pos].dump(pos))
	}
	return d
}

// Digest returns the digest of everything the mirror shows. Two replays of the same facts give the same.
func (v View) Digest() [sha256.Size]byte { return v.Dump().Digest() }

// Digest is the SHA-256 of the dump's JSON: one value for everything the mirror shows.
func (d Dump) Digest() [sha256.Size]byte {
	b, err := json.Marshal(d)
	if err != nil { // only numbers that are not finite could do that, and no fact with one is taken
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(b)
}

func (l *loaded) dump(pos geom.ChunkPos) ColumnDump {
	h := sha256.New()
	var buf [2 * sectionCells]byte
	n := 0
	for s := range l.States {
		binary.LittleEndian.PutUint16(buf[n:], uint16(s))
		if n += 2; n == len(buf) {
			h.Write(buf[:])
			n = 0
		}
	}
	entities := slices.Clone(l.entities)
	slices.SortFunc(entities, func(a, b BlockEntity) int {
		if a.Pos == b.Pos {
			return 0
		}
		if a.Pos.Less(b.Pos) {
			return -1
		}
		return 1
	})
	return ColumnDump{Pos: pos, MinY: l.MinY(), Height: l.Height(), States: hex.EncodeToString(h.Sum(nil)), BlockEntities: entities}
}
