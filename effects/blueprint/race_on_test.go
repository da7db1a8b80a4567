//go:build race

package blueprint

// raceEnabled says that the race detector slows everything down, so that a time says nothing.
const raceEnabled = true
