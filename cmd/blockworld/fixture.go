package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"blockworld/fixtures/jar"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

func newFixture(g *globals) *cobra.Command {
	cmd := group(&cobra.Command{Use: "fixture", Short: "test servers: the embedded one, or a server jar of yours"})
	cmd.AddCommand(newFixtureServe(g), newFixtureJar(g))
	return cmd
}

// serveFlags are the flags of fixture serve.
type serveFlags struct {
	listen, version, terrain, mode, faults, save, useLog string
	expose, paper                                        bool
	tick                                                 time.Duration
	view, compression, autoSave                          int
	seed                                                 int64
}

func newFixtureServe(g *globals) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use: "serve", Short: "run the embedded server until it is interrupted", Args: cobra.NoArgs,
		Long: "Runs the embedded Minecraft server: one protocol version, offline mode, on loopback. SIGINT and SIGTERM stop it cleanly\n" +
			"and save; SIGKILL loses what was not saved, like any server.",
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), g.printer(cmd), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:25565", "address to listen on; port 0 takes a free one")
	fl.BoolVar(&f.expose, "expose", false, "allow a --listen that other machines can reach")
	fl.StringVar(&f.version, "version", "1.21.8", "game version")
	fl.StringVar(&f.terrain, "terrain", "flat", "flat or hills")
	fl.StringVar(&f.mode, "gamemode", "creative", "survival or creative")
	fl.DurationVar(&f.tick, "tick", 50*time.Millisecond, "length of a tick")
	fl.StringVar(&f.save, "save", "", "folder of the world; empty keeps it in memory")
	fl.IntVar(&f.autoSave, "save-every", 0, "ticks between two saves of everything, negative for never; 6000 by default")
	fl.StringVar(&f.useLog, "use-log", "", "file that gets a JSON line for every use_item_on")
	fl.StringVar(&f.faults, "faults", "", "faults to make, such as drop:award_stats@3,delay:block_changed_ack=5")
	fl.IntVar(&f.view, "view-distance", 10, "chunks")
	fl.IntVar(&f.compression, "compression", 256, "threshold in bytes, negative for none")
	fl.Int64Var(&f.seed, "seed", 0, "of the hills")
	return cmd
}

// vanillaKeepAlive is how often vanilla asks whether a client is still there; it goes by the clock, not by ticks.
const vanillaKeepAlive = 15 * time.Second

// config reads the flags.
func (f *serveFlags) config() (server.Config, error) {
	proto, ok := registry.ByVersionName(f.version)
	if !ok {
		return server.Config{}, fail(exitUsage, fmt.Errorf("version %q is not one of %s", f.version, versionNames()))
	}
	terrain, ok := server.ParseTerrain(f.terrain)
	if !ok {
		return server.Config{}, fail(exitUsage, fmt.Errorf("terrain %q is neither flat nor hills", f.terrain))
	}
	mode, ok := map[string]worldstate.GameMode{"survival": worldstate.Survival, "creative": worldstate.Creative}[f.mode]
	if !ok {
		return server.Config{}, fail(exitUsage, fmt.Errorf("game mode %q is neither survival nor creative", f.mode))
	}
	faults, err := server.ParseFaults(f.faults)
	if err != nil {
		return server.Config{}, fail(exitUsage, err)
	}
	return server.Config{
		Protocol: proto, Listen: f.listen, Expose: f.expose, Terrain: terrain, GameMode: mode, Tick: f.tick, SaveDir: f.save, AutoSave: f.autoSave,
		KeepAlive: int(vanillaKeepAlive / max(f.tick, time.Millisecond)),
		Faults:    faults, ViewDistance: f.view, Compression: f.compression, Seed: f.seed, MOTD: "Blockworld fixture " + f.version,
	}, nil
}

func runServe(ctx context.Context, p *printer, f *serveFlags) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if f.useLog != "" {
		w, err := os.OpenFile(f.useLog, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return fail(exitUsage, fmt.Errorf("--use-log: %w", err))
		}
		defer w.Close()
		cfg.UseLog = w
	}
	log := p.logger("server")
	cfg.Logf = func(format string, args ...any) { log.Info(fmt.Sprintf(format, args...)) }
	s, err := server.Start(cfg)
	if err != nil {
		return startFailed(err)
	}
	p.say("%s server on %s; stop it with Ctrl-C", f.version, s.Addr())
	if err := p.result(map[string]any{"address": s.Addr(), "version": f.version}); err != nil {
		return err
	}
	<-ctx.Done()
	return fail(exitFailed, s.Close())
}

// startFailed gives a server that cannot start its exit code.
func startFailed(err error) error {
	if errors.Is(err, server.ErrExposed) {
		return fail(exitUsage, fmt.Errorf("%w: allow it with --expose", err))
	}
	var addr *net.AddrError
	var name *net.DNSError
	if errors.As(err, &addr) || errors.As(err, &name) {
		return fail(exitUsage, fmt.Errorf("--listen: %w", err))
	}
	return fail(exitFailed, err)
}

func newFixtureJar(g *globals) *cobra.Command {
	opt := jar.Options{}
	cmd := &cobra.Command{
		Use: "jar PATH", Short: "run a server jar of yours in its own folder until it is interrupted", Args: cobra.ExactArgs(1),
		Long: "Starts a vanilla, Paper or other server jar with a generated server.properties: offline mode, loopback, a flat creative\n" +
			"world. It runs only when BLOCKWORLD_ACCEPT_EULA=true says that you accept https://aka.ms/MinecraftEULA.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.Jar = args[0]
			opt.AcceptEULA = os.Getenv("BLOCKWORLD_ACCEPT_EULA") == "true"
			return runJar(cmd.Context(), g.printer(cmd), opt)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&opt.Dir, "dir", "blockworld-server", "the server's folder; its world is kept")
	fl.StringVar(&opt.Java, "java", "java", "the Java runtime")
	fl.IntVar(&opt.Port, "port", 25565, "port on 127.0.0.1, 0 for a free one")
	return cmd
}

func runJar(ctx context.Context, p *printer, opt jar.Options) error {
	var out io.Writer = p.errs
	if !p.verbose {
		out = nil
	}
	opt.Output = out
	p.say("starting %s ...", opt.Jar)
	s, err := jar.Start(ctx, opt)
	if err != nil {
		code := exitFailed
		if errors.Is(err, jar.ErrEULA) || errors.Is(err, jar.ErrNoJar) {
			code = exitUsage
		}
		return fail(code, err)
	}
	p.say("server on %s; stop it with Ctrl-C", s.Addr())
	if err := p.result(map[string]any{"address": s.Addr()}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fail(exitFailed, s.Stop())
	case <-s.Done():
		return fail(exitFailed, errors.New("the server stopped by itself"))
	}
}
