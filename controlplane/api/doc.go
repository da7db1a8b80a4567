// Package api is the control plane's HTTP interface: JSON for people's programs and agents, and the host protocol.
//
//	request -> limits -> token -> parameters -> strict body -> gateway or host service -> answer, or a problem with its code
//
// Every request ends in one call of the gateway, which decides; this face adds no power and takes none away. The document at
// /openapi.json is generated from the types that requests are read into and answers written from.
//
// Invariants:
//   - who asks is the token's word, never the body's;
//   - a request that is refused here has reached no gateway, so nothing is stored;
//   - no secret, header, query or body is logged;
//   - no request makes the process panic, and none waits longer than 25 seconds but an event stream;
//   - it listens on loopback, unless that is asked for and tokens are on.
package api
