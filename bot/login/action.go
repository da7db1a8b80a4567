package login

import (
	"blockworld/bot/wire"
	"blockworld/worldstate"
)

// Action is one thing the caller has to do for the machine. The set is closed; lists are carried out in order.
type Action interface{ action() }

// Send writes one packet.
type Send struct{ Packet wire.Packet }

// SwitchWrite makes the packets after it belong to another state.
type SwitchWrite struct{ State wire.State }

// SwitchRead makes the packets that follow from the server belong to another state.
type SwitchRead struct{ State wire.State }

// Compress turns compression on in both directions; a negative threshold turns it off.
type Compress struct{ Threshold int }

// Encrypt turns encryption on in both directions.
type Encrypt struct{ Key [SecretSize]byte }

// AskSession asks the session server of an online-mode server; the answer goes to Machine.SessionAnswered. The machine
// expects no packet before it.
type AskSession struct{ Request SessionRequest }

// LoggedIn tells who we are on this server.
type LoggedIn struct {
	UUID worldstate.UUID
	Name string
}

// Entering stands before the reply to finish_configuration: from that reply on the server may count a play entry of
// this account, so what has to be durable about it becomes so here.
type Entering struct{}

// Transfer asks to reconnect elsewhere with wire.IntentTransfer and the machine's cookies.
type Transfer struct {
	Host string
	Port uint16
}

func (Send) action()        {}
func (SwitchWrite) action() {}
func (SwitchRead) action()  {}
func (Compress) action()    {}
func (Encrypt) action()     {}
func (AskSession) action()  {}
func (LoggedIn) action()    {}
func (Entering) action()    {}
func (Transfer) action()    {}
