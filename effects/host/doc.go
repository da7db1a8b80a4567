// Package host holds the types of the host protocol: what a host, the party that runs bots, and a gateway, the party that
// takes requests, say to each other. Types and their checks only; no transport, no clock, no I/O.
//
//	host -> gateway: Manifest, Publication, Answer, Ack, Run, Outcome, Child
//	gateway -> host: Session, Batch of Gateway requests, Deliveries and Cancellations
//
// An operation's id is the id of the one action that carries it out, so the host's journal is what makes it happen at
// most once: a delivery may come again at any time, an action is marked once for ever.
//
// Invariants:
//   - whatever arrives is checked before it is used (Validate); numbers, texts and lists have limits;
//   - text that comes from the world is data of class untrusted and lives in fields that say so;
//   - what the gateway decides on is in typed fields; prose is never matched.
package host
