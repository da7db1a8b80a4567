package main

import (
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newVersion(g *globals) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "which version of the program this is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := g.printer(cmd)
			p.say("blockworld %s", programVersion())
			return p.result(map[string]any{"version": programVersion()})
		}}
}

// programVersion is the version that the program was built as.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	return buildVersion(info)
}

// buildVersion is the module's version, with the revision if that does not tell it already.
func buildVersion(info *debug.BuildInfo) string {
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "dev"
	}
	for _, s := range info.Settings {
		if short := s.Value[:min(12, len(s.Value))]; s.Key == "vcs.revision" && !strings.Contains(v, short) {
			v += " (" + short + ")"
		}
	}
	return v
}
