package effects

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"blockworld/worldstate/geom"
)

// ErrBadRequest wraps every refusal of a request's contents.
var ErrBadRequest = errors.New("bad request")

// Request is what a controller asks for, one struct per capability. The set is closed.
type Request interface {
	// Capability tells which of the ten this request uses.
	Capability() Capability
	// Validate checks everything that can be checked without a world; errors wrap ErrBadRequest.
	Validate() error
	request()
}

// Limits of requests.
const (
	MaxScanVolume = 1 << 21 // cells of one scan_region
	MaxListed     = 1024    // entries that a read may return
	MaxText       = 256     // characters of one chat line, as the protocol counts them (UTF-16 units)
	MaxRadius     = 256     // blocks around the bot for nearby_entities
	MaxName       = 256     // bytes of an item or block state as text
	maxCoordinate = 30_000_000
)

// WorldStatusRequest asks for health, dimension, times, epoch and cursor.
type WorldStatusRequest struct{}

// InventorySummaryRequest asks for the counts of the own inventory.
type InventorySummaryRequest struct{}

// ScanRegionRequest asks for the cells of a box, both corners included.
type ScanRegionRequest struct {
	Min   Position `json:"min"`
	Max   Position `json:"max"`
	Block string   `json:"block,omitempty"` // full block name; empty for everything that is not air
	Limit int32    `json:"limit,omitempty"` // most cells returned, 0 for MaxListed
}

// NearbyEntitiesRequest asks for entities around the bot.
type NearbyEntitiesRequest struct {
	Radius float64 `json:"radius"`          // blocks
	Limit  int32   `json:"limit,omitempty"` // 0 for MaxListed
}

// ChatSinceRequest asks for chat lines after a cursor; private lines are left out.
type ChatSinceRequest struct {
	Cursor uint64 `json:"cursor"`
	Limit  int32  `json:"limit,omitempty"` // 0 for MaxListed
}

// MoveToRequest walks the bot's feet into a cell.
type MoveToRequest struct {
	Pos Position `json:"pos"`
}

// LookAtRequest turns the head towards a point.
type LookAtRequest struct {
	Point Point `json:"point"`
}

// SayRequest says one public line.
type SayRequest struct {
	Text string `json:"text"`
}

// EquipRequest selects an item in the hotbar.
type EquipRequest struct {
	Item string `json:"item"` // full item name
}

// PlaceBlockRequest asks for one full block state in one cell.
type PlaceBlockRequest struct {
	Pos   Position `json:"pos"`
	State string   `json:"state"` // as FormatState of the registry writes it, properties in full
}

// Position is a cell, written [x,y,z] in JSON.
type Position geom.BlockPos

// Point is a place in blocks, written [x,y,z] in JSON.
type Point geom.Vec3

// Capability implements Request.
func (WorldStatusRequest) Capability() Capability { return WorldStatus }

// Capability implements Request.
func (InventorySummaryRequest) Capability() Capability { return InventorySummary }

// Capability implements Request.
func (ScanRegionRequest) Capability() Capability { return ScanRegion }

// Capability implements Request.
func (NearbyEntitiesRequest) Capability() Capability { return NearbyEntities }

// Capability implements Request.
func (ChatSinceRequest) Capability() Capability { return ChatSince }

// Capability implements Request.
func (MoveToRequest) Capability() Capability { return MoveTo }

// Capability implements Request.
func (LookAtRequest) Capability() Capability { return LookAt }

// Capability implements Request.
func (SayRequest) Capability() Capability { return Say }

// Capability implements Request.
func (EquipRequest) Capability() Capability { return Equip }

// Capability implements Request.
func (PlaceBlockRequest) Capability() Capability { return PlaceBlock }

// Validate implements Request.
func (WorldStatusRequest) Validate() error { return nil }

// Validate implements Request.
func (InventorySummaryRequest) Validate() error { return nil }

// Validate implements Request.
func (r ScanRegionRequest) Validate() error {
	if err := errors.Join(checkPos(r.Min), checkPos(r.Max), checkLimit(r.Limit)); err != nil {
		return err
	}
	if r.Min.X > r.Max.X || r.Min.Y > r.Max.Y || r.Min.Z > r.Max.Z {
		return bad("min %v is not below max %v on every axis", geom.BlockPos(r.Min), geom.BlockPos(r.Max))
	}
	if v := (geom.BlockBox{Min: geom.BlockPos(r.Min), Max: geom.BlockPos(r.Max)}).Volume(); v > MaxScanVolume {
		return bad("the box holds %d cells, at most %d can be scanned at once", v, MaxScanVolume)
	}
	if r.Block == "" {
		return nil
	}
	return checkName("block", r.Block)
}

// Validate implements Request.
func (r NearbyEntitiesRequest) Validate() error {
	if !(r.Radius > 0 && r.Radius <= MaxRadius) {
		return bad("radius %v is not within 0..%d blocks", r.Radius, MaxRadius)
	}
	return checkLimit(r.Limit)
}

// Validate implements Request.
func (r ChatSinceRequest) Validate() error { return checkLimit(r.Limit) }

// Validate implements Request.
func (r MoveToRequest) Validate() error { return checkPos(r.Pos) }

// Validate implements Request.
func (r LookAtRequest) Validate() error {
	for _, c := range r.Point {
		if math.IsNaN(c) || math.Abs(c) > maxCoordinate {
			return bad("point %v is not in a world", r.Point)
		}
	}
	return nil
}

// Validate implements Request. A line that a server would run as a command, or kick for, is refused.
func (r SayRequest) Validate() error {
	switch {
	case !utf8.ValidString(r.Text):
		return bad("text is not UTF-8")
	case strings.TrimSpace(r.Text) == "":
		return bad("text is empty")
	case strings.HasPrefix(strings.TrimSpace(r.Text), "/"):
		return bad("text starts with a slash: commands and private messages are not offered")
	case utf16Len(r.Text) > MaxText:
		return bad("text has %d characters, at most %d go into one line", utf16Len(r.Text), MaxText)
	}
	for _, c := range r.Text {
		if !Sayable(c) {
			return bad("text holds the character %U, for which servers kick", c)
		}
	}
	return nil
}

// Sayable says whether a character may stand in a chat line. Vanilla kicks for the ASCII control characters, for delete and
// for the section sign; those from U+0080 to U+009F are refused as well, since terminals of whoever reads along obey them.
func Sayable(c rune) bool { return !unicode.IsControl(c) && c != '§' }

// Validate implements Request.
func (r EquipRequest) Validate() error { return checkName("item", r.Item) }

// Validate implements Request.
func (r PlaceBlockRequest) Validate() error {
	if err := checkPos(r.Pos); err != nil {
		return err
	}
	return checkName("state", r.State)
}

func (WorldStatusRequest) request()      {}
func (InventorySummaryRequest) request() {}
func (ScanRegionRequest) request()       {}
func (NearbyEntitiesRequest) request()   {}
func (ChatSinceRequest) request()        {}
func (MoveToRequest) request()           {}
func (LookAtRequest) request()           {}
func (SayRequest) request()              {}
func (EquipRequest) request()            {}
func (PlaceBlockRequest) request()       {}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrBadRequest}, args...)...)
}

func checkPos(p Position) error {
	for _, c := range [3]int32{p.X, p.Y, p.Z} {
		if c < -maxCoordinate || c > maxCoordinate {
			return bad("position %v is outside every world", geom.BlockPos(p))
		}
	}
	return nil
}

func checkLimit(n int32) error {
	if n < 0 || n > MaxListed {
		return bad("limit %d is not within 0..%d", n, MaxListed)
	}
	return nil
}

// checkName takes "minecraft:stone" and "minecraft:oak_log[axis=x]"; whether it exists is the registry's word.
func checkName(what, s string) error {
	if s == "" {
		return bad("%s is empty", what)
	}
	if len(s) > MaxName {
		return bad("%s is longer than %d bytes", what, MaxName)
	}
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("_:[]=,./-", c)) {
			return bad("%s %q holds %q; names are lower case, as in minecraft:oak_log[axis=x]", what, s, c)
		}
	}
	return nil
}

func utf16Len(s string) int {
	n := 0
	for _, c := range s {
		n++
		if c > 0xffff {
			n++
		}
	}
	return n
}
