package controlplane

import (
	"bytes"
	"context"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// maxLooked bounds how many operations one page looks through; a page may then be short and still have a next one.
const maxLooked = 10_000

// Operation looks one operation up. To holders of scope confirm a waiting one shows its challenge.
func (g *Gateway) Operation(ctx context.Context, p Principal, id host.OpID) (operation.View, error) {
	if err := p.check(ScopeRead); err != nil {
		return operation.View{}, err
	}
	op, err := g.operation(&p, id)
	if err != nil {
		return operation.View{}, err
	}
	return g.show(&p, op), nil
}

func (g *Gateway) operation(p *Principal, id host.OpID) (op operation.Operation, err error) {
	err = g.view(func(tx store.Tx) (err error) {
		op, err = g.visible(tx, p, id)
		return err
	})
	return op, err
}

// Operations lists operations of actors that p sees, newest first; a macro's children oldest first.
func (g *Gateway) Operations(ctx context.Context, p Principal, f Filter) (Page, error) {
	if err := p.check(ScopeRead); err != nil {
		return Page{}, err
	}
	if f.Limit < 0 || f.Limit > MaxList {
		return Page{}, Errorf(CodeInvalid, "limit %d is not within 1..%d", f.Limit, MaxList).with("field", "limit")
	}
	if f.Limit == 0 {
		f.Limit = 50
	}
	var page Page
	err := g.view(func(tx store.Tx) (err error) {
		page, err = g.list(tx, &p, &f)
		return err
	})
	return page, err
}

// list fills one page.
func (g *Gateway) list(tx store.Tx, p *Principal, f *Filter) (Page, error) {
	purpose := "list " + string(f.Actor) + " " + string(f.Task) + " " + f.Parent.String()
	var after store.Place
	if f.After != "" {
		var ok bool
		if after, ok = g.placeOf(purpose, f.After); !ok {
			return Page{}, Errorf(CodeInvalid, "this is no cursor of such a list: begin without one").with("field", "after")
		}
	}
	page := Page{Operations: []operation.View{}}
	looked := 0
	var last store.Place
	each := func(op operation.Operation) bool {
		if len(page.Operations) == f.Limit || looked == maxLooked {
			page.Next = g.placeCursor(purpose, last)
			return false
		}
		looked++
		last = store.Place{Created: op.Created, ID: op.ID}
		if p.Sees(op.Actor) && f.wants(&op) {
			page.Operations = append(page.Operations, operation.ViewOf(op))
		}
		return true
	}
	var err error
	switch {
	case f.Parent != (host.OpID{}):
		err = store.Ops(tx).ByParent(f.Parent, func(op operation.Operation) bool {
			return bytes.Compare(op.ID[:], after.ID[:]) <= 0 || each(op) // it has no places of its own
		})
	case f.Task != "":
		err = store.Ops(tx).ByTask(f.Task, after, each)
	case f.Actor != "":
		err = store.Ops(tx).ByActor(f.Actor, after, each)
	default:
		err = store.Ops(tx).All(after.ID, each)
	}
	return page, err
}

// Cancel asks for the end of an operation and of its children; it undoes nothing. Needs scope cancel.
func (g *Gateway) Cancel(ctx context.Context, p Principal, id host.OpID, why string) (operation.View, error) {
	if len(why) > host.MaxText {
		return operation.View{}, Errorf(CodeInvalid, "why is longer than %d bytes", host.MaxText).with("field", "why")
	}
	v, err := g.act(&p, ScopeCancel, id, operation.CancelAsked{By: p.ID, Why: why})
	if err == nil {
		g.opt.At(AfterCancel)
	}
	return v, err
}

// AcceptUnverified closes an unknown outcome as what it is; needs scope admin. It is not success, and it is final.
func (g *Gateway) AcceptUnverified(ctx context.Context, p Principal, id host.OpID) (operation.View, error) {
	return g.act(&p, ScopeAdmin, id, operation.Accept{By: p.ID})
}

// act steps an operation for a principal.
func (g *Gateway) act(p *Principal, need Scope, id host.OpID, ev operation.Event) (operation.View, error) {
	if err := p.check(need); err != nil {
		return operation.View{}, err
	}
	var op operation.Operation
	err := g.update(func(w *work) (err error) {
		if op, err = g.visible(w.tx, p, id); err != nil {
			return err
		}
		op, err = w.apply(op, ev)
		return err
	})
	if err != nil {
		return operation.View{}, err
	}
	return g.show(p, op), nil
}

// PutBlueprint stores a blueprint for macros under a name and returns its digest; needs scope execute. Equal content is
// stored once.
func (g *Gateway) PutBlueprint(ctx context.Context, p Principal, name host.Name, data []byte) (BlueprintView, error) {
	if err := p.check(ScopeExecute); err != nil {
		return BlueprintView{}, err
	}
	if err := name.Check("name"); err != nil {
		return BlueprintView{}, invalid("name", err)
	}
	if len(data) == 0 || len(data) > MaxBlueprint {
		return BlueprintView{}, Errorf(CodeTooLarge, "a blueprint has 1 to %d bytes, not %d", MaxBlueprint, len(data)).with("field", "data")
	}
	v := BlueprintView{Name: name, Size: int64(len(data))}
	err := g.update(func(w *work) error {
		v.Digest = store.BlueprintsOf(w.tx).Put(name, data)
		return nil
	})
	return v, err
}

// Blueprints lists the stored blueprints, by name.
func (g *Gateway) Blueprints(ctx context.Context, p Principal) ([]BlueprintView, error) {
	if err := p.check(ScopeRead); err != nil {
		return nil, err
	}
	out := []BlueprintView{}
	err := g.view(func(tx store.Tx) error {
		all := store.BlueprintsOf(tx)
		all.Each(func(name host.Name, d effects.Digest) bool {
			out = append(out, BlueprintView{Name: name, Digest: d, Size: int64(len(all.Get(d)))})
			return true
		})
		return nil
	})
	return out, err
}
