// Package token keeps the bearer tokens of the control plane: who shows one is known by it.
//
//	secret -> SHA-256 -> record -> compared in constant time -> what it is good for
//
// A token speaks for a principal (kind user) or for a host (kind host), never for both. Its secret is told once, when it is
// made; what is stored is a digest over its 256 random bits, which is as good as any slower hash of something guessable.
//
// Invariants:
//   - no secret is stored, logged or part of an error;
//   - looking a token up writes nothing;
//   - that a token was revoked or has expired is told to whoever shows all of it, and to nobody else.
package token
