package v1

import (
	"encoding/json"

	"blockworld/controlplane"
	"blockworld/effects/host"
)

// Capabilities lists what an actor can be asked for.
type Capabilities struct {
	Capabilities []Capability `json:"capabilities"`
}

// Capability is one capability with the contract that asking for it is under.
type Capability struct {
	controlplane.CapabilityView
	Contract Contract `json:"contract"`
}

// Contract is what whoever asks for an effect can rely on: seven things, each there for every capability.
type Contract struct {
	Capability  string          `json:"capability" doc:"its name"`
	Authority   host.Authority  `json:"authority" doc:"whose word an outcome is: client-advisory or server"`
	Request     json.RawMessage `json:"request" doc:"closed JSON Schema of the arguments"`
	Result      string          `json:"result" doc:"the type in this document that the answer has"`
	DryRun      string          `json:"dry_run" doc:"how to ask what would happen; empty: asking is itself without effect"`
	Idempotency string          `json:"idempotency" doc:"what makes a repeated request the same request"`
	Receipt     string          `json:"receipt" doc:"the grades of proof that confirm it; none: it has no receipt"`
	Rollback    string          `json:"rollback" doc:"none, not_reversible or compensating_action; never automatic"`
}

// ContractOf is the contract of a capability as it was published.
func ContractOf(c controlplane.CapabilityView, by host.Authority) Contract {
	k := Contract{
		Capability: c.Name, Authority: by, Request: c.Schema, Rollback: c.Rollback,
		Result: "OperationView", DryRun: "POST /v1/explain", Idempotency: "principal and key",
		Receipt: c.LeastGrade + " to " + c.Grade,
	}
	if c.LeastGrade == c.Grade {
		k.Receipt = c.Grade
	}
	switch c.Kind {
	case host.KindRead:
		k.Result, k.DryRun, k.Idempotency, k.Receipt = "Output", "", "a read changes nothing", "none"
	case host.KindMacro:
		k.Receipt = "none of its own: each of its children has one"
	}
	return k
}
