// Package controlplane is the gateway: the one way to change a world, and the service that hosts talk to.
//
//	caller: Submit -> checks -> the host binds -> checks again, policy, one transaction -> View
//	host:   Register, Publish, Poll -> Answer, Ack, Run, Outcome -> operation.Step -> one transaction -> reply
//
// What is durable (operations, reservations, keys, leases, stops, blueprints) is decided by one writer: the function given
// to store.Engine.Update, which runs alone and in order. What is volatile (sessions, publications, requests under way,
// challenges, those who wait) lies under one mutex.
//
// Who approves a macro approves the children inside what they were shown: these are not asked about again while the macro
// runs, in its epoch and under the policy of the approval. Everything else decides about them as about any operation.
//
// Invariants:
//   - lock order: turn to stop or clear, writer, mutex; who holds the mutex never calls the store, a host or a caller;
//   - operation.Step alone changes a status, and its record, reservations and key go to disk in one transaction;
//   - a reply leaves after its commit, and an attempt is durable before its delivery leaves;
//   - reads, waits and dry runs change no byte on disk;
//   - the clock and randomness are passed in; Sweep is the one thing that acts on time alone.
package controlplane
