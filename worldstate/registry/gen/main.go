// Command gen writes zz_tables.bin, the block, item, entity and collision tables of every protocol, from the npm
// package minecraft-data (MIT). Run it from the repository's root after "npm ci" in fixtures/peers:
//
//	go run ./worldstate/registry/gen
//
// The output depends on nothing but the input, so that two runs can be compared byte by byte.
package main

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
)

// sources names, per protocol, the version whose data sets are read.
var sources = []struct {
	protocol uint64
	version  string
}{
	{764, "1.20.2"}, {765, "1.20.4"}, {766, "1.20.6"}, {767, "1.21.1"}, {768, "1.21.3"}, {769, "1.21.4"},
	{770, "1.21.5"}, {771, "1.21.6"}, {772, "1.21.8"}, {773, "1.21.9"}, {774, "1.21.11"}, {775, "26.1"},
}

func main() {
	data := flag.String("data", "fixtures/peers/node_modules/minecraft-data/minecraft-data/data", "minecraft-data's data folder")
	out := flag.String("out", "worldstate/registry/zz_tables.bin", "file to write")
	flag.Parse()
	if err := run(*data, *out); err != nil {
		log.Fatal(err)
	}
}

func run(data, out string) error {
	t := newTables()
	for _, s := range sources {
		v, err := readVersion(data, s.version)
		if err != nil {
			return fmt.Errorf("%s: %w", s.version, err)
		}
		if err := t.add(s.protocol, v); err != nil {
			return fmt.Errorf("%s: %w", s.version, err)
		}
	}
	raw := t.encode()
	var packed bytes.Buffer
	w, err := zlib.NewWriterLevel(&packed, zlib.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(raw); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes raw, %d packed; %d block rows, %d schemas, %d shapes, %d shape patterns, %d item rows, %d entity rows\n",
		out, len(raw), packed.Len(), len(t.blocks.rows), len(t.schemas.rows), len(t.shapes.rows), len(t.patterns.rows), len(t.items.rows), len(t.entities.rows))
	return os.WriteFile(out, packed.Bytes(), 0o644)
}

// The parts of minecraft-data that are read.
type (
	blockJSON struct {
		ID                                   int
		Name                                 string
		Hardness                             *float64
		DefaultState, MinStateID, MaxStateID int
		States                               []stateJSON
		BoundingBox                          string
	}
	stateJSON struct {
		Name, Type string
		NumValues  int `json:"num_values"`
		Values     []string
	}
	itemJSON struct {
		ID        int
		Name      string
		StackSize uint64
	}
	entityJSON struct {
		ID            int
		Name          string
		Width, Height float64
	}
	shapesJSON struct {
		Blocks map[string]json.RawMessage
		Shapes map[string][][6]float64
	}
	version struct {
		blocks   []blockJSON
		items    []itemJSON
		entities []entityJSON
		shapes   shapesJSON
	}
)

func readVersion(data, name string) (*version, error) {
	var paths struct{ PC map[string]map[string]string }
	if err := readJSON(filepath.Join(data, "dataPaths.json"), &paths); err != nil {
		return nil, err
	}
	v := new(version)
	for set, into := range map[string]any{"blocks": &v.blocks, "items": &v.items, "entities": &v.entities, "blockCollisionShapes": &v.shapes} {
		folder, ok := paths.PC[name][set]
		if !ok {
			return nil, fmt.Errorf("dataPaths.json names no %s", set)
		}
		if err := readJSON(filepath.Join(data, folder, set+".json"), into); err != nil {
			return nil, err
		}
	}
	sort.Slice(v.blocks, func(i, j int) bool { return v.blocks[i].ID < v.blocks[j].ID })
	sort.Slice(v.items, func(i, j int) bool { return v.items[i].ID < v.items[j].ID })
	sort.Slice(v.entities, func(i, j int) bool { return v.entities[i].ID < v.entities[j].ID })
	return v, nil
}

func readJSON(path string, into any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
