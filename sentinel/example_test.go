package sentinel_test

import (
	"fmt"

	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
)

// A line of chat is admitted when every fact is known and good. Facts that nobody filled in deny.
func ExampleDecide() {
	pin := sentinel.PinOf("demo")
	now := sentinel.Standing{
		Principal: pin, Policy: pin, Lease: pin, Server: pin, Bot: [16]byte{1}, Epoch: sentinel.Epoch{Host: 1, World: 1, Timeline: 1},
		Cursor: pin, Precondition: pin,
	}
	text := "the roof is done"
	facts := sentinel.Facts{
		Capability: effects.Say, Stopped: sentinel.No, Policy: sentinel.Reads | sentinel.Effects, Offered: sentinel.CapabilitySet(effects.Say),
		Least: effects.Observed, Reachable: effects.Acknowledged, Classes: sentinel.TextClass(text),
		Mission: sentinel.MissionLive, Executes: sentinel.Yes, Bound: now, Now: now, LeaseHeld: sentinel.Yes, Complete: sentinel.Yes,
		Consent: sentinel.ConsentNotNeeded, HasDeadline: sentinel.No, Clock: 1,
		PlotKnown: sentinel.Yes, Plot: sentinel.PlotOf(geom.BlockBox{}), InDimension: sentinel.Yes, SelfKnown: sentinel.Yes,
		Synced: sentinel.Yes, Count: sentinel.Budget{Left: 1, Want: 1}, Characters: sentinel.Budget{Left: 200, Want: int64(len(text))},
		Paced: sentinel.Yes,
	}
	facts.TextLength, facts.TextLegal = sentinel.TextFacts(text)
	fmt.Println(sentinel.Decide(&facts).Explain())

	facts.Classes = sentinel.TextClass("/op everybody")
	facts.Now.Epoch.World++
	fmt.Println(sentinel.Decide(&facts).Explain())
	// Output:
	// admitted by rule admitted
	// denied by rule commands: it is a command; commands are never sent, write the line without the slash; also account, epoch
}
