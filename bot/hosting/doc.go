// Package hosting runs bots as a host of a control plane: each actor is one live session, and whatever it does was
// delivered as an operation.
//
//	Register -> Publish ... Poll -> Gateway   -> actor.Prepare          -> Answer      (nothing sent, nothing stored)
//	                        Poll -> Delivery  -> Ack -> actor.Execute   -> journal.Settle
//	                        journal's outbox  -> Outcome -> AckOutbox
//	                        Poll -> Cancellation -> Prepared.Cancel, actor.Halt, the end of a macro
//
// A build that its caller has prepared (Prepared) is carried out by the same macro: its site's gate is a desk, which has one
// operation after another submitted for it, and its sessions are the caller's.
//
// Invariants:
//   - an operation's id is its action's id, so a delivery that comes again finds its mark and sends nothing;
//   - a delivery is carried out only after its acknowledgement was taken, by the binding that it was bound to; a binding
//     that this process does not know any more is answered "unbound";
//   - outcomes of what has a mark come from the journal alone; the outbox forgets one only when the daemon has taken it;
//   - after a rejoin everything that a cut left open is judged before anything new is sent;
//   - when an actor's journal cannot be written its session ends, and the journal is opened again before the next one: a disk
//     that was full for a moment needs no restart;
//   - the daemon is whatever satisfies Daemon: in this process or over a network, the host cannot tell.
package hosting
