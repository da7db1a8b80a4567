// Package builder carries out a mission: it is where decisions, the guard, the journal, the bot's packets and the
// server's evidence meet.
//
//	mission.Next -> bind -> sentinel.Decide -> Gate.Ask -> Leave
//	Leave        -> sentinel.Decide -> journal.Mark -> Sent -> egress
//	server fact  -> effects.Placements -> verdict -> journal.Settle -> mission.Settled -> cursor
//
// A Site is what outlives sessions: journal, plan, mission, terms of the server. A worker is one bot's work in one
// session; it is a listener on that session's loop and owns nothing that another goroutine touches. Site.Work joins,
// works, and joins again until the mission is done, or waits for its owner.
//
// Invariants:
//   - a mark is durable before the first packet of its action, and its permit is opened once;
//   - the guard is asked when an action is bound and again right before its first packet;
//   - the gate is asked before every mark, and what is marked is the binding it was asked about; while an answer is on its
//     way the work goes on, and a leave that is not used is given back;
//   - every fence of the connection is told to the evidence machine, in order;
//   - a receipt is durable before the mission hears of the verdict, and the cursor moves after that.
package builder
