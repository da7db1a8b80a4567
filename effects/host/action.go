package host

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"blockworld/effects"
)

// Action is what a controller asks an actor for.
type Action struct {
	Capability string          `json:"capability"`
	Arguments  json.RawMessage `json:"arguments"`
}

// Validate checks an action's shape; what the arguments mean is the host's word.
func (a *Action) Validate() error {
	if err := Name(a.Capability).Check("capability"); err != nil {
		return err
	}
	if len(a.Arguments) == 0 || len(a.Arguments) > MaxArguments || !json.Valid(a.Arguments) {
		return invalid("the arguments are no JSON of at most %d bytes", MaxArguments)
	}
	return nil
}

// Preview is one effect that a bound action would have, in typed fields that policy decides on. A placement is one; a
// macro has one for the whole of its plan, and its children have their own.
type Preview struct {
	Kind       string    `json:"kind"`      // registered kinds: world.place, actor.move, actor.look, actor.equip, chat.say, world.build
	Operation  string    `json:"operation"` // read, communicate, move, arrange, create, replace, destroy, execute
	Ownership  string    `json:"ownership"` // own, public, shared, player, system, unowned, unknown
	Scope      Name      `json:"scope"`     // plot id; empty for effects on no plot
	Tags       []Name    `json:"tags,omitempty"`
	Risk       string    `json:"risk"` // low, moderate, high, critical
	Reversible bool      `json:"reversible"`
	Quantity   int64     `json:"quantity"` // items used, blocks walked, characters said; at least 0
	Pos        *[3]int32 `json:"pos,omitempty"`
	To         *[3]int32 `json:"to,omitempty"`    // far corner of the box that begins at Pos; missing: Pos alone
	Block      string    `json:"block,omitempty"` // full block state
	Item       string    `json:"item,omitempty"`  // full item name
	Text       string    `json:"text,omitempty"`  // the line to be said
}

// Bound is what the host made of an action: exact targets, what it rests on, what it would change. Nothing in it is altered
// afterwards; an operation is carried out as bound or not at all.
type Bound struct {
	Op           OpID           `json:"op"`
	Binding      []byte         `json:"binding"`      // canonical bytes of the effects.Binding, or of a macro's plan digest; opaque to the gateway
	Digest       effects.Digest `json:"digest"`       // over Binding; what consent, mark and receipt carry
	Precondition effects.Digest `json:"precondition"` // over the facts that it rests on
	Epoch        Epoch          `json:"epoch"`
	Sequence     uint64         `json:"sequence"` // publication at which it was bound
	Effects      []Preview      `json:"effects"`
	Summary      string         `json:"summary"`     // for people: what will happen, concretely
	ValidUntil   int64          `json:"valid_until"` // game tick after which it is not carried out; -1: none
}

// EffectDigest stands for the action and its previews: what a challenge is bound to.
func (b *Bound) EffectDigest() effects.Digest {
	out := append(append(make([]byte, 0, 512), b.Digest[:]...), b.Precondition[:]...)
	for i := range b.Effects {
		out = b.Effects[i].append(out)
	}
	return sha256.Sum256(out)
}

// append writes a preview so that no two that differ are alike: lists and texts behind their lengths, numbers whole.
func (p *Preview) append(b []byte) []byte {
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for _, s := range []string{p.Kind, p.Operation, p.Ownership, string(p.Scope), p.Risk, p.Block, p.Item, p.Text} {
		text(s)
	}
	b = binary.AppendUvarint(b, uint64(len(p.Tags)))
	for _, t := range p.Tags {
		text(string(t))
	}
	for _, corner := range []*[3]int32{p.Pos, p.To} {
		if corner == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		for _, c := range corner {
			b = binary.BigEndian.AppendUint32(b, uint32(c))
		}
	}
	b = binary.BigEndian.AppendUint64(b, uint64(p.Quantity))
	if p.Reversible {
		return append(b, 1)
	}
	return append(b, 0)
}

// Validate checks a bound action: effects with known words and limits. Which words are registered is policy's word.
func (b *Bound) Validate() error {
	switch {
	case b.Op == (OpID{}):
		return invalid("the operation is missing")
	case len(b.Binding) == 0 || len(b.Binding) > MaxArguments:
		return invalid("the binding has %d bytes, 1 to %d are allowed", len(b.Binding), MaxArguments)
	case b.Digest == (effects.Digest{}) || b.Precondition == (effects.Digest{}):
		return invalid("the binding's digest or precondition is missing")
	case !b.Epoch.Valid():
		return invalid("epoch %v is no epoch", b.Epoch)
	case len(b.Effects) == 0 || len(b.Effects) > MaxEffects:
		return invalid("a bound action has 1 to %d effects, not %d", MaxEffects, len(b.Effects))
	}
	if err := checkLine("summary", b.Summary); err != nil {
		return err
	}
	for i := range b.Effects {
		if err := b.Effects[i].validate(); err != nil {
			return fmt.Errorf("effect %d: %w", i, err)
		}
	}
	return nil
}

func (p *Preview) validate() error {
	if p.Scope != "" {
		if err := p.Scope.Check("scope"); err != nil {
			return err
		}
	}
	for _, t := range p.Tags {
		if err := t.Check("tag"); err != nil {
			return err
		}
	}
	for _, text := range []struct{ what, s string }{{"kind", p.Kind}, {"operation", p.Operation}, {"ownership", p.Ownership}, {"risk", p.Risk},
		{"block", p.Block}, {"item", p.Item}} {
		if Line(text.s) != text.s {
			return invalid("%s holds a control character", text.what)
		}
	}
	switch {
	case strings.ContainsFunc(p.Text, unicode.IsControl):
		return invalid("the line to be said holds a control character")
	case len(p.Kind) > MaxName || len(p.Operation) > MaxName || len(p.Ownership) > MaxName || len(p.Risk) > MaxName:
		return invalid("kind, operation, ownership or risk is longer than %d bytes", MaxName)
	case len(p.Tags) > MaxEffects:
		return invalid("more than %d tags", MaxEffects)
	case p.Quantity < 0:
		return invalid("quantity %d", p.Quantity)
	case p.To != nil && (p.Pos == nil || p.To[0] < p.Pos[0] || p.To[1] < p.Pos[1] || p.To[2] < p.Pos[2]):
		return invalid("a box goes from its least corner, pos, to its greatest, to")
	case len(p.Block) > effects.MaxName || len(p.Item) > effects.MaxName || len(p.Text) > 4*effects.MaxText:
		return invalid("block, item or text is too long")
	}
	return nil
}
