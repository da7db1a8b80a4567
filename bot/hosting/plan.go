package hosting

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/host"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// build is a bound build_structure: a plan and where it stands in the journal.
type build struct {
	op     host.OpID
	args   arguments
	plot   *Plot
	record journal.Mission
	plan   *blueprint.Plan
	stored bool // the mission is in the journal

	// team are the actors of the mission, as it was begun; empty: it is this actor's alone. A mission that begins is stored
	// by all of them: records holds what, by actor.
	team    []host.Name
	records map[host.Name]journal.Mission
}

// kept is what the journal holds of a build in its mission's options.
type kept struct {
	Arguments arguments       `json:"arguments"`
	Plan      *blueprint.Plan `json:"plan"`
}

const maxKept = 1 << 30 // bytes that a stored plan unpacks to

func (k *kept) encode() ([]byte, error) {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	err := errors.Join(json.NewEncoder(z).Encode(k), z.Close())
	return buf.Bytes(), err
}

func decodeKept(data []byte) (k kept, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return k, fmt.Errorf("stored build: %w", err)
	}
	if err := json.NewDecoder(io.LimitReader(z, maxKept)).Decode(&k); err != nil || k.Plan == nil {
		return k, fmt.Errorf("stored build: it holds no plan: %w", err)
	}
	return k, nil
}

// binding are the canonical bytes of a bound build: what consent is given to.
func (b *build) binding() []byte {
	out, _ := json.Marshal(struct { // made of strings and numbers: it cannot fail
		Op        host.OpID         `json:"op"`
		Mission   effects.MissionID `json:"mission"`
		Plan      effects.Digest    `json:"plan"`
		Plot      sentinel.Plot     `json:"plot"`
		Arguments arguments         `json:"arguments"`
	}{b.op, b.record.ID, b.record.Plan, b.record.Plot, b.args})
	return out
}

func (b *build) digest() effects.Digest { return sha256.Sum256(b.binding()) }

// bindMacro plans a build in the world as the live session sees it. Nothing is sent and nothing stored.
func (r *runner) bindMacro(ctx context.Context, g *host.Gateway, m *macro) (*host.Bound, error) {
	if m != nil {
		return nil, busy(m)
	}
	if _, err := r.await(ctx); err != nil {
		return nil, err
	}
	args, err := parseArguments(g.Action.Arguments)
	if err != nil {
		return nil, err
	}
	plot, err := r.plotOf(args.Plot)
	if err != nil {
		return nil, err
	}
	b := &build{op: g.Op, args: args, plot: plot}
	if args.Mission != (effects.MissionID{}) {
		err = r.goOn(b)
	} else {
		err = r.planNew(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	out, err := r.boundBuild(ctx, b)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.builds[g.Op] = b
	for id := range r.builds { // a plan is large: few wait at a time
		if len(r.builds) > mostBuilds && id != g.Op {
			delete(r.builds, id)
		}
	}
	r.mu.Unlock()
	return out, nil
}

// mostBuilds is how many bound builds of an actor wait for their delivery.
const mostBuilds = 16

func (r *runner) boundBuild(ctx context.Context, b *build) (*host.Bound, error) {
	epoch, sequence, err := r.placed(ctx)
	if err != nil {
		return nil, err
	}
	min, max := b.plan.Bounds.Min, b.plan.Bounds.Max
	v := host.Preview{
		Kind: "world.build", Operation: "create", Ownership: b.plot.Ownership, Scope: b.plot.ID, Risk: "moderate",
		Quantity: int64(len(b.plan.Steps)), Pos: &[3]int32{min.X, min.Y, min.Z}, To: &[3]int32{max.X, max.Y, max.Z},
	}
	if v.Ownership == "" {
		v.Ownership = "unknown"
	}
	if len(b.args.MayReplace) > 0 {
		v.Operation = "replace"
	}
	size := b.plan.Bounds.Size()
	summary := fmt.Sprintf("build %s: %d blocks in %dx%dx%d cells from %v, in plot %s", b.plan.Name, len(b.plan.Steps), size.X, size.Y, size.Z, min, b.plot.ID)
	for i, m := range b.plan.Materials {
		if i == 5 {
			summary += fmt.Sprintf(", and %d more kinds", len(b.plan.Materials)-i)
			break
		}
		summary += fmt.Sprintf(", %d %s", m.Count, m.Item)
	}
	out := &host.Bound{
		Op: b.op, Binding: b.binding(), Digest: b.digest(), Precondition: b.record.Plan, Epoch: epoch, Sequence: sequence,
		Effects: []host.Preview{v}, Summary: clip(summary), ValidUntil: -1,
	}
	return out, out.Validate()
}

// goOn takes up a mission that an earlier operation began.
func (r *runner) goOn(b *build) error {
	rec, err := r.journal.Mission(b.args.Mission)
	if errors.Is(err, journal.ErrUnknownMission) {
		return refuse("not_found", "this actor has no mission %s", b.args.Mission)
	}
	if err != nil {
		return err
	}
	if err := b.load(rec); err != nil {
		return err
	}
	if rec.Dimension != b.plot.Dimension || !within(&rec.Plot, &b.plot.Boxes) {
		return refuse("outside_build_box", "mission %s builds outside plot %s of this actor", rec.ID, b.plot.ID)
	}
	return r.complete(b)
}

// load reads a stored build.
func (b *build) load(rec journal.Mission) error {
	k, err := decodeKept(rec.Options)
	if err != nil {
		return err
	}
	if effects.Digest(k.Plan.Digest()) != rec.Plan {
		return fmt.Errorf("%w: the stored plan does not have the digest it was stored with", builder.ErrPlanChanged)
	}
	b.record, b.plan, b.stored, b.team = rec, k.Plan, true, k.Arguments.Actors
	if len(b.team) > 0 && b.args.Reconcile != k.Arguments.Reconcile {
		return refuse("invalid", "reconcile is the same for all actors of a mission: it was begun with %q", k.Arguments.Reconcile)
	}
	return nil
}

// planNew plans a blueprint of the daemon's.
func (r *runner) planNew(ctx context.Context, b *build) error {
	var data []byte
	err := r.h.with(ctx, func(s host.Session) (err error) {
		data, err = r.h.cfg.Daemon.Blueprint(ctx, s, b.args.Blueprint)
		return err
	})
	if err != nil {
		return refuse("not_found", "blueprint %s: %v", b.args.Blueprint, err)
	}
	if effects.Digest(sha256.Sum256(data)) != b.args.Blueprint {
		return refuse("invalid", "the blueprint that came has another digest than %s", b.args.Blueprint)
	}
	bp, err := blueprint.Read(b.args.Blueprint.String()[:12], bytes.NewReader(data))
	if err != nil {
		return refuse("invalid", "%v", err)
	}
	mirror, _ := blueprint.ParseMirror(b.args.Mirror)
	bp = bp.Transform(b.args.Rotate, mirror)
	land, err := r.survey(ctx, b.plot)
	if err != nil {
		return err
	}
	boxes := b.plot.Boxes
	b.plan, err = blueprint.MakePlan(ctx, land.reg, bp, corner(b.args.At), blueprint.Options{
		World: land, Build: boxes.Build, Click: boxes.Click, Walk: boxes.Walk, MayReplace: b.args.MayReplace, CanFly: land.mayFly,
		Start: &land.feet, MinY: land.minY, MaxY: land.maxY,
	})
	switch {
	case errors.Is(err, blueprint.ErrOutsidePlot):
		return refuse("outside_build_box", "%v", err)
	case err != nil:
		return refuse("invalid", "%v", err)
	}
	if n := len(b.plan.Rejected) + len(b.plan.Unreachable); n > 0 && !b.args.Partial {
		first := append(b.plan.Rejected, b.plan.Unreachable...)[0]
		return refuse(string(first.Code), "%d cells cannot be placed, the first is %s at %v (%s): change the blueprint, or build the rest with partial", n, first.Block, first.Pos, first.Detail)
	}
	return r.recordOf(b)
}

// recordOf makes the mission of a new build. It is not stored before the build is delivered.
func (r *runner) recordOf(b *build) error {
	if err := r.gather(b); err != nil {
		return err
	}
	blob, err := (&kept{b.args, b.plan}).encode()
	if err != nil {
		return err
	}
	b.record = journal.Mission{
		ID: effects.MissionID(b.op), Server: r.record.Server, Scope: r.record.Scope, Dimension: b.plot.Dimension,
		Plan: effects.Digest(b.plan.Digest()), Steps: uint32(len(b.plan.Steps)), Plot: b.plot.Boxes,
		Budgets: builder.BudgetsOf(len(b.plan.Steps)), Options: blob,
	}
	b.records = map[host.Name]journal.Mission{}
	for _, id := range b.team {
		rec := b.record
		rec.Scope = r.h.runners[id].record.Scope
		b.records[id] = rec
	}
	return nil
}

// land is a copy of the world around a plot, as the live session sees it.
type land struct {
	reg        *registry.Registry
	feet       geom.BlockPos
	mayFly     bool
	minY, maxY int32
	box        geom.BlockBox
	cells      []registry.StateID // of box, X fastest, then Z, then Y
}

// notSeen stands in land.cells for a cell that was not loaded; no version has that many states.
const notSeen = registry.StateID(0xffff)

const maxLand = 1 << 24 // cells

// The ground of a plot comes a moment after the actor's own, and a plot out of sight never comes.
const (
	loadWait  = 3 * time.Second
	loadAgain = 50 * time.Millisecond
)

// Block implements placement.Cells; what was not seen is not known.
func (l *land) Block(p geom.BlockPos) (registry.StateID, bool) {
	if !l.box.Contains(p) {
		return 0, false
	}
	d, size := p.Sub(l.box.Min), l.box.Size()
	s := l.cells[(int(d.Y)*int(size.Z)+int(d.Z))*int(size.X)+int(d.X)]
	return s, s != notSeen
}

// survey copies a plot with its surroundings. An actor that has just joined is asked again until the plot has come.
func (r *runner) survey(ctx context.Context, p *Plot) (*land, error) {
	l := &land{box: p.Boxes.Walk.Union(p.Boxes.Click).Grow(2)}
	if l.box.Volume() > maxLand {
		return nil, refuse("too_large", "the plot with its surroundings has %d cells, at most %d can be planned at once", l.box.Volume(), maxLand)
	}
	within, cancel := context.WithTimeout(ctx, loadWait)
	defer cancel()
	for {
		s, err := r.await(ctx)
		if err != nil {
			return nil, err
		}
		over := s.bot.Do(ctx, func(tx *bot.Tx) { err = l.copy(tx, p) })
		if err = errors.Join(over, err); err == nil || codeOf(err) != "not_ready" || within.Err() != nil {
			return l, err
		}
		sleep(within, loadAgain)
	}
}

func (l *land) copy(tx *bot.Tx, p *Plot) error {
	v, d := tx.View(), tx.View().Dimension()
	if !tx.Ready() || v.DimensionName() != p.Dimension {
		return refuse("not_ready", "the actor is not in %s, where plot %s lies", p.Dimension, p.ID)
	}
	for x := p.Boxes.Build.Min.Chunk().X; x <= p.Boxes.Build.Max.Chunk().X; x++ {
		for z := p.Boxes.Build.Min.Chunk().Z; z <= p.Boxes.Build.Max.Chunk().Z; z++ {
			if !v.Loaded(geom.ChunkPos{X: x, Z: z}) {
				return refuse("not_ready", "plot %s is not loaded as a whole: bring the actor nearer, or wait", p.ID)
			}
		}
	}
	l.reg, l.feet, l.mayFly, l.minY, l.maxY = tx.Registry(), geom.BlockAt(tx.Player().Pos), tx.MayFly(), d.MinY, d.MinY+d.Height-1
	if !p.Boxes.Walk.Contains(l.feet) {
		return refuse("self_outside", "the actor stands at %v, outside the walk box of plot %s, and never leaves that", l.feet, p.ID)
	}
	l.cells = make([]registry.StateID, 0, l.box.Volume())
	for y := l.box.Min.Y; y <= l.box.Max.Y; y++ {
		for z := l.box.Min.Z; z <= l.box.Max.Z; z++ {
			for x := l.box.Min.X; x <= l.box.Max.X; x++ {
				s, known := v.Block(geom.BlockPos{X: x, Y: y, Z: z})
				if !known {
					s = notSeen
				}
				l.cells = append(l.cells, s)
			}
		}
	}
	return nil
}
