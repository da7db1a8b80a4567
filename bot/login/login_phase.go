package login

import (
	"errors"
	"fmt"

	"blockworld/bot/wire"
)

// login handles the packets of the login phase.
func (m *Machine) login(p wire.Packet) ([]Action, bool, error) {
	if m.phase == PhaseEncryption {
		return nil, true, errors.New("the server went on before the key exchange was done")
	}
	switch p := p.(type) {
	case *wire.HelloClientbound:
		actions, err := m.encryption(p)
		return actions, true, err
	case *wire.LoginCompression:
		return []Action{Compress{Threshold: int(p.Threshold)}}, true, nil
	case *wire.CustomQuery:
		return []Action{Send{m.answerQuery(p)}}, true, nil
	case *wire.CookieRequest:
		return []Action{Send{m.cookie(p)}}, true, nil
	case *wire.LoginFinished:
		return m.finished(p), true, nil
	case *wire.LoginDisconnect:
		return nil, true, newKicked(p.Reason.Plain())
	}
	return nil, false, nil
}

// encryption answers the server's public key. Where the server wants the account verified, the answer waits for the
// session server.
func (m *Machine) encryption(p *wire.HelloClientbound) ([]Action, error) {
	if m.secret {
		return nil, errors.New("the server asks for encryption a second time")
	}
	authenticate := p.Authenticate || !wire.Has(m.opts.Protocol, wire.ShouldAuthenticate)
	if authenticate && !m.opts.Online {
		return nil, fmt.Errorf("%w: bots of this program join with a name alone; use a server with online-mode=false, or give it an account to join with", ErrNeedsAccount)
	}
	secret, token, err := seal(m.opts.Random, p.PublicKey, m.opts.Secret[:], p.Challenge)
	if err != nil {
		return nil, err
	}
	m.secret = true
	m.pending = &wire.Key{Secret: secret, Challenge: token}
	if !authenticate {
		return m.sendKey(), nil
	}
	m.phase = PhaseEncryption
	return []Action{AskSession{SessionRequest{
		ServerHash: serverHash(p.ServerID, m.opts.Secret[:], p.PublicKey),
		Username:   m.opts.Username,
	}}}, nil
}

// SessionAnswered goes on after AskSession: nil if the session server accepted us.
func (m *Machine) SessionAnswered(err error) ([]Action, error) {
	if m.phase != PhaseEncryption || m.pending == nil {
		return nil, m.Failure(errors.New("no session question is open"))
	}
	if err != nil {
		return nil, m.Failure(fmt.Errorf("the session server did not accept this account: %w", err))
	}
	m.phase = PhaseLogin
	return m.sendKey(), nil
}

// sendKey sends the key in the clear; everything after it is encrypted.
func (m *Machine) sendKey() []Action {
	key := m.pending
	m.pending = nil
	return []Action{Send{key}, Encrypt{Key: m.opts.Secret}}
}

// answerQuery answers a login plugin request: "not understood" unless somebody claims the channel.
func (m *Machine) answerQuery(p *wire.CustomQuery) *wire.CustomQueryAnswer {
	answer := &wire.CustomQueryAnswer{Transaction: p.Transaction}
	if m.opts.Query == nil {
		return answer
	}
	if data, ok := m.opts.Query(p.Channel, p.Data); ok {
		answer.Understood, answer.Data = true, data
	}
	return answer
}

// finished enters configuration and tells at once who we are and what client this is: some proxies wait for it.
func (m *Machine) finished(p *wire.LoginFinished) []Action {
	m.id, m.name = p.Profile.UUID, p.Profile.Name
	actions := []Action{
		LoggedIn{UUID: m.id, Name: m.name},
		Send{&wire.LoginAcknowledged{}},
	}
	return append(actions, m.enterConfiguration()...)
}
