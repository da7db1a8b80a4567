package wire

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"blockworld/fixtures/peers"
	"blockworld/worldstate/registry"
)

// known are differences from minecraft-protocol that are not ours, each with its reason. A packet named here is still
// tested; only what the reason covers may differ.
var known = []struct{ packet, reason string }{
	{"play clientbound player_info_update", "minecraft-data exchanges the flags update_list_order and update_hat (1.21.4 and later); both or none are made"},
	{"play clientbound player_info_update", "minecraft-data calls listed a varint, the game a bool; 0 and 1 are made"},
	{"play clientbound section_blocks_update", "minecraft-data calls the records varint, the game VarLong; values of 31 bits are made"},
	{"play clientbound initialize_border", "minecraft-data calls the time varint, the game VarLong; values of 31 bits are made"},
	{"play clientbound set_border_lerp_size", "minecraft-data calls the time varint, the game VarLong; values of 31 bits are made"},
	{"play clientbound set_time", "minecraft-protocol reads a varlong as 32 bits (26.1); values of 31 bits are made"},
	{"play clientbound container_set_slot", "minecraft-data calls the window of 1.20.5 and 1.21 u8, the game i8; the same byte"},
	{"play clientbound respawn", "minecraft-data calls the last field of 1.20.2 and 1.20.3 bool, the game has a byte of bits; 0 and 1 are made"},
	{"play clientbound player_chat, disguised_chat", "minecraft-protocol does not write the 0 in front of a chat type written out (1.21 and later); codec.cjs clears the memory so that it is one"},
	{"play clientbound player_position, teleport_entity", "minecraft-protocol cannot write flags with bit 31; the nine bits of the game are made"},
	{"configuration serverbound custom_report_details", "minecraft-data lists it from 1.21 to 1.21.5, the game has none; not in our table"},
	{"configuration serverbound server_links", "minecraft-data lists it from 1.21 to 1.21.5, the game has none; not in our table"},
	{"play serverbound spectate", "minecraft-data exchanges its id with test_instance_block_action in 1.21.5; not in our table"},
	{"all item stacks", "minecraft-data calls the count of 1.20.5 i8, the game VarInt; counts up to 64 are made"},
}

// TestCodec compares every packet of every version with minecraft-protocol: its random packets through our decoder and
// back to equal bytes and equal fields, ours through its parser the same.
func TestCodec(t *testing.T) {
	n := 6
	if os.Getenv("BLOCKWORLD_FULL") != "" {
		n = 40
	}
	dir := peers.Need(t, "minecraft-protocol")
	var count atomic.Int64
	var wg sync.WaitGroup
	protocols := make(chan registry.Protocol)
	for range 2 {
		wg.Go(func() {
			for p := range protocols {
				peer := startPeer(t, dir)
				comparePeer(t, peer, p, n, &count)
				peer.stop()
			}
		})
	}
	for _, p := range registry.Protocols() {
		protocols <- p
	}
	close(protocols)
	wg.Wait()
	golden.write(t, "packets.txt")
	t.Logf("%d packets compared with minecraft-protocol, both ways, in %d versions; %d known differences: ", count.Load(), len(registry.Protocols()), len(known))
	for _, k := range known {
		t.Logf("  %s: %s", k.packet, k.reason)
	}
}

// peer is a running codec.cjs.
type peer struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(t *testing.T, dir string) *peer {
	p := &peer{t: t, cmd: exec.Command("node", "codec.cjs")}
	p.cmd.Dir = dir
	p.cmd.Stderr = os.Stderr
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := p.cmd.Start(); err != nil || err1 != nil || err2 != nil {
		t.Error("start node:", err, err1, err2)
		return p
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<20)
	return p
}

func (p *peer) stop() {
	if p.in != nil {
		p.in.Close()
		p.cmd.Wait()
	}
}

type request struct {
	Op        string `json:"op"`
	Version   string `json:"version"`
	State     string `json:"state"`
	Direction string `json:"direction"`
	ID        int32  `json:"id"`
	N         int    `json:"n,omitempty"`
	Seed      int64  `json:"seed,omitempty"`
	Hex       string `json:"hex,omitempty"`

	Components bool `json:"components,omitempty"`
}

type peerPacket struct {
	Hex    string   `json:"hex"`
	Leaves []string `json:"leaves"`
}

type answer struct {
	Name  string       `json:"name"`
	Cases []peerPacket `json:"cases"`
	Error string       `json:"error"`
	peerPacket
}

func (p *peer) ask(r request) (answer, error) {
	var a answer
	b, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return a, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("node has ended: %w", err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	if a.Error != "" {
		return a, fmt.Errorf("node: %s", a.Error)
	}
	return a, nil
}

var peerStates = [stateCount]string{"handshaking", "status", "login", "configuration", "play"}
var peerDirections = [directionCount]string{"toClient", "toServer"}

func comparePeer(t *testing.T, peer *peer, p registry.Protocol, n int, count *atomic.Int64) {
	if peer.in == nil {
		return
	}
	for s := Handshake; s < stateCount; s++ {
		for d := Clientbound; d < directionCount; d++ {
			for _, id := range IDs(p, s, d) {
				r := request{Version: p.Name(), State: peerStates[s], Direction: peerDirections[d], ID: id}
				name := fmt.Sprintf("%s %s %s %s", p, s, d, NameOf(p, s, d, id))
				theirs(t, peer, r, name, p, s, d, n, count)
				ours(t, peer, r, name, p, s, d, n, count)
			}
		}
	}
}

// theirs reads packets that minecraft-protocol made.
func theirs(t *testing.T, peer *peer, r request, name string, p registry.Protocol, s State, d Direction, n int, count *atomic.Int64) {
	r.Op, r.N, r.Seed = "generate", n, int64(p)*1000+int64(r.ID)+1
	a, err := peer.ask(r)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for i, c := range a.Cases {
		if count.Add(1); i == 0 {
			golden.add(p, s, d, c.Hex)
		}
		want, _ := hex.DecodeString(c.Hex)
		pk, err := DecodePacket(p, s, d, bytes.Clone(want))
		if err != nil {
			t.Errorf("%s: theirs: %v\n%s", name, err, c.Hex)
			return
		}
		got, leaves, err := encodeTraced(p, s, d, pk)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: theirs, written again: %v\n got %x\nwant %s", name, err, got, c.Hex)
			return
		}
		if m, ok := pk.(*SetEntityData); ok && !wholeMetadata(m, p) {
			t.Errorf("%s: metadata not walked to its end: %x", name, m.Metadata)
		}
		if diff := leafDiff(leaves, c.Leaves); diff != "" {
			t.Errorf("%s: theirs: %s\n%s", name, diff, c.Hex)
			return
		}
	}
}

// ours lets minecraft-protocol read packets that we made.
func ours(t *testing.T, peer *peer, r request, name string, p registry.Protocol, s State, d Direction, n int, count *atomic.Int64) {
	r.Op = "check"
	for i := range n {
		pk, _ := Lookup(p, s, d, r.ID)
		newRandom(uint64(i)<<16|uint64(r.ID), p).packet(pk)
		data, leaves, err := encodeTraced(p, s, d, pk)
		if err != nil {
			t.Errorf("%s: ours: %v", name, err)
			return
		}
		r.Hex = hex.EncodeToString(data)
		a, err := peer.ask(r)
		if err != nil {
			t.Errorf("%s: ours: %v\n%s\n%+v", name, err, r.Hex, pk)
			return
		}
		count.Add(1)
		if a.Hex != r.Hex {
			t.Errorf("%s: ours, written again by them:\n got %s\nwant %s", name, a.Hex, r.Hex)
			return
		}
		if diff := leafDiff(leaves, a.Leaves); diff != "" {
			t.Errorf("%s: ours: %s\n%s", name, diff, r.Hex)
			return
		}
	}
}

// leafDiff compares fields; theirs marks with r what we keep as it is.
func leafDiff(ours, theirs []string) string {
	for i := range max(len(ours), len(theirs)) {
		if i >= len(ours) || i >= len(theirs) {
			return fmt.Sprintf("%d fields, theirs has %d\nours   %s\ntheirs %s", len(ours), len(theirs), strings.Join(ours, " "), strings.Join(theirs, " "))
		}
		if ours[i] != theirs[i] && (theirs[i] != "r" || ours[i][0] != 'b') {
			return fmt.Sprintf("field %d is %s, theirs says %s", i, ours[i], theirs[i])
		}
	}
	return ""
}

// wholeMetadata tells whether metadata can be walked to its end. Particles of 1.20.2 are told apart by text; they may not.
func wholeMetadata(m *SetEntityData, p registry.Protocol) bool {
	size := 1
	ok := m.Metadata.Each(p, func(_ uint8, kind int32, value []byte) bool {
		size += 1 + varintSize(kind) + len(value)
		return true
	})
	return ok && size == len(m.Metadata) || p == registry.V1_20_2
}

// TestComponents lets stacks with random components of every type through: none is unknown, and all come back equal.
func TestComponents(t *testing.T) {
	peer := startPeer(t, peers.Need(t, "minecraft-protocol"))
	defer peer.stop()
	const n = 60 // of each packet and version; with many more minecraft-protocol trips over stacks it made itself
	count, types := 0, 0
	defer golden.write(t, "components.txt")
	for _, p := range registry.Protocols() {
		if !Has(p, ItemComponents) {
			continue
		}
		seen := map[int32]bool{}
		for _, pk := range []Packet{&ContainerSetSlot{}, &SetEquipment{}, &ContainerSetContent{}} {
			id, _ := ID(p, Play, Clientbound, pk)
			a, err := peer.ask(request{Op: "generate", Version: p.Name(), State: "play", Direction: "toClient", ID: id, N: n, Seed: 7 + int64(p), Components: true})
			if err != nil {
				t.Fatal(p, err)
			}
			for i, c := range a.Cases {
				if count++; i < 8 {
					golden.add(p, Play, Clientbound, c.Hex)
				}
				checkComponents(t, p, c.Hex, seen)
			}
		}
		types += len(seen)
	}
	t.Logf("%d packets with components, %d types of component in all versions", count, types)
}

func checkComponents(t *testing.T, p registry.Protocol, text string, seen map[int32]bool) {
	t.Helper()
	data, _ := hex.DecodeString(text)
	pk, truncated, err := decode(new(IO), p, Play, Clientbound, data, true)
	if err != nil && strings.Contains(err.Error(), "nested deeper") {
		return // the schema's random stacks lie in each other without end; ours may not
	}
	if err != nil || truncated {
		t.Fatalf("%s: truncated %v, %v\n%s", p, truncated, err, text)
	}
	if again, err := EncodePacket(nil, p, Play, Clientbound, pk); err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%s: %v\n got %x\nwant %s", p, err, again, text)
	}
	for _, s := range stacksOf(pk) {
		added, _, ok := s.Split(p)
		if !ok {
			t.Fatalf("%s: components do not split: %x", p, s.Components)
		}
		for _, c := range added {
			seen[c.Type] = true
		}
	}
}

// stacksOf lists the stacks of a packet.
func stacksOf(pk Packet) (out []ItemStack) {
	switch pk := pk.(type) {
	case *ContainerSetSlot:
		return []ItemStack{pk.Item}
	case *ContainerSetContent:
		return append(pk.Items, pk.Carried)
	case *SetEquipment:
		for _, e := range pk.Items {
			out = append(out, e.Item)
		}
	}
	return out
}
