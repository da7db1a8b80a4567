package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/bot/login"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// session holds the flags of every command that joins a server.
type session struct {
	server   string
	username string
	version  string
	data     string
	respawn  bool
	packs    bool
	timeout  time.Duration
	capture  string
	recorder *captureFile // of all the command's sessions, one after another
}

func (s *session) flags(f *pflag.FlagSet) {
	f.StringVar(&s.server, "server", "", "address of the server, HOST or HOST:PORT")
	s.accountFlags(f)
}

// accountFlags are the flags of a command whose server is an argument or stored.
func (s *session) accountFlags(f *pflag.FlagSet) {
	f.StringVar(&s.username, "username", "Blockworld", "name of the bot's account (offline mode)")
	f.StringVar(&s.version, "version", "auto", "game version of the server, such as 1.21.8; auto asks the server")
	f.StringVar(&s.data, "data", "blockworld-data", "folder of journal, receipts and profiles")
	f.BoolVar(&s.respawn, "respawn", false, "come back to life when the bot dies")
	f.BoolVar(&s.packs, "accept-resource-packs", false, "answer resource packs as loaded, for servers that demand one")
	f.DurationVar(&s.timeout, "connect-timeout", 10*time.Second, "how long connecting may take")
	f.StringVar(&s.capture, "capture", "", "file that gets every packet of the sessions, without secrets, for blockworld replay")
}

// check refuses flags that cannot be meant, before anything is read, written or joined.
func (s *session) check() error {
	if s.server == "" {
		return fail(exitUsage, errors.New("no server: give --server HOST or HOST:PORT"))
	}
	if _, _, err := login.ParseAddress(s.server); err != nil {
		return fail(exitUsage, err)
	}
	if err := login.CheckUsername(s.username); err != nil {
		return fail(exitUsage, err)
	}
	if s.timeout <= 0 {
		return fail(exitUsage, fmt.Errorf("--connect-timeout %s: it is longer than nothing", s.timeout))
	}
	_, err := s.protocol()
	return err
}

// protocol reads --version; 0 asks the server.
func (s *session) protocol() (registry.Protocol, error) {
	if s.version == "" || s.version == "auto" {
		return 0, nil
	}
	if p, ok := registry.ByVersionName(s.version); ok {
		return p, nil
	}
	return 0, fail(exitUsage, fmt.Errorf("version %q is not one of %s", s.version, versionNames()))
}

// versionNames lists every game version this program speaks.
func versionNames() string {
	var names []string
	for _, p := range registry.Protocols() {
		for _, v := range p.Versions() {
			names = append(names, v.Name)
		}
	}
	return strings.Join(names, ", ")
}

// options are the bot's options for one session.
func (s *session) options(p *printer) (bot.Options, error) {
	if err := s.check(); err != nil {
		return bot.Options{}, err
	}
	version, err := s.protocol()
	if err != nil {
		return bot.Options{}, err
	}
	o := bot.Options{Address: s.server, Username: s.username, Protocol: version, Respawn: s.respawn, Log: p.logger("bot"),
		Timeouts: bot.Timeouts{Connect: s.timeout}}
	if s.packs {
		o.ResourcePacks = login.Accept
	}
	if s.capture != "" && s.recorder == nil {
		if s.recorder, err = newCaptureFile(s.capture); err != nil {
			return bot.Options{}, err
		}
	}
	if s.recorder != nil {
		o.Capture = s.recorder
	}
	o.Notify = func(n bot.Notice) {
		switch n.Kind {
		case bot.NoticeDied, bot.NoticeRespawned, bot.NoticeDimension, bot.NoticeReconfiguring:
			p.say("%s", n.Text)
		}
	}
	return o, nil
}

// scope names the account on the server, for counting play entries.
func (s *session) scope() string {
	return strings.ToLower(s.username) + "@" + strings.ToLower(s.server)
}

// counted makes the options count play entries in a journal, as every session of an account must that has open marks.
func counted(o *bot.Options, j *journal.Journal, scope string) {
	var entry uint64
	o.Entering = func() (err error) {
		entry, err = j.BeginEntry(scope)
		return err
	}
	o.Entered = func(bot.Identity) error { return j.ConfirmEntry(scope, entry) }
}

// joinFailed gives a failed join its exit code, if it has none yet.
func joinFailed(err error) error {
	var coded *exitError
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.As(err, &coded):
		return err
	case errors.Is(err, login.ErrUnknownProtocol), errors.Is(err, login.ErrAddress), errors.Is(err, login.ErrUsername):
		return fail(exitUsage, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail(exitFailed, fmt.Errorf("nothing listens there: is the server running, and is the port right? (%w)", err))
	}
	return fail(exitFailed, err)
}

// openJournal opens the data directory's journal.
func (s *session) openJournal(mustExist bool) (*journal.Journal, error) {
	j, err := journal.Open(s.data, journal.Options{At: crashPoint(os.Getenv), MustExist: mustExist, Outbox: true})
	return j, openFailed(err)
}

// openFailed gives a journal that cannot be opened its exit code and says which flags help.
func openFailed(err error) error {
	switch {
	case errors.Is(err, journal.ErrNoJournal):
		return fail(exitUsage, fmt.Errorf("%w: name the folder of a build or a probe --try with --data", err))
	case errors.Is(err, journal.ErrLocked):
		err = fmt.Errorf("%w (--data); its receipts can be listed, shown and exported meanwhile", err)
	case errors.Is(err, journal.ErrNotWritable):
		err = fmt.Errorf("%w (--data)", err)
	}
	return fail(exitFailed, err)
}

// retry spaces reconnects of a mission.
func retry(tries int) builder.Retry {
	return builder.Retry{Backoff: bot.Backoff{Min: time.Second, Max: 30 * time.Second, Tries: tries}, Unit: randomUnit}
}

// randomUnit draws a number in [0,1).
func randomUnit() float64 {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0
	}
	return float64(binary.BigEndian.Uint32(b[:])) / (1 << 32)
}

// parsePos reads "X,Y,Z".
func parsePos(s string) (geom.BlockPos, error) {
	var p geom.BlockPos
	var rest string
	n, err := fmt.Sscanf(s+" end", "%d,%d,%d %s", &p.X, &p.Y, &p.Z, &rest)
	if err != nil || n != 4 || rest != "end" {
		return p, fail(exitUsage, fmt.Errorf("%q is not a position; write X,Y,Z", s))
	}
	const limit = 30_000_000
	if max(p.X, -p.X) > limit || max(p.Y, -p.Y) > 4096 || max(p.Z, -p.Z) > limit {
		return p, fail(exitUsage, fmt.Errorf("%q lies outside every world", s))
	}
	return p, nil
}

// parseBox reads "X1,Y1,Z1:X2,Y2,Z2".
func parseBox(s string) (geom.BlockBox, error) {
	a, b, ok := strings.Cut(s, ":")
	if !ok {
		return geom.BlockBox{}, fail(exitUsage, fmt.Errorf("%q is not a box; write X1,Y1,Z1:X2,Y2,Z2", s))
	}
	lo, err := parsePos(a)
	if err != nil {
		return geom.BlockBox{}, err
	}
	hi, err := parsePos(b)
	if err != nil {
		return geom.BlockBox{}, err
	}
	return geom.BoxOf(lo, hi), nil
}
