package actor

import (
	"crypto/rand"
	"encoding/binary"

	"blockworld/bot"
	"blockworld/bot/egress"
	"blockworld/effects"
	"blockworld/sentinel"
)

// saying is a say: one public line, unsigned, proven by its own echo. Only a line that bears our own id counts, whatever
// the server's profile asks for: anybody can repeat a text.
type saying struct {
	common
	text  string
	adm   *admitted
	watch effects.SayWatch
	ticks int
}

// echoTicks is how long the echo may take.
const echoTicks = 100

// bind implements deed.
func (s *saying) bind(tx *bot.Tx) (*bound, error) {
	return s.fixed(tx, func() (proposal, error) {
		if err := egress.CheckText(s.text); err != nil {
			return proposal{}, err
		}
		length, legal := sentinel.TextFacts(s.text)
		return proposal{
			post: effects.LineHeard{Text: s.text}, spend: effects.Budgets{Uses: 1, Characters: int32(length)},
			pre: func(*bot.Tx) sentinel.Pin { return sentinel.PinOf("say", s.text) },
			complete: func(_ *bot.Tx, f *sentinel.Facts) {
				f.Classes, f.TextLength, f.TextLegal = sentinel.TextClass(s.text), length, legal
			},
		}, nil
	})
}

func (s *saying) begin(tx *bot.Tx) error {
	b, err := s.bind(tx)
	if err != nil {
		return err
	}
	adm, err := s.a.admit(tx, b)
	if err != nil {
		return err
	}
	var salt [8]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return err
	}
	s.adm = adm
	s.watch = effects.SayWatch{
		Action: adm.base.Action, Epoch: epoch(tx.View()), Bot: adm.base.Bot, Text: s.text,
		Least: max(adm.base.LeastGrade, effects.Acknowledged),
	}
	err = tx.Out().OpenSay(adm.permit, s.text, s.a.cfg.Now().UnixMilli(), int64(binary.BigEndian.Uint64(salt[:])))
	if err != nil {
		return s.a.failed(tx, adm, err)
	}
	tx.Wake(2)
	return nil
}

func (s *saying) fact(tx *bot.Tx, f effects.Fact) {
	if s.adm == nil {
		return
	}
	if v, ok := s.watch.Observe(f); ok {
		s.a.settle(tx, s.adm, v)
	}
}

func (s *saying) tick(tx *bot.Tx) {
	if s.ticks++; s.adm != nil && s.ticks > echoTicks {
		s.a.settle(tx, s.adm, s.watch.Expire())
	}
}

// cancel takes the line back if it has not been sent.
func (s *saying) cancel(*bot.Tx) {
	if s.adm == nil {
		s.a.end(Effect{}, ErrCancelled)
	}
}

func (s *saying) abandon(tx *bot.Tx) { s.a.settle(tx, s.adm, s.watch.Expire()) }
