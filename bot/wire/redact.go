package wire

import (
	"strings"

	"blockworld/worldstate/registry"
)

// Redact returns a packet without its secrets: shared secrets and login tokens, answers to login queries (proxies send
// forwarding secrets in them), cookies, keys and signatures of chat sessions, passwords in commands of account plug-ins,
// the query of resource pack addresses, what proxies append to the host of the handshake. Bytes become zeros where the
// length matters to nobody but the layout. A packet that may hold a secret and cannot be decoded is cut down to its id.
// data itself is not changed.
func Redact(p registry.Protocol, s State, d Direction, data []byte) []byte {
	id, n := varint(data)
	if n <= 0 || !mayHoldSecret(kindOf(p, s, d, id)) {
		return data
	}
	own := append([]byte(nil), data...)
	pk, err := DecodePacket(p, s, d, own)
	if err != nil {
		return own[:n]
	}
	blank(pk)
	out, err := EncodePacket(nil, p, s, d, pk)
	if err != nil {
		return own[:n]
	}
	return out
}

func mayHoldSecret(k kind) bool {
	switch k {
	case kindIntention, kindHelloClientbound, kindKey, kindCustomQuery, kindCustomQueryAnswer, kindCookieResponse, kindStoreCookie,
		kindResourcePackPush, kindChat, kindChatCommand, kindChatCommandSigned, kindChatSessionUpdate, kindPlayerChat,
		kindPlayerInfoUpdate:
		return true
	}
	return false
}

// blank takes the secrets out of a packet.
func blank(pk Packet) {
	switch p := pk.(type) {
	case *Intention:
		p.Host, _, _ = strings.Cut(p.Host, "\x00")
	case *HelloClientbound:
		zero(p.PublicKey, p.Challenge)
	case *Key:
		zero(p.Secret, p.Challenge)
	case *CustomQuery:
		zero(p.Data)
	case *CustomQueryAnswer:
		zero(p.Data)
	case *CookieResponse:
		zero(p.Payload)
	case *StoreCookie:
		zero(p.Payload)
	case *ResourcePackPush:
		p.URL = withoutQuery(p.URL)
	case *Chat:
		clear(p.Signature[:])
	case *ChatCommand:
		blankCommand(p)
	case *ChatCommandSigned:
		blankCommand((*ChatCommand)(p))
	case *ChatSessionUpdate:
		zero(p.Session.PublicKey, p.Session.KeySignature)
	case *PlayerChat:
		blankPlayerChat(p)
	case *PlayerInfoUpdate:
		for i := range p.Entries {
			zero(p.Entries[i].Session.PublicKey, p.Entries[i].Session.KeySignature)
		}
	}
}

// passwordCommands are commands of common account plug-ins; what follows them is a password.
var passwordCommands = map[string]bool{
	"login": true, "l": true, "log": true, "register": true, "reg": true, "changepassword": true, "changepass": true, "cp": true,
	"unregister": true, "premium": true, "2fa": true, "totp": true, "email": true,
}

func blankCommand(p *ChatCommand) {
	if name, _, ok := strings.Cut(p.Command, " "); ok && passwordCommands[strings.ToLower(name)] {
		p.Command = name
	}
	for i := range p.Signatures {
		clear(p.Signatures[i].Signature[:])
	}
}

func blankPlayerChat(p *PlayerChat) {
	clear(p.Signature[:])
	for i := range p.Previous {
		clear(p.Previous[i].Signature[:])
	}
}

func zero(parts ...[]byte) {
	for _, b := range parts {
		clear(b)
	}
}

// withoutQuery cuts an address at its query or fragment and takes user and password out.
func withoutQuery(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if slash {
		host += "/"
	}
	return scheme + "://" + host + path
}
