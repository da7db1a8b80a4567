package controlplane

import (
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// counted adds to the end of a macro what its children prove. A child that is not there any more proves nothing.
func (w *work) counted(op *operation.Operation, ev operation.Event) (operation.Event, error) {
	o, is := ev.(operation.OutcomeCame)
	if !is || op.Kind != host.KindMacro || op.Children == 0 || op.Terminal() || o.Outcome.Status != host.Succeeded {
		return ev, nil
	}
	var seen uint32
	err := store.Ops(w.tx).ByParent(op.ID, func(child operation.Operation) bool {
		seen++
		o.Children.Add(&child)
		return true
	})
	o.Children.Unproven += op.Children - min(seen, op.Children)
	return o, err
}
