package placement

import (
	"os"
	"sort"
	"strings"
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// rooms are surroundings to try a state in: what is below, above, around, and in the cell itself.
var rooms = []struct{ below, above, around, there string }{
	{"stone", "air", "air", "air"},
	{"stone", "stone", "stone", "air"},
	{"grass_block", "air", "air", "air"},
	{"air", "stone", "air", "air"},
	{"farmland", "air", "air", "air"},
	{"sand", "air", "air", "air"},
	{"soul_sand", "air", "air", "air"},
	{"sand", "air", "water", "air"},
	{"end_stone", "air", "air", "air"},
	{"crimson_nylium", "air", "air", "air"},
	{"clay", "water", "air", "water"},
	{"stone", "water", "stone", "water"},
	{"stone", "air", "jungle_log", "air"},
	{"stone", "stone", "stone", "water"},
	{"air", "stone", "air", "water"},
	{"grass_block", "air", "air", "water"},
	{"bamboo", "air", "air", "air"},
	{"stone", "air", "jungle_log", "water"},
	{"clay", "air", "air", "air"},
}

func (g *grid) room(t testing.TB, i int) *grid {
	r := rooms[i]
	n := &grid{reg: g.reg, cells: map[geom.BlockPos]registry.StateID{}, dark: g.dark}
	for x := int32(-2); x <= 2; x++ {
		for z := int32(-2); z <= 2; z++ {
			n.set(t, origin.Add(geom.BlockPos{X: x, Y: -2, Z: z}), "stone")
		}
	}
	n.set(t, origin.Neighbour(geom.Down), r.below).set(t, origin.Neighbour(geom.Up), r.above).set(t, origin, r.there)
	for k, f := range geom.HorizontalFaces {
		if r.around == "water" && k > 0 {
			// The shore of a sugar cane lies one lower.
			continue
		}
		if r.around == "water" {
			n.set(t, origin.Neighbour(f).Neighbour(geom.Down), "water")
			continue
		}
		n.set(t, origin.Neighbour(f), r.around)
	}
	return n
}

// TestSolveAgreesWithPredictForEveryState is the promise of the package: for every state there is, Solve either gives
// clicks that Predict turns into it, or a reason from the list.
func TestSolveAgreesWithPredictForEveryState(t *testing.T) {
	versions := []registry.Protocol{registry.V1_21, registry.Latest}
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		versions = registry.Protocols()
	}
	for _, p := range versions {
		t.Run(p.Name(), func(t *testing.T) { solveAll(t, newGrid(t, p)) })
	}
}

func solveAll(t *testing.T, base *grid) {
	worlds := make([]*grid, len(rooms))
	for i := range rooms {
		worlds[i] = base.room(t, i)
	}
	placed, rejected := 0, map[Code]int{}
	stuck := map[string]string{}
	best := map[string]int{} // block -> the room that fitted its last state, tried first
	for n := range base.reg.StateCount() {
		want := registry.StateID(n)
		if rej := Unplaceable(base.reg, want); rej != nil {
			rejected[rej.Code]++
			if _, again := Solve(base.reg, worlds[0], origin, want); again == nil || again.Code != rej.Code {
				t.Fatalf("%s: Unplaceable and Solve differ", base.reg.FormatState(want))
			}
			continue
		}
		ok, last := false, (*Rejection)(nil)
		name := base.reg.BlockOf(want).Name
		for i := range len(worlds) + 1 {
			room := i - 1
			if i == 0 {
				room = best[name]
			}
			w := worlds[room]
			uses, rej := solveStages(t, w, want)
			if rej != nil {
				if rej.Detail == "" || rej.Code == "" {
					t.Fatalf("%s: a rejection without words", base.reg.FormatState(want))
				}
				if last == nil || rej.Code != NoClick && rej.Code != Occupied {
					last = rej
				}
				continue
			}
			ok, best[name] = true, room
			checkUses(t, w, want, uses)
			break
		}
		if ok {
			placed++
		} else {
			rejected[last.Code]++
			stuck[base.reg.BlockOf(want).Name] += " " + strings.TrimPrefix(base.reg.FormatState(want), base.reg.BlockOf(want).Name) + " " + last.Error()
		}
	}
	t.Logf("%d states placed, rejected %v", placed, rejected)
	names := make([]string, 0, len(stuck))
	for n := range stuck {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		t.Errorf("%s finds no room: %.300s", n, stuck[n])
	}
}

func solveStages(t *testing.T, w *grid, want registry.StateID) ([]Use, *Rejection) {
	var rej *Rejection
	var uses []Use
	for _, list := range Stages(w.reg, want) {
		o := &overlay{base: w}
		for i, s := range list {
			if uses, rej = Solve(w.reg, o, origin, s); rej != nil {
				break
			}
			if i < len(list)-1 {
				for _, c := range uses[0].Cells {
					o.set(c.Pos, c.To)
				}
				for _, c := range Ripple(w.reg, o.base, o.cells) {
					o.set(c.Pos, c.To)
				}
			}
		}
		if rej == nil {
			for _, u := range uses {
				checkUse(t, o, want, u)
			}
			return uses, nil
		}
	}
	return nil, rej
}

func checkUses(t *testing.T, w *grid, want registry.StateID, uses []Use) {
	t.Helper()
	if len(uses) == 0 {
		t.Fatalf("%s: neither a use nor a reason", w.reg.FormatState(want))
	}
}

// checkUse predicts a candidate again from the outside: any look that its need allows must give the wanted state.
func checkUse(t *testing.T, w *overlay, want registry.StateID, u Use) {
	t.Helper()
	reg := w.base.(*grid).reg
	looks := []geom.Rotation{u.Look}
	if u.LookMatters == LookNone {
		for _, f := range geom.Faces {
			looks = append(looks, along(f))
		}
	}
	sneaks := map[SneakNeed][]bool{SneakAny: {false, true}, SneakMust: {true}, SneakMustNot: {false}}[u.Sneak]
	for _, look := range looks {
		for _, sneak := range sneaks {
			cells, err := Predict(reg, w, u.Item, u.Click, look, sneak)
			if err != nil {
				t.Fatalf("%s: candidate %+v with look %v: %v", reg.FormatState(want), u.Click, look, err)
			}
			if cells[0].Pos != origin || !Same(reg, want, cells[0].To, Masks(reg, want)) {
				t.Fatalf("%s: candidate %+v with look %v sneak %v makes %s", reg.FormatState(want), u, look, sneak, reg.FormatState(cells[0].To))
			}
		}
	}
}
