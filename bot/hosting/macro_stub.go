package hosting

import (
	"context"
	"time"

	"blockworld/effects/host"
)

// BuildStructure is the name of the macro that builds a blueprint.
const BuildStructure = "build_structure"

const macroBudget = 24 * time.Hour

const buildSchema = `{}`

type macroStatus struct{}

type macro struct{ op host.OpID }

func (m *macro) work(context.Context)         {}
func (m *macro) status() *macroStatus         { return nil }
func (m *macro) cancel(host.OpID, string)     {}
func (m *macro) stop(string)                  {}
func (r *runner) nextMacro() *macro           { return nil }
func (r *runner) macroAsked() <-chan struct{} { return nil }
func (r *runner) bindMacro(context.Context, *host.Gateway, *macro) (*host.Bound, error) {
	return nil, refuse("unknown_capability", "not yet")
}
func (r *runner) bindChild(context.Context, *host.Gateway, *macro) (*host.Bound, error) {
	return nil, refuse("unbound", "not yet")
}
func (r *runner) deliverMacro(context.Context, *host.Delivery) {}
func (r *runner) deliverChild(context.Context, *host.Delivery) {}
