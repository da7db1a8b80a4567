package wire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"blockworld/worldstate/registry"
)

// recording collects packets that minecraft-protocol made, for machines that have no Node. With BLOCKWORLD_UPDATE=1 the
// codec tests write them to testdata.
type recording struct {
	mu    sync.Mutex
	lines []string
}

var golden recording

// goldenVersions are the versions of which a packet of each kind is kept.
var goldenVersions = map[registry.Protocol]bool{registry.V1_20_2: true, registry.V1_21_4: true, registry.V26_1: true}

func (r *recording) add(p registry.Protocol, s State, d Direction, text string) {
	if os.Getenv("BLOCKWORLD_UPDATE") == "" || !goldenVersions[p] || len(text) > 2000 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf("%d %d %d %s", p, s, d, text))
}

func (r *recording) write(t *testing.T, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == 0 {
		return
	}
	sort.Strings(r.lines)
	if err := os.WriteFile(filepath.Join("testdata", name), []byte(strings.Join(r.lines, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
	r.lines = nil
}

// TestRecorded reads the packets that were kept and writes them back to equal bytes.
func TestRecorded(t *testing.T) {
	for _, name := range []string{"packets.txt", "components.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		for i, line := range lines {
			var p registry.Protocol
			var s State
			var d Direction
			var text string
			if _, err := fmt.Sscanf(line, "%d %d %d %s", &p, &s, &d, &text); err != nil {
				t.Fatalf("%s line %d: %v", name, i+1, err)
			}
			data, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			pk, truncated, err := decode(new(IO), p, s, d, data, true)
			if err != nil || truncated {
				t.Errorf("%s line %d: truncated %v, %v", name, i+1, truncated, err)
				continue
			}
			if again, err := EncodePacket(nil, p, s, d, pk); err != nil || !bytes.Equal(again, data) {
				t.Errorf("%s line %d: %v\n got %x\nwant %s", name, i+1, err, again, text)
			}
		}
		t.Logf("%s: %d packets", name, len(lines))
	}
}
