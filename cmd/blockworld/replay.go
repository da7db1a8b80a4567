package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"

	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/worldstate/registry"
)

func newReplay(g *globals) *cobra.Command {
	least := ""
	cmd := &cobra.Command{
		Use: "replay FILE", Short: "a capture through mirror and verdicts, offline", Args: cobra.ExactArgs(1),
		Long: "Reads a file that --capture wrote and goes through it as the bot did: packets to facts, facts to the mirror, and for every\n" +
			"use of an item on a block the verdict that the packets alone allow. Nothing is sent anywhere.",
		RunE: func(cmd *cobra.Command, args []string) error {
			grade, ok := effects.ParseGrade(least)
			if !ok || grade < effects.Observed {
				return fail(exitUsage, fmt.Errorf("--least %q: observed, acknowledged or attributed", least))
			}
			return runReplay(g.printer(cmd), args[0], grade)
		},
	}
	cmd.Flags().StringVar(&least, "least", effects.Attributed.String(), "least grade of a proven placement: observed, acknowledged or attributed")
	return cmd
}

// replayReport is the JSON of replay.
type replayReport struct {
	File     string         `json:"file"`
	Protocol int32          `json:"protocol"`
	Version  string         `json:"version"`
	Program  string         `json:"program"` // that wrote the capture
	Packets  int            `json:"packets"`
	Facts    uint64         `json:"facts"`
	Skipped  int            `json:"skipped"` // packets and facts that are malformed or of no known kind
	Complete bool           `json:"complete"`
	Sessions []*replayed    `json:"sessions"`
	Verdicts map[string]int `json:"verdicts"` // uses by verdict
	Digest   string         `json:"digest"`   // of the last session's mirror
	last     *replaySession
}

func runReplay(p *printer, path string, least effects.Grade) error {
	f, err := os.Open(path)
	if err != nil {
		return fail(exitUsage, err)
	}
	defer f.Close()
	in, err := unpacked(f)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	r, err := replay(in, least)
	if r == nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	r.File = path
	r.tell(p)
	if jerr := p.result(r); jerr != nil {
		return jerr
	}
	return fail(exitUsage, err)
}

// unpacked takes the gzip off a capture, if it has one.
func unpacked(f io.Reader) (io.Reader, error) {
	b := bufio.NewReader(f)
	if head, err := b.Peek(2); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		return b, nil // what it is instead shows when it is read
	}
	return gzip.NewReader(b)
}

// replay goes through a capture. With a report beside the error, the file went wrong behind what is reported.
func replay(in io.Reader, least effects.Grade) (*replayReport, error) {
	c, err := wire.NewCaptureReader(in)
	if err != nil {
		return nil, err
	}
	reg, err := registry.Load(c.Header.Protocol)
	if err != nil {
		return nil, fmt.Errorf("a capture of a version this program does not speak: %w", err)
	}
	out := &replayReport{Protocol: int32(c.Header.Protocol), Version: c.Header.Protocol.String(), Program: c.Header.Program, Verdicts: map[string]int{}}
	var now *replaySession
	for {
		rec, err := c.Next()
		if err != nil {
			out.end(now)
			out.last = now
			switch {
			case err == io.EOF && out.Packets == 0:
				return nil, errors.New("the capture holds no packets")
			case err == io.EOF:
				out.Complete = true
				return out, nil
			case errors.Is(err, io.ErrUnexpectedEOF):
				err = fmt.Errorf("the capture is cut off behind packet %d", out.Packets)
			}
			return out, err
		}
		out.Packets++
		if begins(rec) || now == nil {
			out.end(now)
			now = newReplaySession(reg, now, least)
			out.Sessions = append(out.Sessions, &now.out)
		}
		now.record(rec)
	}
}

// begins tells whether a record opens a connection.
func begins(r wire.CaptureRecord) bool {
	return r.State == wire.Handshake && r.Direction == wire.Serverbound
}

// end closes a session and adds it up.
func (r *replayReport) end(s *replaySession) {
	if s == nil {
		return
	}
	s.end()
	r.Facts += s.out.Facts
	r.Skipped += s.out.Skipped
	for i := range s.out.Uses {
		r.Verdicts[s.out.Uses[i].Verdict.String()]++
	}
	r.Digest = s.out.Digest
}

// tell writes the report for people.
func (r *replayReport) tell(p *printer) {
	p.say("capture of %s: %d packets in %d sessions, %d facts, %d skipped", r.Version, r.Packets, len(r.Sessions), r.Facts, r.Skipped)
	for i, s := range r.Sessions {
		p.say("session %d: %d facts, %d columns, %d entities; %s", i+1, s.Facts, s.Columns, s.Entities, s.status())
		for _, u := range s.Uses {
			p.say("  use %-5d %v %-40s %s", u.Sequence, u.Cell, u.State, u.words())
		}
		for _, n := range s.Notices {
			p.say("  %s", n.Words())
		}
		p.say("  mirror %s", s.Digest)
	}
	for v := effects.UnverifiedEffect; v <= effects.WrongResult; v++ {
		if n := r.Verdicts[v.String()]; n > 0 {
			p.say("%-18s %d", v, n)
		}
	}
}
