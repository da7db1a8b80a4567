package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/captures"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// recordings are the committed captures.
var recordings = map[string][]byte{"between": captures.Between(), "on tick": captures.OnTick()}

// replayBytes replays a gzipped capture.
func replayBytes(t *testing.T, zipped []byte) *replayReport {
	t.Helper()
	in, err := unpacked(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay(in, effects.Attributed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplayRecorded replays the committed sessions: every use proven, and a mirror whose cells are those of a plain
// reading of the block packets over superflat ground.
func TestReplayRecorded(t *testing.T) {
	for name, data := range recordings {
		t.Run("DC-04/mirror of a trace, "+name, func(t *testing.T) {
			r := replayBytes(t, data)
			if len(r.Sessions) != 3 || !r.Complete || r.Skipped != 0 || r.Verdicts["proven"] != 12 || len(r.Verdicts) != 1 {
				t.Fatalf("%d sessions, complete %v, %d skipped, verdicts %v", len(r.Sessions), r.Complete, r.Skipped, r.Verdicts)
			}
			for _, s := range r.Sessions {
				for _, u := range s.Uses {
					if u.Grade != effects.Attributed {
						t.Errorf("use %d: %s", u.Sequence, u.Grade)
					}
				}
			}
			if again := replayBytes(t, data); again.Digest != r.Digest {
				t.Error("a second replay gives another digest")
			}
			touched := touchedCells(t, data)
			if len(touched) < 12 {
				t.Fatalf("%d cells touched", len(touched))
			}
			compareCells(t, r.last.earlierView(t, data), touched)
		})
	}
}

// TestReplayWithoutClient leaves out all that the client said: the mirrors hold the same, so nothing of it went in.
func TestReplayWithoutClient(t *testing.T) {
	for name, data := range recordings {
		t.Run("DC-04/prediction is never a fact, "+name, func(t *testing.T) {
			whole := replayBytes(t, data)
			reg, err := registry.Load(registry.Protocol(whole.Protocol))
			if err != nil {
				t.Fatal(err)
			}
			var sessions []*replaySession
			records(t, data, func(session int, rec wire.CaptureRecord) {
				if session > len(sessions) {
					var earlier *replaySession
					if session > 1 {
						earlier = sessions[session-2]
					}
					sessions = append(sessions, newReplaySession(reg, earlier, effects.Attributed))
				}
				if rec.Direction == wire.Clientbound {
					sessions[session-1].record(rec)
				}
			})
			for i, s := range sessions {
				if s.end(); s.out.Digest != whole.Sessions[i].Digest || s.out.Facts == 0 {
					t.Errorf("session %d: %s without the client's packets, %s with them", i+1, s.out.Digest, whole.Sessions[i].Digest)
				}
			}
		})
	}
}

// earlierView replays a capture up to the session that placed, and returns what its mirror shows.
func (s *replaySession) earlierView(t *testing.T, zipped []byte) worldstate.View {
	t.Helper()
	var placing *replaySession
	records(t, zipped, func(session int, rec wire.CaptureRecord) {
		if session != 2 {
			return
		}
		if placing == nil {
			placing = newReplaySession(s.reg, nil, effects.Attributed)
		}
		placing.record(rec)
	})
	return placing.mirror.View()
}

// records reads a gzipped capture, counting its sessions from 1.
func records(t *testing.T, zipped []byte, each func(session int, rec wire.CaptureRecord)) registry.Protocol {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.NewCaptureReader(z)
	if err != nil {
		t.Fatal(err)
	}
	session := 0
	for {
		rec, err := c.Next()
		if err == io.EOF {
			return c.Header.Protocol
		}
		if err != nil {
			t.Fatal(err)
		}
		if begins(rec) {
			session++
		}
		each(session, rec)
	}
}

// touchedCells is the plain reading: the last state of each cell that a block packet of the placing session names.
func touchedCells(t *testing.T, zipped []byte) map[geom.BlockPos]registry.StateID {
	out := map[geom.BlockPos]registry.StateID{}
	p := records(t, zipped, func(int, wire.CaptureRecord) {})
	records(t, zipped, func(session int, rec wire.CaptureRecord) {
		if session != 2 || rec.Direction != wire.Clientbound || rec.State != wire.Play {
			return
		}
		pk, err := wire.DecodePacket(p, rec.State, rec.Direction, rec.Data)
		if err != nil {
			return
		}
		switch pk := pk.(type) {
		case *wire.BlockUpdate:
			out[pk.Pos] = registry.StateID(pk.State)
		case *wire.SectionBlocksUpdate:
			for _, c := range pk.Changes {
				at := geom.BlockPos{X: pk.SectionX<<4 | int32(c>>8&15), Y: pk.SectionY<<4 | int32(c&15), Z: pk.SectionZ<<4 | int32(c>>4&15)}
				out[at] = registry.StateID(c >> 12)
			}
		}
	})
	return out
}

// compareCells compares all cells of all columns with superflat ground under the touched cells.
func compareCells(t *testing.T, v worldstate.View, touched map[geom.BlockPos]registry.StateID) {
	t.Helper()
	reg := v.Registry()
	ground := map[int32]registry.StateID{}
	for y, name := range map[int32]string{-64: "bedrock", -63: "dirt", -62: "dirt", -61: "grass_block"} {
		s, err := reg.ParseState(name)
		if err != nil {
			t.Fatal(err)
		}
		ground[y] = s
	}
	columns := v.Columns()
	if len(columns) < 9 {
		t.Fatalf("%d columns", len(columns))
	}
	for _, c := range columns {
		column, _ := v.Column(c)
		i := int32(0)
		for got := range column.States {
			pos := geom.BlockPos{X: c.X<<4 | i&15, Y: -64 + i>>8, Z: c.Z<<4 | i>>4&15}
			want, ok := touched[pos]
			if !ok {
				want = ground[pos.Y]
			}
			if got != want {
				t.Errorf("%v is %s, want %s", pos, reg.FormatState(got), reg.FormatState(want))
			}
			i++
		}
	}
}

// TestReplayAgreesWithJournal captures a build and replays it: the same verdict for each cell as the journal's receipts.
func TestReplayAgreesWithJournal(t *testing.T) {
	t.Parallel()
	s, err := server.Start(server.Config{Protocol: registry.V1_21_7, GameMode: worldstate.Creative, ViewDistance: 2, AllowFlight: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()

	plan, file, data := filepath.Join(dir, "twelve.schem"), filepath.Join(dir, "session.cap"), filepath.Join(dir, "data")
	if err := os.WriteFile(plan, blueprints.Twelve(), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, exitDone, "probe", s.Addr(), "--data", data)
	command(t, exitDone, "build", plan, "--server", s.Addr(), "--data", data, "--at", "2,-60,2", "--rate", "0", "--capture", file)
	var r struct {
		Sessions []struct {
			Uses []struct {
				Cell                 geom.BlockPos
				Verdict, Grade, Code string
			}
		}
	}
	if err := json.Unmarshal([]byte(command(t, exitDone, "replay", file, "--json")), &r); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, s := range r.Sessions {
		for _, u := range s.Uses {
			got[u.Cell.String()] = append(got[u.Cell.String()], u.Verdict+" "+u.Grade+" "+u.Code)
		}
	}
	j, err := journal.Open(data, journal.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	want := map[string][]string{}
	if err := j.Receipts(effects.MissionID{}, func(_ uint64, rec effects.Receipt) bool {
		if cells, ok := rec.Outcome.Postcondition.(effects.CellsBecome); ok {
			at := cells.Cells[0].Pos.String()
			want[at] = append(want[at], rec.Outcome.Verdict.String()+" "+rec.Outcome.Grade.String()+" "+rec.Outcome.Code.String())
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
		t.Error(d)
	}
}

// command runs one command line and returns its standard output.
func command(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(context.Background(), args, nil, &out, &errs); got != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, got, want, out.String(), errs.String())
	}
	return out.String()
}

// TestReplayRefuses gives files that are no captures, or cut off.
func TestReplayRefuses(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(captures.Between()))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	future := slices.Concat([]byte("BWCAP1\n\xff\x7f\x00"), whole[20:])
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"empty":            {nil, "not a capture"},
		"text":             {[]byte("hello, this is no capture"), "not a capture"},
		"a broken gzip":    {[]byte{0x1f, 0x8b, 0, 0}, "gzip"},
		"a cut gzip":       {captures.Between()[:4000], "cut off"},
		"another version":  {future, "does not speak"},
		"a head alone":     {whole[:20], "no packets"},
		"cut in the head":  {whole[:9], "not a capture"},
		"cut in a record":  {whole[:len(whole)/2], "cut off"},
		"an unknown state": {slices.Concat(whole[:20], []byte{0x7f, 0, 0}), "state 127"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.cap")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if got := run(context.Background(), []string{"replay", path}, nil, &out, &errs); got != exitUsage || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit code %d: %s", got, errs.String())
			}
		})
	}
	command(t, exitUsage, "replay", filepath.Join(t.TempDir(), "missing"))
	command(t, exitUsage, "replay", "x", "--least", "processed")
}
