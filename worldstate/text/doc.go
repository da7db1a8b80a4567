// Package text turns the game's text components into plain text.
//
// In flow components as a server sends them (network NBT from 1.20.3 on, JSON before and in the login phase), out flows
// one line of bounded length without control characters, colour codes or invisible direction marks. The text stays
// what it was: untrusted data from the world, to be shown quoted and never to be read as anything else.
package text
