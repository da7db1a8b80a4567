// Package mcp lets language-model clients use the gateway over the Model Context Protocol, on stdio or streamable HTTP.
//
//	tool call -> strict arguments -> gateway -> answer: what is known, in typed fields; world text under "untrusted"
//
// In: a Gateway with the caller already bound to it, in process or over HTTP. Out: one tool per thing that can be asked,
// with closed schemas and honest hints.
//
// Invariants:
//   - a tool does nothing that the gateway's other faces cannot, and is refused alike, with the same code;
//   - every text that somebody in the world could have written lies in a member named "untrusted" and nowhere else;
//   - the end or cancellation of a tool call cancels no operation: only the tool cancel does;
//   - an answer never says more than the operation's state does; done is said only of what a receipt proves.
package mcp
