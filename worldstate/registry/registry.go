package registry

import (
	"errors"
	"fmt"
	"sync"

	"blockworld/worldstate/geom"
)

// StateID is the id of a block state in one protocol version. 0 is air, so absence is always told apart by a bool.
type StateID uint16

// ItemID is the id of an item in one protocol version. 0 is air.
type ItemID int32

// EntityTypeID is the id of an entity type in one protocol version.
type EntityTypeID int32

// NoItem is the item of a block that has none of its own name.
const NoItem ItemID = -1

// Block is one block with all its states, which are Min..Max. It is shared and must not be changed.
type Block struct {
	ID                int32
	Name              string // "minecraft:oak_stairs"
	Min, Max, Default StateID
	Props             []Property // in the order that numbers the states: the last one varies fastest
	Hardness          float32    // -1 cannot be broken
	Item              ItemID     // the item of the same name, NoItem if there is none
	Solid             bool       // minecraft-data's bounding box is "block": something stands in the cell

	flags  blockFlags
	shapes []uint16 // one for all states, or one per state
}

// Property is one property of a block and its values in the game's order ("true" before "false").
type Property struct {
	Name   string
	Values []string
}

// Item is one item.
type Item struct {
	ID        ItemID
	Name      string // "minecraft:stone"
	StackSize int32  // most that one slot holds without components that say otherwise
}

// EntityType is one type of entity. Sizes are those of a standing adult, in blocks.
type EntityType struct {
	ID            EntityTypeID
	Name          string
	Width, Height float32
}

// ErrUnknownProtocol says that no tables exist for a protocol number.
var ErrUnknownProtocol = errors.New("unknown protocol version")

// Registry is everything this package knows about one protocol version. It is immutable.
type Registry struct {
	protocol     Protocol
	blocks       []Block
	ofState      []uint16 // state -> index into blocks
	byName       map[string]*Block
	items        []Item
	itemByName   map[string]*Item
	entities     []EntityType
	entityByName map[string]*EntityType
	player       EntityTypeID
	shapes       [][]geom.Box
	support      []supportMask // beside shapes
}

// registries holds one lazily built Registry per known protocol.
var registries = func() (f [Latest - First + 1]func() (*Registry, error)) {
	for i := range f {
		f[i] = sync.OnceValues(func() (*Registry, error) { return build(First + Protocol(i)) })
	}
	return f
}()

// Load returns the registry of a protocol. It is built at the first call (about a millisecond) and shared from then on.
// An unknown protocol gives ErrUnknownProtocol.
func Load(p Protocol) (*Registry, error) {
	if !p.Known() {
		return nil, fmt.Errorf("%w %d: this program knows %s to %s", ErrUnknownProtocol, int32(p), First, Latest)
	}
	return registries[p-First]()
}

func build(p Protocol) (*Registry, error) {
	t, err := loadTables()
	if err != nil {
		return nil, err
	}
	rows, ok := t.versions[p]
	if !ok {
		return nil, fmt.Errorf("%w %d: no tables embedded", ErrUnknownProtocol, int32(p))
	}
	r := &Registry{
		protocol: p, shapes: t.shapes, support: t.support,
		byName: make(map[string]*Block, len(rows.blocks)), itemByName: make(map[string]*Item, len(rows.items)),
		entityByName: make(map[string]*EntityType, len(rows.entities)),
	}
	if err := r.addItems(t, rows); err != nil {
		return nil, err
	}
	if err := r.addBlocks(t, rows.blocks); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Registry) addItems(t *tables, rows versionRows) error {
	r.items = make([]Item, len(rows.items))
	for i, row := range rows.items {
		if row < 0 || row >= len(t.items) {
			return errTables
		}
		r.items[i] = t.items[row]
		r.items[i].ID = ItemID(i)
		r.itemByName[r.items[i].Name] = &r.items[i]
	}
	r.entities = make([]EntityType, len(rows.entities))
	r.player = -1
	for i, row := range rows.entities {
		if row < 0 || row >= len(t.entities) {
			return errTables
		}
		r.entities[i] = t.entities[row]
		r.entities[i].ID = EntityTypeID(i)
		r.entityByName[r.entities[i].Name] = &r.entities[i]
		if r.entities[i].Name == namespace+"player" {
			r.player = EntityTypeID(i)
		}
	}
	return nil
}

func (r *Registry) addBlocks(t *tables, rows []int) error {
	r.blocks = make([]Block, len(rows))
	next := 0
	for i, n := range rows {
		if n < 0 || n >= len(t.blocks) || t.blocks[n].schema >= len(t.schemas) || t.blocks[n].pattern >= len(t.patterns) {
			return errTables
		}
		row := &t.blocks[n]
		count := 1
		for _, p := range t.schemas[row.schema] {
			count *= len(p.Values)
		}
		b := &r.blocks[i]
		*b = Block{
			ID: int32(i), Name: row.name, Min: StateID(next), Max: StateID(next + count - 1), Default: StateID(next) + row.first,
			Props: t.schemas[row.schema], Hardness: row.hardness, Item: NoItem, Solid: row.solid, shapes: t.patterns[row.pattern],
		}
		if len(b.shapes) != 1 && len(b.shapes) != count {
			return errTables
		}
		if it, ok := r.itemByName[b.Name]; ok {
			b.Item = it.ID
		}
		b.flags = flagsOf(b.Name)
		r.byName[b.Name] = b
		for range count {
			r.ofState = append(r.ofState, uint16(i))
		}
		next += count
	}
	return nil
}

// Protocol returns the version that this registry describes.
func (r *Registry) Protocol() Protocol { return r.protocol }

// StateCount returns the number of block states; valid ids are below it.
func (r *Registry) StateCount() int { return len(r.ofState) }

// Blocks returns all blocks by id. The slice is shared and must not be changed.
func (r *Registry) Blocks() []Block { return r.blocks }

// Block finds a block by its name, with or without "minecraft:".
func (r *Registry) Block(name string) (*Block, bool) {
	b, ok := r.byName[full(name)]
	return b, ok
}

// BlockOf returns the block that a state belongs to, nil for an id out of range.
func (r *Registry) BlockOf(s StateID) *Block {
	if int(s) >= len(r.ofState) {
		return nil
	}
	return &r.blocks[r.ofState[s]]
}

// Item finds an item by its name, with or without "minecraft:".
func (r *Registry) Item(name string) (*Item, bool) {
	it, ok := r.itemByName[full(name)]
	return it, ok
}

// Items returns all items by id. The slice is shared and must not be changed.
func (r *Registry) Items() []Item { return r.items }

// ItemByID returns an item, nil for an id out of range.
func (r *Registry) ItemByID(id ItemID) *Item {
	if id < 0 || int(id) >= len(r.items) {
		return nil
	}
	return &r.items[id]
}

// EntityType finds an entity type by its name, with or without "minecraft:".
func (r *Registry) EntityType(name string) (*EntityType, bool) {
	e, ok := r.entityByName[full(name)]
	return e, ok
}

// EntityTypeByID returns an entity type, nil for an id out of range.
func (r *Registry) EntityTypeByID(id EntityTypeID) *EntityType {
	if id < 0 || int(id) >= len(r.entities) {
		return nil
	}
	return &r.entities[id]
}

// PlayerType returns the entity type of players.
func (r *Registry) PlayerType() EntityTypeID { return r.player }
