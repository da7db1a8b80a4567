package physics_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"

	"blockworld/bot/physics"
	"blockworld/fixtures/peers"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// tolerance is how far a position or a speed may differ from prismarine-physics. Its ground acceleration is rounded to
// seven digits, vanilla's and ours to eight.
const tolerance = 1e-5

// deviation is one terrain where we and prismarine-physics differ, from which tick on, and why. An empty version means
// every version compared.
type deviation struct {
	terrain, version string
	from             int
	why              string
}

// deviations is the whole list. A test fails if a terrain differs that is not in it, or no longer differs.
var deviations = []deviation{
	{"slabs sprinting", "", 23, "a sprint ends when the player runs into something; prismarine sprints on"},
	{"slime walk", "", 1, "slime slows down whoever walks on it; prismarine leaves that out"},
	{"soul sand", "1.20.4", 41, "the block 0.500001 below the feet slows down; prismarine takes the whole cell below, also in mid-air"},
	{"soul sand", "1.21.1", 0, "soul sand slows down; prismarine's feature velocityBlocksOnTop ends with 1.20"},
	{"honey", "1.21.1", 0, "honey slows down; prismarine's feature velocityBlocksOnTop ends with 1.20"},
	{"honey jump", "", 2, "the jump factor of honey is 0.5; prismarine has 0.4"},
	{"flowing water", "", 59, "a current weakens where the water is less than 0.4 deep; prismarine's does not"},
	{"narrow corridor", "", 67, "the longer horizontal axis moves first; prismarine always moves x first, which matters at a corner"},
	{"scaffolding", "", 10, "sneaking lets one down through scaffolding; prismarine takes its shape as solid"},
	{"open trapdoor above a ladder", "1.21.1", 43, "it is climbable; prismarine's feature climbableTrapdoor ends with 1.20"},
}

func deviationOf(terrain, version string) *deviation {
	for i := range deviations {
		d := &deviations[i]
		if d.terrain == terrain && (d.version == "" || d.version == version) {
			return d
		}
	}
	return nil
}

type peerTick struct {
	F      float64 `json:"f"`
	S      float64 `json:"s"`
	Jump   bool    `json:"jump"`
	Sneak  bool    `json:"sneak"`
	Sprint bool    `json:"sprint"`
	Yaw    float64 `json:"yaw"`
}

type peerJob struct {
	Version     string     `json:"version"`
	Blocks      [][4]int32 `json:"blocks"`
	Pos         geom.Vec3  `json:"pos"`
	Vel         geom.Vec3  `json:"vel"`
	OnGround    bool       `json:"onGround"`
	JumpBoost   int        `json:"jumpBoost"`
	SlowFalling bool       `json:"slowFalling"`
	Levitation  int        `json:"levitation"`
	Ticks       []peerTick `json:"ticks"`
}

// peer is the running Node program.
type peer struct {
	in  *json.Encoder
	out *bufio.Reader
}

// startPeer starts physics.mjs.
func startPeer(t *testing.T) *peer {
	t.Helper()
	cmd := exec.Command("node", "physics.mjs")
	cmd.Dir = peers.Need(t, "prismarine-physics")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); cmd.Wait() })
	return &peer{json.NewEncoder(stdin), bufio.NewReaderSize(stdout, 1<<20)}
}

func (p *peer) run(t *testing.T, job peerJob) [][7]float64 {
	t.Helper()
	if err := p.in.Encode(job); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Ticks [][7]float64 }
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Ticks
}

func TestBesidePrismarine(t *testing.T) {
	p := startPeer(t)
	ticks, differing, worst := 0, 0, 0.0
	for _, protocol := range []registry.Protocol{registry.V1_20_3, registry.V1_21} {
		version := protocol.Name()
		for _, tr := range terrains {
			t.Run(version+"/"+tr.name, func(t *testing.T) {
				g := newGrid(t, protocol)
				tr.build(g)
				n, at, d := compare(t, p, g, tr, version)
				known := deviationOf(tr.name, version)
				switch {
				case at < 0 && known != nil:
					t.Errorf("listed as differing (%s), but it does not", known.why)
				case at >= 0 && known == nil:
					t.Errorf("differs from tick %d on", at)
				case at >= 0 && at < known.from:
					t.Errorf("differs from tick %d on; listed is tick %d (%s)", at, known.from, known.why)
				}
				if at >= 0 {
					n, differing = at, differing+1
				}
				ticks += n
				worst = math.Max(worst, d)
			})
		}
	}
	t.Logf("compared with prismarine-physics: %d terrains on 2 versions, %d ticks equal within %.0e (largest difference %.1e), %d runs with a listed deviation",
		len(terrains), ticks, tolerance, worst, differing)
}

// compare runs one terrain on both sides. It returns the number of ticks, the first tick that differs or -1, and the
// largest difference before it.
func compare(t *testing.T, p *peer, g *grid, tr terrain, version string) (n, at int, worst float64) {
	attrs := physics.DefaultAttributes()
	if tr.attrs != nil {
		tr.attrs(&attrs)
	}
	job := peerJob{Version: version, Blocks: g.list(), Pos: tr.start, Vel: tr.vel, JumpBoost: attrs.JumpBoost,
		SlowFalling: attrs.SlowFalling, Levitation: attrs.Levitation}
	var inputs []physics.Input
	for _, ph := range tr.run {
		for range ph.ticks {
			inputs = append(inputs, ph.in)
			job.Ticks = append(job.Ticks, peerTick{ph.in.Forward, ph.in.Strafe, ph.in.Jump, ph.in.Sneak, ph.in.Sprint, float64(ph.in.Yaw)})
		}
	}
	theirs := p.run(t, job)
	w := physics.World{Blocks: physics.NewBlocks(g.reg), Cells: g}
	player := physics.Player{Pos: tr.start, Vel: tr.vel}
	for i, want := range theirs {
		before := player
		player = physics.Step(w, player, inputs[i], attrs)
		d := 0.0
		for k := range 3 {
			d = math.Max(d, math.Max(math.Abs(player.Pos[k]-want[k]), math.Abs(player.Vel[k]-want[3+k])))
		}
		if d > tolerance || player.OnGround != (want[6] != 0) {
			if testing.Verbose() {
				t.Logf("tick %d: before %s\nours   %s\ntheirs %v", i, show(before), show(player), want)
			}
			return len(theirs), i, worst
		}
		worst = math.Max(worst, d)
	}
	return len(theirs), -1, worst
}

func show(p physics.Player) string {
	return fmt.Sprintf("pos %.6f vel %.6f ground %v wall %v water %v %.3f", p.Pos, p.Vel, p.OnGround, p.HorizontalCollision, p.InWater, p.WaterDepth)
}
