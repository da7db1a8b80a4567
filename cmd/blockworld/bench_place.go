package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// placeCase is one way of placing that has a goal.
type placeCase struct {
	protocol registry.Protocol
	pipeline int
	goal     float64 // placements a second
}

// placeCases: a server of 1.21.9 or later answers a fence once a tick, so one placement a tick is the most that one at a
// time can prove; older ones answer at once.
var placeCases = []placeCase{
	{registry.V1_21_7, 1, 60}, {registry.V1_21_9, 1, 18}, {registry.V1_21_7, 8, 100}, {registry.V1_21_9, 8, 100},
}

// placeRounds is how many missions each case plays.
const placeRounds = 3

// placed is what one mission took.
type placed struct {
	rate    float64 // placements per second, from the first mark to the last receipt
	commits float64 // of the journal's file, for each placement
	control float64 // of the control plane's store, for each placement
	raw     float64 // bare commits per second beside it
}

func benchPlace(ctx context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, c := range placeCases {
		var rates, limits spread
		var commits, control float64
		for range min(placeRounds, b.rounds) {
			p, err := c.play(ctx)
			if err != nil {
				return nil, err
			}
			rates, limits, commits = append(rates, p.rate), append(limits, p.raw/(p.commits+p.control)), p.commits
			control = p.control
		}
		f := rates.figure(fmt.Sprintf("placements proven, %s, pipeline %d", versionOf(c.protocol), c.pipeline), "/s")
		f = f.beside(rates, limits, "bare commits to disk")
		f.Note = fmt.Sprintf("attributed and durable, 20 ticks/s, creative, one item; a placement takes %.2f commits of the journal and %.2f of the control plane", commits, control)
		out = append(out, f.goal(f.Median >= c.goal, fmt.Sprintf(">= %.0f/s", c.goal)))
	}
	return out, nil
}

func versionOf(p registry.Protocol) string {
	v := p.Versions()
	return v[len(v)-1].Name
}

// discBlueprint is one layer of stone around the middle, all of it in reach from there: the middle itself is left out to
// stand in.
func discBlueprint() (*blueprint.Blueprint, error) {
	const r = 4
	bp, err := blueprint.New("disc", geom.BlockPos{X: 2*r + 1, Y: 1, Z: 2*r + 1})
	if err != nil {
		return nil, err
	}
	bp.DataVersion = registry.Latest.Versions()[0].DataVersion
	for x := int32(-r); x <= r; x++ {
		for z := int32(-r); z <= r; z++ {
			if d := x*x + z*z; d > 1 && d <= 14 {
				if err := bp.Set(geom.BlockPos{X: x + r, Z: z + r}, blueprint.State{Name: "minecraft:stone"}); err != nil {
					return nil, err
				}
			}
		}
	}
	return bp, nil
}

// play builds the disc once, on a fresh server and a fresh journal.
func (c placeCase) play(ctx context.Context) (placed, error) {
	dir, err := os.MkdirTemp("", "blockworld-bench-")
	if err != nil {
		return placed{}, err
	}
	defer os.RemoveAll(dir)
	s, err := server.Start(server.Config{Protocol: c.protocol, GameMode: worldstate.Creative, ViewDistance: 4, AllowFlight: true})
	if err != nil {
		return placed{}, err
	}
	defer s.Close()
	f := &buildFlags{pipeline: c.pipeline, tries: 1}
	f.server, f.username, f.timeout, f.at = s.Addr(), "Blockworld", 10*time.Second, "-4,-60,-4"
	f.version, f.data = versionOf(c.protocol), filepath.Join(dir, "data")
	quiet := &printer{out: io.Discard, errs: io.Discard}
	p, err := c.build(ctx, quiet, f)
	if err != nil {
		return placed{}, err
	}
	p.raw, err = rawCommits(filepath.Join(dir, "raw.db"))
	return p, err
}

// build is a mission from the probe to its end.
func (c placeCase) build(ctx context.Context, p *printer, f *buildFlags) (placed, error) {
	o, err := f.options(p)
	if err != nil {
		return placed{}, err
	}
	found, err := bot.Probe(ctx, o)
	if err != nil {
		return placed{}, err
	}
	prof := found.Profile(time.Now(), profile.AcceptAttributed)
	bp, err := discBlueprint()
	if err != nil {
		return placed{}, err
	}
	j, err := f.openJournal(false)
	if err != nil {
		return placed{}, err
	}
	defer j.Close()
	rec, file, err := f.start(ctx, p, j, bp, &prof)
	if err != nil {
		return placed{}, err
	}
	before := j.Commits()
	run, err := f.run(ctx, p, j, rec, file, nil)
	if run == nil {
		return placed{}, err
	}
	if err := run.ended(err, "measure again"); err != nil {
		return placed{}, err
	}
	return pace(j, j.Commits()-before, run.commits)
}

// pace reads how long it took off the journal: from the first mark, which comes before the first packet, to the last
// receipt.
func pace(j *journal.Journal, commits, control uint64) (placed, error) {
	var first, last, n int64
	var failed error
	err := j.Receipts(effects.MissionID{}, func(_ uint64, r effects.Receipt) bool {
		if _, places := r.Outcome.Postcondition.(effects.CellsBecome); !places || r.Outcome.Grade != effects.Attributed {
			return true
		}
		var a journal.Action
		if a, failed = j.Action(r.Outcome.Action); failed != nil {
			return false
		}
		if n++; first == 0 || a.UnixMilli < first {
			first = a.UnixMilli
		}
		last = max(last, r.Outcome.UnixMilli)
		return true
	})
	if err = errors.Join(err, failed); err != nil || n < 2 || last <= first {
		return placed{}, fmt.Errorf("%d receipts within %d ms: %w", n, last-first, err)
	}
	return placed{rate: float64(n) * 1000 / float64(last-first), commits: float64(commits) / float64(n), control: float64(control) / float64(n)}, nil
}

// rawCommits is how many bare transactions of one small value a second the same disk takes, each with its two fsyncs.
func rawCommits(path string) (float64, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	const n = 200
	value := make([]byte, 600)
	began := time.Now()
	for i := range n {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("raw"))
			if err != nil {
				return err
			}
			return bucket.Put([]byte{byte(i >> 8), byte(i)}, value)
		})
		if err != nil {
			return 0, err
		}
	}
	return n / time.Since(began).Seconds(), nil
}
