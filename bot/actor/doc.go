// Package actor does the ten capabilities on one session, for callers that are no mission of many steps: a Go program, a
// protocol server, `probe --try`.
//
//	request -> bind -> sentinel.Decide -> journal.Mark -> Sent -> egress        (Do)
//	request -> bind -> sentinel.Decide -> Prepared                              (Prepare: nothing sent, nothing stored)
//	Prepared -> sentinel.Decide -> journal.Mark -> Sent -> egress               (Execute: that binding, nothing bound anew)
//	server fact -> judge of the effect -> verdict -> journal.Settle -> Effect
//
// In: an effects.Request. Out: a Result, one type per capability, or an error; a *Denied when the guard said no, and then
// nothing was sent. What the server did is in Effect.Verdict, never in the error: an effect whose proof did not come is an
// unverified_effect without a receipt, not a failure to be tried again.
//
// Invariants:
//   - one effect is under way at a time; reads never wait for it and write nothing, not on the wire and not on disk;
//   - a mark is durable before the first packet of its action, a verdict before Do returns it;
//   - the guard is asked when an action is bound and again right before its first packet;
//   - a cell whose last action is unresolved is barred, and no action is ever repeated by itself;
//   - the cursor is the count of proven steps with the states of their cells: when somebody changes one, every effect is
//     denied until the owner calls TakeWorldAsItIs.
package actor
