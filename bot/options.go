package bot

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"

	"blockworld/bot/login"
	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// Options says where a bot goes and how it behaves. Address and Username are needed, everything else has a default.
type Options struct {
	Address  string            // HOST or HOST:PORT as typed; part of the server's identity
	Username string            // 1 to 16 letters, digits, underscores
	Protocol registry.Protocol // zero: ask the server by a status ping

	Brand        string // client brand; zero means "blockworld"
	ViewDistance int    // chunks, 2..32; zero means 10

	ResourcePacks login.Policy // zero declines
	CodeOfConduct login.Policy // zero declines
	Transfers     login.Policy // zero declines
	Respawn       bool         // ask to come back after a death

	// Session asks the session server of an online-mode server; nil means that this bot has no account.
	Session func(context.Context, login.SessionRequest) error
	// Query answers login plugin requests; nil answers none.
	Query func(channel string, data []byte) (answer []byte, understood bool)
	// Entering runs before the reply to finish_configuration: from that reply on the server may count a play entry.
	Entering func() error
	// Entered runs at the login of the play phase.
	Entered func(Identity) error
	// Notify hears what people want to be told; it runs on the loop and must not block.
	Notify func(Notice)

	Cookies map[string][]byte // left by the server that transferred us here
	Intent  wire.Intent       // zero means wire.IntentLogin

	After worldstate.View // of an earlier session on what should be the same server: its epochs go on

	Dial       func(ctx context.Context, network, address string) (net.Conn, error) // zero: net.Dialer
	Resolver   login.Resolver                                                       // zero: net.DefaultResolver
	Clock      Clock                                                                // zero: RealClock
	Rand       io.Reader                                                            // zero: crypto/rand
	Timeouts   Timeouts
	Tick       time.Duration            // length of a tick; zero means 50 ms, or what the server says
	Sections   *worldstate.SectionStore // shared by bots that see the same server; nil: private
	RuntimeDir string                   // folder of the locks, for tests; zero: LockFolders()
	Log        hclog.Logger             // nil: silent
	Capture    Capture                  // hears every packet; nil: nobody does

	lockFolders []string // RuntimeDir, or LockFolders()
}

// Timeouts bounds how long each phase may take. Zero fields have the default named beside them.
type Timeouts struct {
	Connect       time.Duration // 10 s, TCP
	Login         time.Duration // 30 s, handshake to login_finished
	Configuration time.Duration // 60 s
	Joining       time.Duration // 30 s, from the end of configuration to the play login
	Silence       time.Duration // 45 s without any packet in play; servers send keep_alive every 15 s
	Write         time.Duration // 30 s for the server to take what we write
}

// Errors of Join and Run beyond those of package login.
var (
	ErrClosed     = errors.New("the session was closed by us")
	ErrConnection = errors.New("connection lost")
	ErrTransfers  = errors.New("too many transfers in a row")
)

// withDefaults fills in what was left zero.
func (o Options) withDefaults() (Options, error) {
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Clock == nil {
		o.Clock = RealClock{}
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Tick <= 0 {
		o.Tick = 50 * time.Millisecond
	}
	if o.Notify == nil {
		o.Notify = func(Notice) {}
	}
	t := &o.Timeouts
	t.Connect = orDefault(t.Connect, 10*time.Second)
	t.Login = orDefault(t.Login, 30*time.Second)
	t.Configuration = orDefault(t.Configuration, time.Minute)
	t.Joining = orDefault(t.Joining, 30*time.Second)
	t.Silence = orDefault(t.Silence, 45*time.Second)
	t.Write = orDefault(t.Write, 30*time.Second)
	if o.RuntimeDir != "" {
		o.lockFolders = []string{o.RuntimeDir}
		return o, nil
	}
	var err error
	o.lockFolders, err = LockFolders()
	return o, err
}
