package login

import (
	"fmt"

	"blockworld/bot/wire"
)

// enterConfiguration switches the codec and sends the client's two opening packets.
func (m *Machine) enterConfiguration() []Action {
	m.phase = PhaseConfiguration
	return []Action{
		SwitchWrite{wire.Configuration}, SwitchRead{wire.Configuration},
		Send{m.clientInformation()},
		Send{&wire.CustomPayload{Channel: brandChannel, Data: wireString(m.opts.Brand)}},
	}
}

// configuration handles the packets of the configuration phase.
func (m *Machine) configuration(p wire.Packet) ([]Action, bool, error) {
	switch p.(type) {
	case *wire.SelectKnownPacks:
		// The empty list differs from every server's own, so all registry entries come with their data.
		return []Action{Send{&wire.SelectKnownPacks{}}}, true, nil
	case *wire.CodeOfConduct:
		if m.opts.CodeOfConduct != Accept {
			return nil, true, fmt.Errorf("%w: the server has a code of conduct to accept; allow it to join there", ErrRefusedByPolicy)
		}
		return []Action{Send{&wire.AcceptCodeOfConduct{}}}, true, nil
	case *wire.FinishConfiguration:
		m.phase = PhaseJoining
		return []Action{
			Entering{},
			Send{&wire.FinishConfiguration{}},
			SwitchWrite{wire.Play}, SwitchRead{wire.Play},
		}, true, nil
	}
	return m.common(p)
}

// common handles the packets that configuration and play share.
func (m *Machine) common(p wire.Packet) ([]Action, bool, error) {
	switch p := p.(type) {
	case *wire.KeepAlive:
		return []Action{Send{&wire.KeepAlive{ID: p.ID}}}, true, nil
	case *wire.Ping:
		return []Action{Send{&wire.Pong{ID: p.ID}}}, true, nil
	case *wire.CookieRequest:
		return []Action{Send{m.cookie(p)}}, true, nil
	case *wire.StoreCookie:
		return nil, true, m.store(p)
	case *wire.ResourcePackPush:
		return m.resourcePack(p), true, nil
	case *wire.Transfer:
		actions, err := m.transfer(p)
		return actions, true, err
	case *wire.CustomPayload:
		m.serverPayload(p)
		return nil, true, nil
	case *wire.Disconnect:
		return nil, true, newKicked(p.Reason.Plain())
	}
	return nil, false, nil
}

// clientInformation is what a vanilla client says about itself.
func (m *Machine) clientInformation() *wire.ClientInformation {
	return &wire.ClientInformation{
		Locale:       m.opts.Locale,
		ViewDistance: int8(m.opts.ViewDistance),
		ChatColors:   true,
		SkinParts:    0x7f,
		MainHand:     1,
		AllowListing: true,
	}
}

// resourcePack answers with the pushed id: the whole row of a client that loaded the pack, or one refusal.
func (m *Machine) resourcePack(p *wire.ResourcePackPush) []Action {
	answer := func(r wire.PackResult) Action { return Send{&wire.ResourcePack{UUID: p.UUID, Result: r}} }
	if m.opts.ResourcePacks != Accept {
		return []Action{answer(wire.PackDeclined)}
	}
	actions := []Action{answer(wire.PackAccepted)}
	if wire.Has(m.opts.Protocol, wire.ResourcePackUUID) {
		actions = append(actions, answer(wire.PackDownloaded))
	}
	return append(actions, answer(wire.PackLoaded))
}

// cookie answers with what a server stored under the key, or with nothing.
func (m *Machine) cookie(p *wire.CookieRequest) *wire.CookieResponse {
	value, ok := m.cookies[p.Key]
	return &wire.CookieResponse{Key: p.Key, Present: ok, Payload: value}
}

// store keeps a cookie for this and later servers of a transfer.
func (m *Machine) store(p *wire.StoreCookie) error {
	_, known := m.cookies[p.Key]
	if len(p.Payload) > maxCookieBytes || !known && len(m.cookies) >= maxCookies {
		return fmt.Errorf("%w: more than %d cookies or a cookie above %d bytes", ErrTooMuch, maxCookies, maxCookieBytes)
	}
	m.cookies[p.Key] = append([]byte(nil), p.Payload...)
	return nil
}

// transfer leaves for another server if that is allowed.
func (m *Machine) transfer(p *wire.Transfer) ([]Action, error) {
	if m.opts.Transfers != Accept {
		return nil, fmt.Errorf("%w: the server sends this client to %q port %d; allow transfers to follow", ErrRefusedByPolicy, p.Host, p.Port)
	}
	if _, _, err := ParseAddress(p.Host); err != nil || p.Port < 1 || p.Port > 65535 {
		return nil, fmt.Errorf("%w: transfer to %q port %d", ErrAddress, p.Host, p.Port)
	}
	return []Action{Transfer{Host: p.Host, Port: uint16(p.Port)}}, nil
}

// serverPayload keeps the server's brand; every other channel is not ours.
func (m *Machine) serverPayload(p *wire.CustomPayload) {
	if p.Channel != brandChannel {
		return
	}
	m.brand = brandText(p.Data)
}
