package policy

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"blockworld/effects/host"
)

// kernelID is a row of the kernel's table; the number is its place.
type kernelID uint8

const (
	kernelCode kernelID = iota
	kernelFiles
	kernelNative
	kernelAuthority
	kernelSecret
	kernelEffect
	kernelScope
	kernelOwnership
	kernelShape
	kernelProfile
	kernelEpoch
	kernelPrincipal
	kernelActor
	kernelServer
	kernelCount
)

// kernelSet is a set of kernel rows. A row that is in it refuses.
type kernelSet uint16

const wholeKernel kernelSet = 1<<kernelCount - 1

func (s kernelSet) has(id kernelID) bool { return s&(1<<id) != 0 }

// first returns the row that owns the refusal; kernelCount when nothing refuses.
func (s kernelSet) first() kernelID {
	if s == 0 {
		return kernelCount
	}
	return kernelID(bits.TrailingZeros16(uint16(s)))
}

// kernel is the table, in order: what no profile and no rule can allow. Its conditions are in freeze and context.
var kernel = [kernelCount]struct {
	code   Code
	effect bool // about one effect; otherwise about the action
	why    string
	fine   string // what is so when it does not refuse
}{
	kernelCode: {CodeKernelCode, true, "it would run arbitrary code; that is never allowed, whatever the profile and the rules say",
		"it runs no code"},
	kernelFiles: {CodeKernelFiles, true, "it would read or write files; that is never allowed, whatever the profile and the rules say",
		"it touches no files"},
	kernelNative: {CodeKernelNative, true, "it would make native calls; that is never allowed, whatever the profile and the rules say",
		"it makes no native calls"},
	kernelAuthority: {CodeKernelAuthority, true, "it would use or claim authority that it was not given, as every slash command does; say it without the slash, or have a person do it",
		"it claims no authority that it was not given"},
	kernelSecret: {CodeKernelSecret, true, "it would tell a secret, or something in the shape of a token; leave that out",
		"it tells no secret"},
	kernelEffect: {CodeUnknownEffect, true, "the kind of effect is not registered; the kinds are " + kindList,
		"its kind is registered"},
	kernelScope: {CodeUnknownScope, true, "the plot is not registered for this server and world; register it under plots",
		"its plot is registered, or it names none"},
	kernelOwnership: {CodeOwnershipUnknown, true, "nobody knows whose the target is; move closer until it is loaded, or give the plot an owner",
		"it is known whose the target is"},
	kernelShape: {CodeInvalidEffect, true, "the effect contradicts itself or has a field outside its set; the host must bind it again",
		"the effect is whole and does not contradict itself"},
	kernelProfile: {CodeInvalidProfile, false, "there is no valid profile in force; compile the policy with one of guarded, survival, open, privileged-custom",
		"a profile is in force"},
	kernelEpoch: {CodeInvalidEpoch, false, "the epoch is not valid; wait until the host has published, and bind again",
		"the epoch is valid"},
	kernelPrincipal: {CodeInvalidPrincipal, false, "the principal is no valid name; principals come from the daemon's tokens, never from a request",
		"the principal has a valid name"},
	kernelActor: {CodeInvalidActor, false, "actor or task is no valid name: lower case letters, digits and . _ : / - only",
		"actor and task have valid names"},
	kernelServer: {CodeUnknownServer, false, "rules or budgets name a server or a world, and it is not known where the actor is; wait until the host has published",
		"the actor's server and world are known, or no rule and no budget names one"},
}

const kindList = "world.read, world.place, world.build, actor.move, actor.look, actor.equip, chat.say"

// noPlot is the number of effects on no plot; registered plots count from 1.
const noPlot = 0

// effect is one preview in the words of the tables.
type effect struct {
	kind       Kind
	operation  Operation
	ownership  Ownership
	risk       Risk
	reversible bool
	plot       int32
	refused    kernelSet
}

// freeze reads one preview and says which rows of the kernel it meets.
func (e *Engine) freeze(f *Facts, p *host.Preview) effect {
	v := effect{
		kind: kindOf(p.Kind), operation: operationOf(p.Operation), ownership: ownershipOf(p.Ownership),
		risk: riskOf(p.Risk), reversible: p.Reversible,
	}
	if v.kind == KindUnknown {
		v.refused |= 1<<kernelEffect | classOf(p.Kind)
	} else if !kindOperations[v.kind].has(uint8(v.operation)) {
		v.refused |= 1 << kernelShape
	}
	for _, tag := range p.Tags {
		v.refused |= classOf(string(tag))
		if !isName(string(tag)) {
			v.refused |= 1 << kernelShape
		}
	}
	if v.operation == OperationUnknown || v.risk == RiskUnknown || p.Quantity < 0 || len(p.Tags) > host.MaxEffects {
		v.refused |= 1 << kernelShape
	}
	if p.Text != "" {
		v.refused |= e.said(p.Text)
	}
	if p.Scope != "" {
		v.refused |= e.locate(f, p.Scope, &v)
	}
	if v.ownership == OwnershipUnknown {
		v.refused |= 1 << kernelOwnership
	}
	return v
}

// locate finds the plot and lets the registry say whose it is. A host that does not know stays in doubt.
func (e *Engine) locate(f *Facts, scope host.Name, v *effect) kernelSet {
	n, ok := e.plotNumber[scope]
	if !ok || !e.plots[n-1].covers(f) {
		return 1 << kernelScope
	}
	v.plot = n
	if v.ownership != OwnershipUnknown {
		v.ownership = e.plots[n-1].to(f.Principal)
	}
	return 0
}

// covers tells whether the plot lies where the actor is.
func (p *Plot) covers(f *Facts) bool {
	return (p.Server == "" || p.Server == f.Server || p.Server == address(f.Server)) && (p.World == "" || p.World == f.World)
}

// to says whose the plot is to a principal.
func (p *Plot) to(principal host.Name) Ownership {
	switch {
	case p.Owner != "" && p.Owner == principal:
		return OwnershipOwn
	case p.Ownership != OwnershipUnknown:
		return p.Ownership
	case p.Owner != "":
		return OwnershipPlayer
	}
	return OwnershipUnknown
}

// address is the part of a server identity that an operator types: what stands before " (".
func address(server string) string {
	if i := strings.Index(server, " ("); i >= 0 {
		return server[:i]
	}
	return server
}

// said reads a line to be said.
func (e *Engine) said(text string) (s kernelSet) {
	says := e.secrets.read(text)
	if says&textCommand != 0 {
		s |= 1 << kernelAuthority
	}
	if says&textSecret != 0 {
		s |= 1 << kernelSecret
	}
	if says&textBad != 0 {
		s |= 1 << kernelShape
	}
	return s
}

// context says which rows about the whole action refuse.
func (e *Engine) context(f *Facts) (s kernelSet) {
	if n := len(f.Effects); n == 0 || n > host.MaxEffects {
		s |= 1 << kernelShape
	}
	if !e.compiled || e.profile >= profileCount {
		s |= 1 << kernelProfile
	}
	if !f.Epoch.Valid() {
		s |= 1 << kernelEpoch
	}
	if !isName(string(f.Principal)) {
		s |= 1 << kernelPrincipal
	}
	if !isName(string(f.Actor)) || f.Task != "" && !isName(string(f.Task)) {
		s |= 1 << kernelActor
	}
	if e.needsServer && f.Server == "" || e.needsWorld && f.World == "" {
		s |= 1 << kernelServer
	}
	return s
}

// isName is host.Name.Check without an error to build.
func isName(s string) bool {
	if s == "" || len(s) > host.MaxName {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !nameByte[c] || i == 0 && !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

var nameByte = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789._:/-") {
		t[c] = true
	}
	return t
}()

// kernelReason puts the refusal of row id into words. Of several effects that meet it, the one whose words sort first is
// told, so that their order does not matter. What is said in chat is never repeated.
func kernelReason(id kernelID, f *Facts, views []effect) string {
	detail := ""
	for i := range views {
		if !views[i].refused.has(id) {
			continue
		}
		if d := kernelDetail(id, &f.Effects[i]); detail == "" || d < detail {
			detail = d
		}
	}
	if detail == "" {
		return kernel[id].why
	}
	return detail + ": " + kernel[id].why
}

func kernelDetail(id kernelID, p *host.Preview) string {
	switch id {
	case kernelCode, kernelFiles, kernelNative, kernelAuthority, kernelSecret:
		if t := slices.IndexFunc(p.Tags, func(t host.Name) bool { return classOf(string(t)).has(id) }); t >= 0 {
			return "effect " + quote(p.Kind) + " with tag " + quote(string(p.Tags[t]))
		}
	case kernelScope, kernelOwnership:
		if p.Scope != "" {
			return "plot " + quote(string(p.Scope))
		}
	case kernelShape:
		return fmt.Sprintf("effect %s with operation %s, risk %s and quantity %d", quote(p.Kind), quote(p.Operation), quote(p.Risk), p.Quantity)
	}
	return "effect " + quote(p.Kind)
}

// quote writes foreign text bounded and with its control characters escaped.
func quote(s string) string {
	if len(s) > host.MaxName {
		s = s[:host.MaxName]
		for !utf8.ValidString(s) && len(s) > host.MaxName-utf8.UTFMax {
			s = s[:len(s)-1]
		}
	}
	return fmt.Sprintf("%q", s)
}
