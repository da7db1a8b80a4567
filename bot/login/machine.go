package login

import (
	"fmt"
	"maps"

	"blockworld/bot/wire"
	"blockworld/worldstate"
)

// Bounds on what a server may leave with a session.
const (
	maxCookies     = 256  // distinct keys
	maxCookieBytes = 5120 // per value, the protocol's own limit
)

// Machine is one session's way through the phases. Make it with New, call Begin once, then Receive for every packet
// of the server, in play too. It belongs to one goroutine.
type Machine struct {
	opts    Options
	phase   Phase
	last    string // name of the last packet received
	secret  bool   // encryption was agreed
	pending *wire.Key
	cookies map[string][]byte
	brand   string
	name    string
	id      worldstate.UUID
}

// New checks the options. Errors: ErrUnknownProtocol, ErrUsername.
func New(o Options) (*Machine, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	m := &Machine{opts: o, cookies: make(map[string][]byte, len(o.Cookies))}
	maps.Copy(m.cookies, o.Cookies)
	return m, nil
}

// Phase is how far the session has come.
func (m *Machine) Phase() Phase { return m.phase }

// state is the codec state of the packets that come in now.
func (m *Machine) state() wire.State {
	switch m.phase {
	case PhaseConfiguration:
		return wire.Configuration
	case PhaseJoining, PhasePlay:
		return wire.Play
	}
	return wire.Login
}

// Last names the last packet received.
func (m *Machine) Last() string { return m.last }

// Brand is the server's own name for its software: untrusted, empty if it did not say.
func (m *Machine) Brand() worldstate.Untrusted { return worldstate.Untrusted(m.brand) }

// Identity is who we are on this server, as login_finished said; zero before that.
func (m *Machine) Identity() (worldstate.UUID, string) { return m.id, m.name }

// Cookies is a copy of what servers stored with this session, to be given to the next one after a transfer.
func (m *Machine) Cookies() map[string][]byte { return maps.Clone(m.cookies) }

// Begin opens the session: handshake and hello.
func (m *Machine) Begin() []Action {
	m.phase = PhaseLogin
	return []Action{
		Send{&wire.Intention{
			Protocol: int32(m.opts.Protocol),
			Host:     m.opts.Target.Host,
			Port:     m.opts.Target.Port,
			Intent:   m.opts.Intent,
		}},
		SwitchWrite{wire.Login}, SwitchRead{wire.Login},
		Send{&wire.HelloServerbound{Name: m.opts.Username, UUID: m.opts.UUID}},
	}
}

// Receive takes the server's next packet. Handled is false for a packet that is none of this machine's business: in
// play that is nearly every one. An error ends the session.
func (m *Machine) Receive(p wire.Packet) (actions []Action, handled bool, err error) {
	m.last = wire.PacketName(m.state(), wire.Clientbound, p)
	switch m.phase {
	case PhaseLogin, PhaseEncryption:
		actions, handled, err = m.login(p)
	case PhaseConfiguration:
		actions, handled, err = m.configuration(p)
	case PhaseJoining, PhasePlay:
		actions, handled, err = m.play(p)
	default:
		err = fmt.Errorf("packet before the session began")
	}
	if err != nil {
		return nil, handled, m.Failure(err)
	}
	return actions, handled, nil
}

// Undecodable takes a packet that could not be decoded: nil if the session can go on without it.
func (m *Machine) Undecodable(e *wire.DecodeError) error {
	m.last = e.Packet
	if e.ID >= 0 && !orderDepends(m.phase, e.Packet) {
		return nil
	}
	return m.Failure(fmt.Errorf("%w: %w", ErrUndecodable, e))
}

// Failure puts phase and last packet around what ended the session.
func (m *Machine) Failure(err error) error {
	return &SessionError{Phase: m.phase, Last: m.last, Err: err}
}

// orderDepends says whether what comes later would be misread if this packet were skipped.
func orderDepends(phase Phase, name string) bool {
	switch phase {
	case PhasePlay:
		return playOrder[name]
	case PhaseConfiguration:
		return configurationOrder[name]
	default:
		return true
	}
}

// configurationOrder lists the configuration packets that cannot be missed.
var configurationOrder = map[string]bool{
	"finish_configuration": true, "keep_alive": true, "ping": true, "select_known_packs": true, "registry_data": true,
	"disconnect": true, "transfer": true, "cookie_request": true, "code_of_conduct": true, "resource_pack_push": true,
}

// playOrder lists the play packets that cannot be missed: without them the mirror would hold something that is no
// longer so, or the server would wait for an answer that never comes.
var playOrder = map[string]bool{
	"login": true, "respawn": true, "start_configuration": true, "player_position": true, "player_rotation": true,
	"block_update": true, "section_blocks_update": true, "block_changed_ack": true, "award_stats": true,
	"forget_level_chunk": true, "chunk_batch_finished": true, "set_health": true, "set_held_slot": true,
	"keep_alive": true, "ping": true, "disconnect": true, "transfer": true, "cookie_request": true, "bundle_delimiter": true,
}
