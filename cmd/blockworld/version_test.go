package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	rev := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, "dev"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{rev}}, "dev (0123456789ab)"},
		{debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-2026-0123456789ab"}, Settings: []debug.BuildSetting{rev}}, "v0.0.0-2026-0123456789ab"},
	} {
		if got := buildVersion(&c.info); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, word := range []string{"version", "--version"} {
		if got := ran(t.Context(), word); got.code != exitDone || !strings.Contains(got.out, programVersion()) {
			t.Error(got)
		}
	}
}
