package main

import "github.com/spf13/cobra"

// subcommands lists the program's commands in the order of its help.
func subcommands(g *globals) []*cobra.Command {
	return []*cobra.Command{
		newDemo(g), newPing(g), newProbe(g), newPlan(g), newBuild(g), newInspect(g), newRepair(g),
		newServe(g), newCtl(g), newHost(g), newMCP(g), newConformance(g),
		newReceipts(g), newReplay(g), newBench(g), newFixture(g), newVersion(g),
	}
}
