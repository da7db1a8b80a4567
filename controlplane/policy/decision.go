package policy

// Code is the stable code of a decision.
type Code string

// The codes of the kernel, in the order of its table; they deny.
const (
	CodeKernelCode       Code = "kernel_code"
	CodeKernelFiles      Code = "kernel_files"
	CodeKernelNative     Code = "kernel_native"
	CodeKernelAuthority  Code = "kernel_authority"
	CodeKernelSecret     Code = "kernel_secret"
	CodeUnknownEffect    Code = "unknown_effect"
	CodeUnknownScope     Code = "unknown_scope"
	CodeOwnershipUnknown Code = "ownership_unknown"
	CodeInvalidEffect    Code = "invalid_effect"
	CodeInvalidProfile   Code = "invalid_profile"
	CodeInvalidEpoch     Code = "invalid_epoch"
	CodeInvalidPrincipal Code = "invalid_principal"
	CodeInvalidActor     Code = "invalid_actor"
	CodeUnknownServer    Code = "unknown_server"
)

// The codes of rules, profiles and budgets.
const (
	CodeRuleDenied      Code = "rule_denied"
	CodeProfileDenied   Code = "profile_denied"
	CodeBudgetExceeded  Code = "budget_exceeded" // Decision.Budget names it
	CodeClockUnknown    Code = "clock_unknown"   // a budget with a window matches and there is no game tick
	CodeUsageUnknown    Code = "usage_unknown"   // a budget matches and nobody can say what is spent
	CodeRuleConfirms    Code = "rule_confirms"
	CodeProfileConfirms Code = "profile_confirms"
	CodeRuleAllowed     Code = "rule_allowed"
	CodeProfileAllowed  Code = "profile_allowed"
	CodeConfirmed       Code = "confirmed" // would be confirmed, and was
	CodeApproved        Code = "approved"  // would be confirmed, and its macro was, with this in view
)

// MaxRulesTold bounds Decision.Rules; Explain lists all.
const MaxRulesTold = 32

// Reservation is what an allowed action takes from a budget until it is accepted (then it is used) or refused (then it is free).
type Reservation struct {
	Budget   string `json:"budget"`
	Window   int64  `json:"window"` // game tick divided by the budget's window; 0 for a budget without one
	Count    int64  `json:"count"`
	Quantity int64  `json:"quantity"`
}

// Decision is the answer to one Facts. The zero Decision denies.
type Decision struct {
	Result       Result        `json:"result"`
	Code         Code          `json:"code"`
	Reason       string        `json:"reason"`                 // in plain words: what decided, and what a person can do about a refusal
	Revision     string        `json:"revision"`               // of the config
	Rules        []string      `json:"rules,omitempty"`        // ids of the rules that matched, the deciding first when a rule decides; at most MaxRulesTold
	Matched      int           `json:"matched"`                // how many matched
	Budget       string        `json:"budget,omitempty"`       // the budget that refused
	Reservations []Reservation `json:"reservations,omitempty"` // to store with the operation; only with Allow, by budget id
}

// Part says which part of the policy a Line is about.
type Part string

// The parts, in the order in which Explain lists them.
const (
	PartKernel   Part = "kernel"
	PartRule     Part = "rule"
	PartProfile  Part = "profile"
	PartBudget   Part = "budget"
	PartDecision Part = "decision" // the last line: what Decide says
)

// Line is one line of an explanation: one part of the policy asked about one effect.
type Line struct {
	Part    Part   `json:"part"`
	ID      string `json:"id"`               // kernel code, rule id, profile name, budget id or decision code
	Effect  int    `json:"effect"`           // index of the effect; -1 when it is about the action
	Matched bool   `json:"matched"`          // kernel: refuses; rule, profile: speaks of the effect; budget: counts the action
	Result  Result `json:"result"`           // what it says when it matches; a budget that has room allows
	Missed  string `json:"missed,omitempty"` // the first field that did not match
	Why     string `json:"why"`              // in plain words
	Left    *Left  `json:"left,omitempty"`   // budgets that match: what is left before this action
}

// Left is what a budget holds before an action. A negative count or quantity means no limit of that sort.
type Left struct {
	Window   int64 `json:"window"`
	Count    int64 `json:"count"`
	Quantity int64 `json:"quantity"`
}
