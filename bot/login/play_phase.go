package login

import (
	"encoding/binary"
	"strings"
	"unicode"

	"blockworld/bot/wire"
)

// play handles what remains of login and configuration in the play phase.
func (m *Machine) play(p wire.Packet) ([]Action, bool, error) {
	switch p.(type) {
	case *wire.LoginPlay:
		m.phase = PhasePlay
		return nil, false, nil
	case *wire.StartConfiguration:
		actions := []Action{Send{&wire.ConfigurationAcknowledged{}}}
		return append(actions, m.enterConfiguration()...), false, nil
	default:
		return m.common(p)
	}
}

const brandChannel = "minecraft:brand"

// wireString is a string with its length in front, as the brand channel carries it.
func wireString(s string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(s))), s...)
}

// brandText reads the brand channel: bounded, printable, or empty.
func brandText(data []byte) string {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) || n > 256 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(data[used:used+int(n)]))
}
