package builder

import (
	"crypto/rand"
	"io"

	"blockworld/effects"
)

// Gate is asked before every mark: may this be done, and under which action id? It is what lets a control plane stand in
// front of a mission.
type Gate interface {
	// Ask must not block. Reply may be called from any goroutine and before Ask returns. A second call without OK takes the
	// leave back as far as it has not been used; a walk under it stops.
	Ask(q Question, reply func(Leave))
	// Unused says that nothing is marked under a leave and nothing ever will be, and why.
	Unused(op effects.ActionID, code, why string)
}

// Question is one effect that a mission wants to have.
type Question struct {
	Key      string // unique among the questions of a site in this process
	Step     int    // of the plan
	Request  effects.Request
	Distance int32 // cells walked, of a move_to
	// Bind gives the binding under an action id; nothing else of it depends on the id. It may be called from any goroutine.
	Bind func(effects.ActionID) effects.Binding
}

// Leave is the answer to a question. The zero Leave denies.
type Leave struct {
	OK      bool
	Op      effects.ActionID // with OK: the action's id
	Again   bool             // without OK: the reason may pass, ask again when facts change
	Alike   bool             // without OK and Again: it holds for every step that places the same block
	Code    string
	Message string
}

// Alone is the gate of a program without a control plane in front: it gives every leave at once. The guard and the journal
// still have their say. The zero Alone draws ids from crypto/rand.
type Alone struct{ Rand io.Reader }

// Ask implements Gate.
func (a Alone) Ask(_ Question, reply func(Leave)) {
	r := a.Rand
	if r == nil {
		r = rand.Reader
	}
	id, err := effects.NewActionID(r)
	if err != nil {
		reply(Leave{Code: "internal", Message: err.Error()})
		return
	}
	reply(Leave{OK: true, Op: id})
}

// Unused implements Gate.
func (Alone) Unused(effects.ActionID, string, string) {}

// closed is no gate: it denies everything.
type closed struct{}

func (closed) Ask(_ Question, reply func(Leave)) {
	reply(Leave{Code: "no_gate", Message: "this mission has no gate, so nothing may be done"})
}
func (closed) Unused(effects.ActionID, string, string) {}
