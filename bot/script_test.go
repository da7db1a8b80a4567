package bot

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
	"blockworld/worldstate/registry"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "4") // they wait for ticks and packets most of the time
	goleak.VerifyTestMain(m)
}

// peer is the server's side of one connection, driven by a script on a goroutine of its own.
type peer struct {
	t        *testing.T
	c        *wire.Conn
	raw      net.Conn
	protocol registry.Protocol
	hello    *wire.Intention
	kept     bool // somebody else reads on and closes the connection
}

// world is what a scripted server tells about itself.
var overworld = wire.SpawnInfo{
	DimensionType: "minecraft:overworld", Dimension: "minecraft:overworld", HashedSeed: 77, GameMode: 1, PreviousMode: -1, Flat: true,
}

// serve makes options whose connections are answered by scripts, one after the other.
func serve(t *testing.T, p registry.Protocol, scripts ...func(*peer)) Options {
	next := 0
	return Options{
		Notify:  func(n Notice) { t.Logf("notice: %s: %s", n.Kind, n.Text) },
		Address: "127.0.0.1:25565", Username: "Tester", Protocol: p, RuntimeDir: t.TempDir(), Rand: fixedRand(),
		Dial: func(context.Context, string, string) (net.Conn, error) {
			if next >= len(scripts) {
				return nil, errors.New("no further connection is expected")
			}
			script := scripts[next]
			next++
			ours, theirs := net.Pipe()
			s := &peer{t: t, c: wire.NewConn(theirs, wire.Serverbound), raw: theirs, protocol: p}
			s.c.SetProtocol(p)
			s.c.FollowReads(true)
			go func() {
				defer func() {
					if !s.kept {
						theirs.Close()
					}
				}()
				script(s)
			}()
			return ours, nil
		},
	}
}

func fixedRand() io.Reader { return rand.NewChaCha8([32]byte{1}) }

// send writes packets; a client that is gone ends the script.
func (s *peer) send(packets ...wire.Packet) {
	for _, p := range packets {
		if err := s.c.WritePacket(p); err != nil {
			s.t.Errorf("script: %v", err)
			runtime.Goexit()
		}
	}
	if s.c.Flush() != nil {
		runtime.Goexit()
	}
}

// read takes the client's next packet; a client that is gone ends the script.
func (s *peer) read() wire.Packet {
	p, err := s.c.ReadPacket()
	if err != nil {
		runtime.Goexit()
	}
	return p
}

// expect takes the client's next packet, which has to be of one type.
func expect[P wire.Packet](s *peer) P {
	p := s.read()
	want, ok := p.(P)
	if !ok {
		s.t.Errorf("script: got %T, want %T", p, want)
		runtime.Goexit()
	}
	return want
}

// until takes packets up to one of a type.
func until[P wire.Packet](s *peer) P {
	for {
		if p, ok := s.read().(P); ok {
			return p
		}
	}
}

// begin takes handshake and hello.
func (s *peer) begin() {
	s.hello = expect[*wire.Intention](s)
	s.c.SetWriteState(wire.Login)
	expect[*wire.HelloServerbound](s)
}

// login leads to configuration.
func (s *peer) login() {
	s.begin()
	s.send(&wire.LoginFinished{Profile: wire.GameProfile{UUID: worldstate.UUID{9, 9}, Name: "Tester"}})
	expect[*wire.LoginAcknowledged](s)
	s.c.SetWriteState(wire.Configuration)
	expect[*wire.ClientInformation](s)
	expect[*wire.CustomPayload](s)
}

// configure leads to play: dimension types and biomes, as the version sends them.
func (s *peer) configure() {
	limits := nbt.Compound{"min_y": nbt.Int(0), "height": nbt.Int(64)}
	if wire.Has(s.protocol, wire.RegistryPerPacket) {
		s.send(&wire.RegistryData{Registry: "minecraft:dimension_type", Entries: []wire.RegistryEntry{
			{Key: "minecraft:overworld", HasData: true, Data: wire.NBT(nbt.Append(nil, limits))},
		}}, &wire.RegistryData{Registry: "minecraft:worldgen/biome", Entries: []wire.RegistryEntry{{Key: "minecraft:plains"}, {Key: "minecraft:desert"}}})
	} else {
		entry := func(name string, element nbt.Compound) nbt.Value {
			item := func(name string, id int32) nbt.Value {
				return nbt.Compound{"name": nbt.String(name), "id": nbt.Int(id), "element": element}
			}
			return nbt.Compound{"type": nbt.String(name), "value": nbt.ListOf(item("minecraft:overworld", 0), item("minecraft:other", 1))}
		}
		s.send(&wire.RegistryData{Codec: wire.NBT(nbt.Append(nil, nbt.Compound{
			"minecraft:dimension_type": entry("minecraft:dimension_type", limits),
			"minecraft:worldgen/biome": entry("minecraft:worldgen/biome", nbt.Compound{}),
		}))})
	}
	s.finish()
}

// finish ends configuration.
func (s *peer) finish() {
	s.send(&wire.FinishConfiguration{})
	expect[*wire.FinishConfiguration](s)
	s.c.SetWriteState(wire.Play)
}

// enter is the play login.
func (s *peer) enter() {
	s.send(&wire.LoginPlay{EntityID: 42, Dimensions: []string{"minecraft:overworld"}, ViewDistance: 8, Spawn: overworld})
}

// join leads all the way to the play login.
func (s *peer) join() {
	s.login()
	s.configure()
	s.enter()
}

// place puts the player somewhere and takes the answer.
func (s *peer) place(id int32, at geom.Vec3) {
	s.send(&wire.PlayerPosition{ID: id, Position: at})
	if got := until[*wire.AcceptTeleportation](s); got.ID != id {
		s.t.Errorf("script: confirmed teleport %d, want %d", got.ID, id)
	}
	if echo := expect[*wire.MovePlayerPosRot](s); echo.Position != at {
		s.t.Errorf("script: echoed %v, want %v", echo.Position, at)
	}
}

// floor sends columns around the origin whose lowest section is stone and whose others are air.
func (s *peer) floor() {
	reg, err := registry.Load(s.protocol)
	if err != nil {
		s.t.Error(err)
		return
	}
	stone, _ := reg.ParseState("stone")
	s.send(&wire.ChunkBatchStart{})
	for x := int32(-1); x <= 1; x++ {
		for z := int32(-1); z <= 1; z++ {
			s.send(&wire.LevelChunkWithLight{Pos: geom.ChunkPos{X: x, Z: z}, Data: column(s.protocol, 4, stone)})
		}
	}
	s.send(&wire.ChunkBatchFinished{Size: 9})
	until[*wire.ChunkBatchReceived](s)
}

// column packs sections of one state each: the lowest of the given one, the others of air.
func column(p registry.Protocol, sections int, lowest registry.StateID) []byte {
	var out []byte
	single := func(v int) {
		out = append(out, 0)
		for ; v >= 0x80; v >>= 7 {
			out = append(out, byte(v)|0x80)
		}
		out = append(out, byte(v))
		if !wire.Has(p, wire.NoLongCounts) {
			out = append(out, 0)
		}
	}
	for i := range sections {
		state, count := 0, 0
		if i == 0 {
			state, count = int(lowest), 4096
		}
		out = append(out, byte(count>>8), byte(count))
		if wire.Has(p, wire.FluidCounts) {
			out = append(out, 0, 0)
		}
		single(state)
		single(0)
	}
	return out
}

// drain reads until the client is gone.
func (s *peer) drain() {
	for {
		s.read()
	}
}

// inBubble runs a test in a bubble where time moves only when everybody waits.
func inBubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// joined joins and runs a session; stop ends it and returns Run's error.
func joined(t *testing.T, opts Options) (b *Bot, stop func() error) {
	t.Helper()
	b, err := Join(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- b.Run(context.Background()) }()
	return b, func() error {
		b.Close()
		return <-ended
	}
}

// snap reads a running session.
func snap(t *testing.T, b *Bot) Snapshot {
	t.Helper()
	s, err := b.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func eachProtocol(t *testing.T, f func(*testing.T, registry.Protocol)) {
	for _, p := range registry.Protocols() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) { inBubble(t, func(t *testing.T) { f(t, p) }) })
	}
}

// wait lets time pass.
func wait(d time.Duration) {
	time.Sleep(d) // in a bubble: moves the clock, takes no time
	synctest.Wait()
}
