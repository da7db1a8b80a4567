// Package client speaks the control plane's HTTP interface.
//
//	call -> one request, repeated only where a repeat changes nothing -> answer, or *controlplane.Error with its code
//
// Client is a caller's side and has the gateway's methods without the principal, which its token stands for. HostClient is a
// host's side and has the host service's methods.
//
// Invariants:
//   - what could act twice is sent once; submits are repeated under their key;
//   - a refusal comes out as the *controlplane.Error that the gateway made;
//   - the token goes to the base address and nowhere else: redirects are not followed.
package client
