package worldstate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"blockworld/worldstate/registry"
)

// captured is one vanilla column and what is known of it.
type captured struct {
	File     string
	Bytes    int
	Sections int32
	MinY     int32  `json:"min_y"`
	Sum      uint64 `json:"sum_of_state_ids"`
	Distinct int    `json:"distinct_states"`
	SHA256   string `json:"sha256_of_uint16le_states_y_z_x"`
	Samples  []struct {
		X, Y, Z int32
		ID      registry.StateID `json:"state_id"`
	}
	data []byte
}

func (c *captured) layout() ColumnLayout {
	return ColumnLayout{MinY: c.MinY, Height: c.Sections * 16, BlockBits: 15, BiomeBits: 6, States: 1 << 15}
}

// capturedColumns reads the vanilla columns of the folder that BLOCKWORLD_TEST_DATA names.
func capturedColumns(t testing.TB) []captured {
	t.Helper()
	dir := os.Getenv("BLOCKWORLD_TEST_DATA")
	if dir == "" {
		t.Skip("BLOCKWORLD_TEST_DATA is not set: no captured columns to read")
	}
	b, err := os.ReadFile(filepath.Join(dir, "chunks", "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []captured
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if list[i].data, err = os.ReadFile(filepath.Join(dir, "chunks", list[i].File)); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func TestCapturedColumns(t *testing.T) {
	for _, c := range capturedColumns(t) {
		t.Run(c.File, func(t *testing.T) {
			if len(c.data) != c.Bytes {
				t.Fatalf("%d bytes, want %d", len(c.data), c.Bytes)
			}
			col, err := DecodeColumn(c.data, c.layout())
			if err != nil {
				t.Fatal(err)
			}
			var sum uint64
			distinct := map[registry.StateID]bool{}
			h := sha256.New()
			for s := range col.States {
				sum += uint64(s)
				distinct[s] = true
				h.Write(binary.LittleEndian.AppendUint16(nil, uint16(s)))
			}
			if got := hex.EncodeToString(h.Sum(nil)); sum != c.Sum || len(distinct) != c.Distinct || got != c.SHA256 {
				t.Errorf("sum %d, %d distinct, sha256 %s", sum, len(distinct), got)
			}
			for _, s := range c.Samples {
				if got, ok := col.Block(s.X, s.Y, s.Z); !ok || got != s.ID {
					t.Errorf("%d,%d,%d is %d (%v), want %d", s.X, s.Y, s.Z, got, ok, s.ID)
				}
			}
			i := 0
			for s := range col.States {
				if got, _ := col.Block(int32(i&15), col.MinY()+int32(i>>8), int32(i>>4&15)); got != s {
					t.Fatalf("cell %d is %d one by one, %d in a row", i, got, s)
				}
				i++
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	list := capturedColumns(b)
	layout := list[0].layout()
	bytes := 0
	for _, c := range list {
		bytes += len(c.data)
	}
	b.SetBytes(int64(bytes / len(list)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := DecodeColumn(list[i%len(list)].data, layout); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkDecodeLimit is one copy to fresh memory and one big-endian pass over the same bytes.
func BenchmarkDecodeLimit(b *testing.B) {
	list := capturedColumns(b)
	bytes := 0
	for _, c := range list {
		bytes += len(c.data)
	}
	b.SetBytes(int64(bytes / len(list)))
	i := 0
	var sum uint64
	for b.Loop() {
		sum += CopyAndPass(list[i%len(list)].data)
		i++
	}
	sink = sum
}

var sink uint64

// randomCells are the positions of a lookup benchmark: which of 12 columns, x, y, z.
func randomCells() (cells [4096][4]int32) {
	r := uint32(1)
	next := func(n uint32) int32 { r = r*1664525 + 1013904223; return int32((r >> 8) % n) }
	for i := range cells {
		cells[i] = [4]int32{next(12), next(16), next(384) - 64, next(16)}
	}
	return cells
}

func BenchmarkLookup(b *testing.B) {
	list := capturedColumns(b)
	var columns [12]*Column
	for i := range columns {
		c := list[i%len(list)]
		col, err := DecodeColumn(c.data, c.layout())
		if err != nil {
			b.Fatal(err)
		}
		columns[i] = col
	}
	cells := randomCells()
	b.ResetTimer()
	var sum uint64
	for i := range b.N {
		p := &cells[i&4095]
		s, _ := columns[p[0]].Block(p[1], p[2], p[3])
		sum += uint64(s)
	}
	sink = sum
}

// BenchmarkLookupUnpacked is the limit of a lookup: one load from a plain array of as many cells.
func BenchmarkLookupUnpacked(b *testing.B) {
	var columns [12][]uint16
	for i := range columns {
		columns[i] = make([]uint16, 384*256)
	}
	cells := randomCells()
	b.ResetTimer()
	var sum uint64
	for i := range b.N {
		p := &cells[i&4095]
		sum += uint64(columns[p[0]][(p[2]+64)<<8|p[3]<<4|p[1]])
	}
	sink = sum
}
