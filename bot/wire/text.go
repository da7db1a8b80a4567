package wire

import (
	"encoding/json"
	"fmt"

	"blockworld/worldstate/nbt"
	"blockworld/worldstate/text"
)

// Text is a text component as it stands on the wire: JSON up to 1.20.2, NBT later, JSON always in the login state. The
// zero value is the empty text. Text that came from a server is untrusted.
type Text struct {
	Form TextForm
	Data string
}

// TextForm says how a Text is written down.
type TextForm uint8

// The forms.
const (
	TextLiteral TextForm = iota // Data is plain text; becomes a component of the right form when written
	TextJSON                    // Data is a component in JSON
	TextBinary                  // Data is a component in network NBT
)

// Literal makes a text that reads as s in every version.
func Literal(s string) Text { return Text{Data: s} }

// Text is a component in the form of the version being spoken.
func (io *IO) Text(t *Text) {
	if io.Has(TextNBT) {
		io.nbtText(t)
	} else {
		io.JSONText(t)
	}
}

// JSONText is a component in JSON, in every version.
func (io *IO) JSONText(t *Text) {
	if io.reading {
		var s string
		if io.String(&s, maxText); io.ok() {
			*t = Text{Form: TextJSON, Data: s}
		}
		return
	}
	s := t.Data
	if t.Form != TextJSON {
		b, err := json.Marshal(struct {
			Text string `json:"text"`
		}{t.Plain()})
		if err != nil {
			io.Fail(err)
		}
		s = string(b)
	}
	io.String(&s, maxText)
}

func (io *IO) nbtText(t *Text) {
	if io.reading {
		if b := io.takeNBT(); io.ok() {
			*t = Text{Form: TextBinary, Data: string(b)}
		}
		return
	}
	if t.Form == TextBinary {
		io.putNBT([]byte(t.Data))
		return
	}
	s := t.Plain()
	if 3*len(s) > 0xFFFF {
		io.Fail(fmt.Errorf("%w: text of %d bytes, at most %d", ErrTooLong, len(s), 0xFFFF/3))
		return
	}
	io.putNBT(nbt.Append(nil, nbt.String(s)))
}

// Plain returns the text without its formatting, for people. It is untrusted.
func (t Text) Plain() string {
	if t.Form == TextLiteral {
		return t.Data
	}
	return text.Plain([]byte(t.Data))
}
