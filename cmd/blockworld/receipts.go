package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blockworld/effects"
	"blockworld/sentinel/journal"
)

func newReceipts(g *globals) *cobra.Command {
	var data string
	cmd := group(&cobra.Command{Use: "receipts", Short: "list, show, export and verify receipts; check their journal; keep their key"})
	cmd.PersistentFlags().StringVar(&data, "data", "blockworld-data", "folder of journal and receipts")
	key := group(&cobra.Command{Use: "key", Short: "the key that signs receipts"})
	key.AddCommand(newKeyShow(g, &data), newKeyBackup(g, &data), newKeyRotate(g, &data))
	cmd.AddCommand(newReceiptsList(g, &data), newReceiptsShow(g, &data), newReceiptsExport(g, &data), newReceiptsVerify(g), newReceiptsCheck(g, &data), key)
	return cmd
}

// looking runs f on a copy of a data folder's journal as of its newest commit. A build may be writing to it meanwhile.
func looking(data string, f func(*journal.Journal) error) error {
	j, err := journal.Look(data, journal.Options{})
	if err != nil {
		return orBots(data, openFailed(err))
	}
	defer j.Close()
	return f(j)
}

// withJournal opens the journal of a data folder for a command that changes it.
func withJournal(data string, f func(*journal.Journal) error) error {
	s := session{data: data}
	j, err := s.openJournal(true)
	if err != nil {
		return orBots(data, err)
	}
	defer j.Close()
	return f(j)
}

// botsFolder holds a folder for each bot of a daemon, with its journal.
const botsFolder = "bots"

// orBots says of a daemon's folder where its bots' receipts lie, in place of saying that there is no journal.
func orBots(data string, err error) error {
	if !errors.Is(err, journal.ErrNoJournal) {
		return err
	}
	bots, _ := filepath.Glob(filepath.Join(data, botsFolder, "*", journal.FileName)) // a folder that cannot be read has none
	if len(bots) == 0 {
		return err
	}
	var where []string
	for _, b := range bots[:min(len(bots), mostLines)] {
		where = append(where, "--data "+filepath.Dir(b))
	}
	more := ""
	if n := len(bots) - len(where); n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fail(exitUsage, fmt.Errorf("%s is a daemon's folder: each of its bots has receipts of its own, see %s%s", data, strings.Join(where, ", "), more))
}

// receiptLine is the JSON of one receipt.
type receiptLine struct {
	Number      uint64    `json:"number"` // of all receipts, from 1
	Entry       uint64    `json:"entry"`  // of the signed chain, where keys are entries as well
	Action      string    `json:"action"`
	Mission     string    `json:"mission"`
	Effect      string    `json:"effect"`
	Pos         string    `json:"pos"`
	Step        uint32    `json:"step"`
	Grade       string    `json:"grade"`
	Attribution string    `json:"attribution"`
	Reconciled  bool      `json:"reconciled"`
	Reason      string    `json:"reason"`
	Time        time.Time `json:"time"`
}

func lineOf(n, entry uint64, r effects.Receipt) receiptLine {
	o := r.Outcome
	return receiptLine{n, entry, o.Action.String(), o.Mission.String(), o.Postcondition.Capability().String(), o.Step.Pos.String(), o.Step.Index + 1,
		o.Grade.String(), o.Attribution.String(), o.Reconciled, o.Code.Words(), time.UnixMilli(o.UnixMilli).UTC()}
}

func newReceiptsList(g *globals, data *string) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use: "list", Short: "every receipt, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := g.printer(cmd)
			var id effects.MissionID
			if mission != "" {
				var err error
				if id, err = effects.ParseMissionID(mission); err != nil {
					return fail(exitUsage, err)
				}
			}
			return looking(*data, func(j *journal.Journal) error {
				lines, n := []receiptLine{}, uint64(0)
				err := j.Receipts(effects.MissionID{}, func(entry uint64, r effects.Receipt) bool {
					n++
					if mission != "" && r.Outcome.Mission != id {
						return true
					}
					l := lineOf(n, entry, r)
					lines = append(lines, l)
					what := fmt.Sprintf("step %-5d %-14s", l.Step, l.Pos)
					if r.Outcome.Postcondition.Capability() != effects.PlaceBlock {
						what = fmt.Sprintf("%-25s", l.Effect) // of no cell
					}
					p.say("%6d  %s  %s %s", l.Number, l.Action, what, l.Grade)
					return true
				})
				if err != nil {
					return fail(exitFailed, err)
				}
				p.say("%d receipts", len(lines))
				return p.result(lines)
			})
		},
	}
	cmd.Flags().StringVar(&mission, "mission", "", "only those of this mission")
	return cmd
}

func newReceiptsShow(g *globals, data *string) *cobra.Command {
	return &cobra.Command{
		Use: "show ACTION", Short: "one receipt with the facts it rests on", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := effects.ParseActionID(args[0])
			if err != nil {
				return fail(exitUsage, err)
			}
			p := g.printer(cmd)
			return looking(*data, func(j *journal.Journal) error {
				r, ok, err := j.Receipt(id)
				if err != nil {
					return fail(exitFailed, err)
				}
				if !ok {
					return fail(exitFailed, fmt.Errorf("action %s has no receipt", id))
				}
				tellReceipt(p, r)
				return p.result(r.Outcome)
			})
		},
	}
}

func tellReceipt(p *printer, r effects.Receipt) {
	o := r.Outcome
	p.say("action %s of mission %s", o.Action, o.Mission)
	if c := o.Postcondition.Capability(); c == effects.PlaceBlock {
		p.say("  %s, step %d at %v in %s, %s", c, o.Step.Index+1, o.Step.Pos, o.Step.Dimension, o.Server)
	} else {
		p.say("  %s, %s", c, o.Server)
	}
	p.say("  %s, grade %s, attribution %s: %s", o.Verdict, o.Grade, o.Attribution, o.Code.Words())
	if c, ok := o.Postcondition.(effects.CellsBecome); ok {
		for _, cell := range c.Cells {
			p.say("  cell %v: state %d -> %d, not compared: %v", cell.Pos, cell.From, cell.To, cell.Masked)
		}
	}
	for _, f := range o.Evidence.Facts {
		p.say("  fact %d: %s at %v state %d value %d", f.Sequence, f.Kind, f.Pos, f.State, f.Value)
	}
	if k := o.Evidence.Counter; k.Known {
		p.say("  used counter of item %d: %d -> %d", k.Item, k.Before, k.After)
	}
}

func newReceiptsExport(g *globals, data *string) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "export", Short: "the signed chain as a file that anybody can verify", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := g.printer(cmd)
			return looking(*data, func(j *journal.Journal) error {
				if out == "" {
					_, err := j.Export(cmd.OutOrStdout())
					return fail(exitFailed, err)
				}
				n, err := exportTo(j, out)
				if err != nil {
					return fail(exitFailed, err)
				}
				p.say("%d receipts in %s, signed by %s", n, out, j.Fingerprint())
				return p.result(map[string]any{"receipts": n, "file": out, "key": j.Fingerprint().String()})
			})
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write; standard output by default")
	return cmd
}

func exportTo(j *journal.Journal, path string) (uint64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, notWritten(path, err)
	}
	n, err := j.Export(f)
	return n, notWritten(path, errors.Join(err, f.Close()))
}

func newReceiptsVerify(g *globals) *cobra.Command {
	var pin string
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "check an export: every signature, the chain, the signed head", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var id journal.KeyID
			if pin != "" {
				var err error
				if id, err = journal.ParseFingerprint(pin); err != nil {
					return fail(exitUsage, err)
				}
			}
			var in io.Reader = cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fail(exitUsage, err)
				}
				defer f.Close()
				in = f
			}
			report, err := journal.Verify(in, id)
			if errors.Is(err, journal.ErrNotExport) {
				return fail(exitUsage, fmt.Errorf("%s: %w", args[0], err))
			}
			if err != nil {
				return fail(exitFailed, err)
			}
			p := g.printer(cmd)
			p.say("%s", report)
			return p.result(map[string]any{"receipts": report.Receipts, "pinned": report.Pinned, "signer": report.Signer.String(), "rotations": report.Rotations})
		},
	}
	cmd.Flags().StringVar(&pin, "key", "", "fingerprint of the key that must have signed, SHA256:...")
	return cmd
}

func newReceiptsCheck(g *globals, data *string) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "check the journal while no bot uses it: every page, record and signature; nothing is changed", Args: cobra.NoArgs,
		Long: "Reads the whole journal of a data folder, with what no export holds: missions, sent marks, what is open. Needs no key and\n" +
			"repairs nothing. A daemon's own store is checked by `blockworld ctl fsck`.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := g.printer(cmd)
			path := filepath.Join(*data, journal.FileName)
			sum, err := journal.Check(*data)
			var damage *journal.Damage
			switch {
			case errors.As(err, &damage):
				p.say("%s: %s", damage.Where, damage.What)
				if jerr := p.result(checkReport{File: path, Problems: []checkProblem{{damage.Where, damage.What}}}); jerr != nil {
					return jerr
				}
				return fail(exitFailed, err)
			case err != nil:
				return orBots(*data, openFailed(err))
			}
			p.say("%s: nothing is wrong: %d records, %s, %d receipts, %d actions without a verdict", path, sum.Records, several(sum.Missions, "mission", "missions"), sum.Receipts, sum.Open)
			return p.result(checkReport{path, []checkProblem{}, sum.Records, sum.Missions, sum.Actions, sum.Open, sum.Receipts})
		},
	}
}

// checkReport is the JSON of receipts check.
type checkReport struct {
	File     string         `json:"file"`
	Problems []checkProblem `json:"problems"` // the first one that was found
	Records  int            `json:"records"`
	Missions int            `json:"missions"`
	Actions  int            `json:"actions"`
	Open     int            `json:"open"` // actions without a verdict
	Receipts int            `json:"receipts"`
}

// checkProblem is something wrong in a journal.
type checkProblem struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

func newKeyShow(g *globals, data *string) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "the fingerprint to pin", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return looking(*data, func(j *journal.Journal) error {
				p := g.printer(cmd)
				p.say("%s", j.Fingerprint())
				return p.result(map[string]any{"key": j.Fingerprint().String()})
			})
		},
	}
}

func newKeyBackup(g *globals, data *string) *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "copy the signing key to a file (mode 0600)", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return looking(*data, func(j *journal.Journal) error {
				if err := j.BackupKey(args[0]); err != nil {
					return fail(exitFailed, err)
				}
				p := g.printer(cmd)
				p.say("key %s copied to %s: whoever has it can sign receipts", j.Fingerprint(), args[0])
				return p.result(map[string]any{"key": j.Fingerprint().String(), "file": args[0]})
			})
		},
	}
}

func newKeyRotate(g *globals, data *string) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "sign with a new key from now on; the old one vouches for it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withJournal(*data, func(j *journal.Journal) error {
				id, err := j.RotateKey()
				if err != nil {
					return fail(exitFailed, err)
				}
				p := g.printer(cmd)
				p.say("receipts are signed by %s from now on", id)
				return p.result(map[string]any{"key": id.String()})
			})
		},
	}
}
