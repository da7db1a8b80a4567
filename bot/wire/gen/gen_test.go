package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"blockworld/fixtures/peers"
)

// TestUpToDate generates again and compares with what is committed.
func TestUpToDate(t *testing.T) {
	data := filepath.Join(peers.Need(t, "minecraft-data"), "node_modules", "minecraft-data")
	out := t.TempDir()
	if err := run(data, out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"zz_ids.go", "zz_schema.go"} {
		fresh, err1 := os.ReadFile(filepath.Join(out, name))
		old, err2 := os.ReadFile(filepath.Join("..", name))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !bytes.Equal(fresh, old) {
			t.Errorf("%s is not what the generator writes: go run ./bot/wire/gen", name)
		}
	}
}

// TestBadData tells what is wrong with a folder that holds something else.
func TestBadData(t *testing.T) {
	if _, err := load(t.TempDir()); err == nil {
		t.Error("an empty folder passes")
	}
	for _, raw := range []string{`["array", 5]`, `"nothing"`, `["mapper", {}]`, `["strange", {}]`, `[1]`, `7`} {
		c := &compiler{index: map[string]int{}, names: map[string]int{}}
		if _, err := c.compile([]byte(raw)); err == nil {
			t.Errorf("%s passes", raw)
		}
	}
}
