package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/hosting"
	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/conformance"
	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/sentinel"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// world starts an embedded server and says how our host would join it.
func world(t *testing.T) (*server.Server, hosting.Config) {
	t.Helper()
	s, err := server.Start(server.Config{Protocol: registry.V1_21_7, GameMode: worldstate.Creative, ViewDistance: 2, LogPackets: true,
		KeepAlive: 1 << 30, Tick: 8 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	o := bot.Options{Address: s.Addr(), Username: "Tester", Protocol: registry.V1_21_7, RuntimeDir: t.TempDir(), ViewDistance: 2, Tick: 20 * time.Millisecond}
	found, err := bot.Probe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	boxes := sentinel.PlotOf(geom.BlockBox{Min: geom.BlockPos{X: -3, Y: -60, Z: -3}, Max: geom.BlockPos{X: 12, Y: -50, Z: 12}})
	return s, hosting.Config{
		Name: "bots", Publish: 50 * time.Millisecond, Repeat: 200 * time.Millisecond,
		Rejoin: bot.Backoff{Min: 20 * time.Millisecond, Max: 200 * time.Millisecond}, Reregister: bot.Backoff{Min: 20 * time.Millisecond, Max: 200 * time.Millisecond},
		CodeOf: daemonCode,
		Actors: []hosting.ActorConfig{{ID: "builder-1", Options: o, Dir: t.TempDir(), Profile: found.Profile(time.Now(), profile.AcceptAttributed),
			Plots: []hosting.Plot{{ID: "garden", Boxes: boxes, Ownership: "own"}}}},
	}
}

// conforms runs the suite over our host.
func conforms(t *testing.T, s *server.Server, cfg hosting.Config, suite *conformance.Suite) {
	t.Helper()
	h, err := hosting.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := h.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the host ended: %v", err)
		}
	}()
	all := suite.Run(t.Context(), nil)
	stop()
	<-ended
	for _, r := range all {
		t.Logf("%-18s %-8s %s", r.Check, r.Status, r.Reason)
	}
	if !conformance.Conforms(all) {
		t.Error("our host does not conform")
	}
}

func TestOurHostConforms(t *testing.T) {
	t.Parallel()
	options := func(s *server.Server) conformance.Options {
		return conformance.Options{Patience: 20 * time.Second, Quiet: 200 * time.Millisecond, Sent: func() int { return effectPackets(s) }}
	}
	t.Run("CP-82,CP-88/the bots' host in process, packets counted at the server", func(t *testing.T) {
		s, cfg := world(t)
		suite := conformance.New(options(s))
		cfg.Daemon = suite.Desk
		conforms(t, s, cfg, suite)
	})
	t.Run("CP-82,CP-84,CP-86/the bots' host over HTTP", func(t *testing.T) {
		s, cfg := world(t)
		suite := conformance.New(options(s))
		h, err := suite.Desk.Handler("secret")
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(h)
		defer web.Close()
		c, err := client.NewHost(client.Options{Base: web.URL, Token: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		cfg.Daemon = c
		conforms(t, s, cfg, suite)
	})
	t.Run("a wrong bearer token gets nowhere", func(t *testing.T) {
		suite := conformance.New(conformance.Options{})
		h, err := suite.Desk.Handler("secret")
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(h)
		defer web.Close()
		for _, token := range []string{"", "wrong"} {
			c, err := client.NewHost(client.Options{Base: web.URL, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Register(t.Context(), host.Manifest{Host: "bots", Revision: "1", Authority: host.ClientAdvisory,
				Actors: []host.Actor{{ID: "a", Mode: "attached"}}}); controlplane.CodeOf(err) == controlplane.CodeInternal || err == nil {
				t.Errorf("token %q: %v", token, err)
			}
		}
	})
}
