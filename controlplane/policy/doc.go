// Package policy decides what may be done: frozen facts go in, a decision comes out, nothing else happens.
//
// What flows in: a Config, compiled once into an Engine; Facts, what the gateway knows of one bound action; and Usage,
// what the budgets hold so far. What flows out: a Decision, allow, confirm or deny, with the revision of the config, the
// rules that matched, a reason in plain words and, when it allows, the reservations to store with the operation. Explain
// says the same rule by rule.
//
// Four questions, in order; the first that refuses owns the decision:
//
//	kernel    an ordered table (kernel.go) that no profile and no rule can widen
//	rules     layered rules with subjects: deny before confirm before allow over all that match
//	profile   what no rule speaks of: guarded, survival, open, privileged-custom (profiles.go)
//	budgets   count and quantity, for ever or per window of the host clock; an allow reserves first
//
// Every effect of an action is asked; the strictest answer is the action's. A child of a macro that an approver said yes to
// is not asked about again while its effects lie inside what that approver was shown (approval.go); kernel, deny and budgets
// decide about it like about any other.
//
// Invariants:
//   - The zero Decision denies, the zero Engine denies everything, unknown facts deny.
//   - Equal facts, config and usage give equal decisions, byte for byte, whatever the order of rules and of effects.
//   - Only typed fields that a host fills and the gateway's own context are matched, never prose. A line to be said is
//     read for two things alone: that it is no command and tells no secret.
//   - Who owns what stands in a registered plot is the registry's word, not the host's.
//   - No clock, no randomness, no I/O, no floats; maps are looked up in, never walked.
package policy
