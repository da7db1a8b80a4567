package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/bot/login"
	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/mission"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// outcome is how a command line ended.
type outcome struct {
	code      int
	out, errs string
}

func ran(ctx context.Context, args ...string) outcome {
	var out, errs bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &errs)
	return outcome{code, out.String(), errs.String()}
}

// creative starts an embedded server in creative mode.
func creative(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.Start(server.Config{Protocol: registry.V1_21_7, GameMode: worldstate.Creative, ViewDistance: 2, AllowFlight: true, Tick: 8 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// schematic writes a small file to build.
func schematic(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "twelve.schem")
	if err := os.WriteFile(path, blueprints.Twelve(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// silent listens and says nothing to whoever connects; ready is told of each connection.
func silent(t *testing.T) (address string, ready <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	came := make(chan struct{}, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			came <- struct{}{}
		}
	}()
	return l.Addr().String(), came
}

// TestUsageIsTwo: what is wrong with a command line is told before anything else, as bad usage.
func TestUsageIsTwo(t *testing.T) {
	file, none := schematic(t), filepath.Join(t.TempDir(), "none")
	long := strings.Repeat("x", 17)
	build := func(server string, more ...string) []string {
		return append([]string{"build", file, "--server", server, "--at", "2,-60,2", "--data", none}, more...)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{build("localhost:99999"), "port"},
		{build("[::1"), "bracket"},
		{build("localhost:1", "--username", long), "1 to 16"},
		{build("localhost:1", "--plot", "0,-60,0:3000,-50,3000"), "at most"},
		{build("localhost:1", "--walk-box", "0,-60"), "not a box"},
		{build("localhost:1", "--connect-timeout", "-1s"), "--connect-timeout"},
		{[]string{"probe", "localhost:99999", "--data", none}, "port"},
		{[]string{"probe", "localhost:1", "--username", long, "--data", none}, "1 to 16"},
		{[]string{"probe", "localhost:1", "--rate", "-3", "--data", none}, "--rate"},
		{[]string{"ping", "[::1"}, "bracket"},
		{[]string{"ping", "localhost:1", "--timeout", "0s"}, "--timeout"},
		{[]string{"demo", "--rate", "-2", "--out", none}, "--rate"},
		{[]string{"demo", "--pipeline", "0", "--out", none}, "--pipeline"},
		{[]string{"demo", "--tick", "-1s", "--out", none}, "--tick"},
		{[]string{"fixture", "serve", "--listen", "127.0.0.1:99999"}, "--listen"},
		{[]string{"receipts", "list", "--data", none}, "--data"},
		{[]string{"build", "--resume", "--data", none}, "--data"},
		{[]string{"inspect", "--data", none}, "--data"},
		{[]string{"repair", "--data", none}, "--data"},
		{[]string{"receipts", "verify", file}, "no receipts export"},
		{[]string{"receipts", "show", "x"}, ""},
		{[]string{"dig"}, "dig"},
		{[]string{"plan"}, "arg"},
	} {
		if got := ran(t.Context(), c.args...); got.code != exitUsage || !strings.Contains(got.errs, c.says) {
			t.Errorf("%v: exit %d, %s", c.args, got.code, got.errs)
		}
	}
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Error("a folder was made for nothing")
	}
}

// TestInterruptedIsOne: a command that is stopped says so in plain words, and that it is not usage.
func TestInterruptedIsOne(t *testing.T) {
	address, ready := silent(t)
	data := t.TempDir()
	prof := profile.Profile{
		Version: profile.Version, Address: address, Mode: "attached", Server: profile.Server{Identity: "x", Protocol: int32(registry.Latest)},
		Found: profile.Found{Fence: profile.FindingYes}, Attribution: profile.AttributionCounter,
		Offers: map[string]profile.Offer{"place_block": {Least: 4, Reachable: 4}},
	}
	if err := prof.Save(profile.Path(data, address)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"ping", address}, {"probe", address, "--data", data}, {"build", schematic(t), "--server", address, "--at", "2,-60,2", "--data", data},
	} {
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			<-ready
			stop()
		}()
		got := ran(ctx, append(args, "--json")...)
		stop()
		if got.code != exitFailed || !strings.Contains(got.errs, "interrupted") || strings.Contains(got.errs+got.out, "context canceled") {
			t.Errorf("%v: exit %d, %s%s", args, got.code, got.errs, got.out)
		}
	}
}

// stopping is an output that stops something when a text goes by.
type stopping struct {
	bytes.Buffer
	at   string
	stop func()
}

func (s *stopping) Write(b []byte) (int, error) {
	n, err := s.Buffer.Write(b)
	if strings.Contains(s.String(), s.at) {
		s.stop()
	}
	return n, err
}

// TestDemoInterrupted: a demo has no --resume to go on with.
func TestDemoInterrupted(t *testing.T) {
	for _, at := range []string{"embedded", "steps for"} { // before and after the mission is stored
		ctx, stop := context.WithCancel(t.Context())
		out, errs := &stopping{at: at, stop: stop}, &bytes.Buffer{}
		code := run(ctx, []string{"demo", "--out", t.TempDir(), "--tick", "50ms"}, nil, out, errs)
		stop()
		if said := errs.String(); code != exitFailed || !strings.Contains(said, "interrupted; the demo's") || strings.Contains(said, "--resume") {
			t.Errorf("at %q: exit %d, %s", at, code, said)
		}
	}
}

// TestBuildCommands goes once through a build and what is asked of its folder: a capture that cannot be written, receipts
// beside a running build, their numbers, a bot outside of its walk box.
func TestBuildCommands(t *testing.T) {
	t.Parallel()
	s := creative(t)
	file, data := schematic(t), t.TempDir()
	if got := ran(t.Context(), "probe", s.Addr(), "--data", data); got.code != exitDone {
		t.Fatal(got)
	}
	args := []string{"build", file, "--server", s.Addr(), "--data", data, "--at", "2,-60,2", "--rate", "0", "--json"}
	if _, err := os.Stat("/dev/full"); err == nil {
		args = append(args, "--capture", "/dev/full")
	}
	got := ran(t.Context(), args...)
	var r buildReport
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatal(err, got)
	}
	if !r.Done || r.Receipts == 0 {
		t.Errorf("the mission was lost: %+v", r)
	}
	if slices.Contains(args, "--capture") && (got.code != exitFailed || !strings.Contains(got.errs, "/dev/full is not complete") || r.CaptureError == "") {
		t.Errorf("exit %d, %s", got.code, got.errs)
	}

	j, err := journal.Open(data, journal.Options{MustExist: true}) // as a running build has it
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var lines []receiptLine
	got = ran(t.Context(), "receipts", "list", "--data", data, "--json")
	if err := json.Unmarshal([]byte(got.out), &lines); err != nil || len(lines) != r.Receipts {
		t.Fatal(err, got)
	}
	for i, l := range lines {
		if l.Number != uint64(i)+1 || l.Entry != l.Number+1 {
			t.Errorf("receipt %d has number %d, entry %d", i+1, l.Number, l.Entry)
		}
	}
	export := filepath.Join(t.TempDir(), "r.jsonl")
	for _, args := range [][]string{{"show", lines[0].Action}, {"export", "-o", export}, {"key", "show"}, {"key", "backup", export + ".key"}} {
		if got := ran(t.Context(), append(append([]string{"receipts"}, args...), "--data", data)...); got.code != exitDone {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := ran(t.Context(), "receipts", "verify", export, "--key", j.Fingerprint().String()); got.code != exitDone {
		t.Error(got)
	}
	for _, args := range [][]string{{"receipts", "key", "rotate"}, {"receipts", "check"}, {"inspect"}, {"build", "--resume"}} {
		got := ran(t.Context(), append(args, "--data", data)...)
		if got.code != exitFailed || !strings.Contains(got.errs, fmt.Sprintf("process %d", os.Getpid())) || !strings.Contains(got.errs, "wait") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	checksJournal(t, data, r.Receipts)
	t.Run("RU-05/what reads a data folder changes no byte of it", func(t *testing.T) {
		before := bytesBelow(t, data)
		for _, args := range [][]string{{"receipts", "list"}, {"receipts", "show", lines[0].Action}, {"receipts", "export", "-o", export + "2"}, {"receipts", "key", "show"},
			{"receipts", "key", "backup", export + ".key2"}, {"receipts", "check"}} {
			if got := ran(t.Context(), append(args, "--data", data)...); got.code != exitDone || !maps.Equal(before, bytesBelow(t, data)) {
				t.Errorf("%v: %+v", args, got)
			}
		}
	})

	// The stored mission is open again, and its boxes are where the bot is not.
	rec, m, f := reopened(t, data)
	rec.Plot.Walk = geom.BlockBox{Min: geom.BlockPos{X: 100, Y: -60, Z: 100}, Max: geom.BlockPos{X: 110, Y: -50, Z: 110}}
	p := &printer{g: &globals{}, out: &bytes.Buffer{}, errs: &bytes.Buffer{}}
	err = f.work(t.Context(), p, m, rec, mustFile(t, rec))
	m.Close()
	if err == nil || codeOf(err, -1) != exitFailed || !strings.Contains(err.Error(), "outside its walk box") || !strings.Contains(err.Error(), "nearer") {
		t.Error(err)
	}
}

// checksJournal runs `receipts check` on a sound journal, a damaged one and none.
func checksJournal(t *testing.T, data string, receipts int) {
	t.Helper()
	check := func(data string, want int, problems int, says string) {
		t.Helper()
		path := filepath.Join(data, journal.FileName)
		before, _ := os.ReadFile(path)
		got := ran(t.Context(), "receipts", "check", "--data", data, "--json")
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed", says)
		}
		var r checkReport
		if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != want || len(r.Problems) != problems || !strings.Contains(got.errs, says) {
			t.Errorf("%v, want exit %d, %d problems, %q: %+v", err, want, problems, says, got)
		}
		if want == exitDone && (r.Receipts != receipts || r.Missions != 1 || r.Open != 0 || r.Actions < receipts) {
			t.Errorf("%+v, want %d receipts", r, receipts)
		}
	}
	check(data, exitDone, 0, "nothing is wrong")
	check(t.TempDir(), exitUsage, 0, "no journal here")
	whole, err := os.ReadFile(filepath.Join(data, journal.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func([]byte) []byte{
		"cut off": func(b []byte) []byte { return b[:len(b)/2] },
		"another byte": func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("minecraft:overworld"), []byte("minecraft:overwerld"))
		},
		"another's file": func([]byte) []byte { return []byte("no journal") },
	} {
		bad := t.TempDir()
		if err := os.WriteFile(filepath.Join(bad, journal.FileName), damage(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(what, err)
		}
		check(bad, exitFailed, 1, "damaged")
	}
}

// reopened is the one mission of a data folder with the flags of a resumption.
func reopened(t *testing.T, data string) (journal.Mission, *journal.Journal, *buildFlags) {
	t.Helper()
	j, err := journal.Open(data, journal.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	rec, file, err := storedMission(j, "", data)
	if err != nil {
		t.Fatal(err)
	}
	f := &buildFlags{rate: 0, tries: 1}
	f.server, f.username, f.data, f.timeout = file.Server, file.Username, data, 10*time.Second
	return rec, j, f
}

func mustFile(t *testing.T, rec journal.Mission) *missionFile {
	t.Helper()
	m, err := decodeMissionFile(rec.Options)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestProfileMustSuit changes one field of a profile at a time: it is not used for a server or account it is not of.
func TestProfileMustSuit(t *testing.T) {
	t.Parallel()
	s := creative(t)
	file, data := schematic(t), t.TempDir()
	if got := ran(t.Context(), "probe", s.Addr(), "--data", data); got.code != exitDone {
		t.Fatal(got)
	}
	good, err := profile.Load(profile.Path(data, s.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	build := func(p profile.Profile, more ...string) outcome {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := p.Save(path); err != nil {
			t.Fatal(err)
		}
		return ran(t.Context(), append([]string{"build", file, "--server", s.Addr(), "--data", t.TempDir(), "--at", "2,-60,2", "--profile", path}, more...)...)
	}
	for name, change := range map[string]func(*profile.Profile){
		"address":    func(p *profile.Profile) { p.Address = "elsewhere:25565" },
		"seed":       func(p *profile.Profile) { p.Server.HashedSeed = "1f" },
		"dimensions": func(p *profile.Profile) { p.Server.Dimensions = []string{"minecraft:the_end"} },
		"protocol":   func(p *profile.Profile) { p.Server.Protocol = int32(registry.Latest) },
		"identity":   func(p *profile.Profile) { p.Server.Identity += "x" },
		"mode":       func(p *profile.Profile) { p.Mode = "managed" },
	} {
		p := good
		change(&p)
		if got := build(p); got.code != exitDenied || !strings.Contains(got.errs, "probe") {
			t.Errorf("%s: exit %d, %s", name, got.code, got.errs)
		}
	}
	good.Used = profile.UsedCounted
	if got := build(good, "--username", "Another"); got.code != exitDone || !strings.Contains(got.out, "another account") {
		t.Errorf("another account: %+v", got)
	}
	seen := &land{account: worldstate.UUID{1}}
	if own, another := forAccount(&good, seen); !another || own.Used != profile.UsedExpected {
		t.Error("what was counted for another account was taken over")
	}
	if data, err := hex.DecodeString(good.Account); err != nil || copy(seen.account[:], data) != 16 {
		t.Fatal(good.Account)
	}
	if own, another := forAccount(&good, seen); another || own.Used != profile.UsedCounted {
		t.Error("the same account is another one")
	}
}

// emptySchematic writes a file that holds no block.
func emptySchematic(t *testing.T) string {
	t.Helper()
	b, err := blueprint.New("empty", geom.BlockPos{X: 2, Y: 2, Z: 2})
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = 4440
	path := filepath.Join(t.TempDir(), "empty.schem")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(b.Write(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNothingToBuild: no picture of nothing, and no mission.
func TestNothingToBuild(t *testing.T) {
	pictures := filepath.Join(t.TempDir(), "pictures")
	got := ran(t.Context(), "plan", emptySchematic(t), "--png", pictures)
	if got.code != exitUsage || !strings.Contains(got.errs, "nothing to build") || strings.Contains(got.out, "materials") {
		t.Error(got)
	}
	if got := ran(t.Context(), "plan", emptySchematic(t), "--json"); got.code != exitUsage || strings.Contains(got.out, "null") ||
		!strings.Contains(got.out, `"steps":[]`) || !strings.Contains(got.out, `"rejected":[]`) {
		t.Error(got)
	}
	s, data := creative(t), t.TempDir()
	if got := ran(t.Context(), "probe", s.Addr(), "--data", data); got.code != exitDone {
		t.Fatal(got)
	}
	got = ran(t.Context(), "build", emptySchematic(t), "--server", s.Addr(), "--data", data, "--at", "2,-60,2")
	if got.code != exitUsage || !strings.Contains(got.errs, "nothing to build") {
		t.Error(got)
	}
	if _, err := os.Stat(pictures); !errors.Is(err, os.ErrNotExist) {
		t.Error("a folder for no picture")
	}
}

// TestAFinishedMission: there is nothing of it to give up.
func TestAFinishedMission(t *testing.T) {
	s, data := creative(t), t.TempDir()
	if got := ran(t.Context(), "probe", s.Addr(), "--data", data); got.code != exitDone {
		t.Fatal(got)
	}
	if got := ran(t.Context(), "build", schematic(t), "--server", s.Addr(), "--data", data, "--at", "2,-60,2"); got.code != exitDone {
		t.Fatal(got)
	}
	for range 2 {
		if got := ran(t.Context(), "build", "--abandon", "--data", data); got.code != exitDone || !strings.Contains(got.out, "is finished: there is nothing to give up") {
			t.Error(got)
		}
	}
}

// TestNotWritable: every place that cannot be written is told with what to do.
func TestNotWritable(t *testing.T) {
	in := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(in, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"demo", "--out", filepath.Join(in, "out")}, {"plan", schematic(t), "--png", filepath.Join(in, "out")},
	} {
		if got := ran(t.Context(), args...); got.code != exitFailed || !strings.Contains(got.errs, "choose another place") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if err := openFailed(fmt.Errorf("%w", journal.ErrNotWritable)); codeOf(err, -1) != exitFailed || !strings.Contains(err.Error(), "--data") {
		t.Error(err)
	}
}

// TestKickText: people see the beginning of what a server says at a kick, machines all of it.
func TestKickText(t *testing.T) {
	reason := strings.Repeat("go away ", 900)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		conn := wire.NewConn(c, wire.Serverbound)
		conn.SetProtocol(registry.Latest)
		conn.FollowReads(true)
		for range 2 { // the handshake and the hello
			if _, err := conn.ReadPacket(); err != nil {
				return
			}
		}
		conn.SetWriteState(wire.Login)
		if conn.WritePacket(&wire.LoginDisconnect{Reason: wire.Literal(reason)}) == nil {
			conn.Flush()
		}
		conn.ReadPacket() // until the bot leaves
	}()
	got := ran(t.Context(), "probe", l.Addr().String(), "--version", registry.Latest.Name(), "--data", t.TempDir(), "--json")
	var r struct {
		Kick string `json:"kick_reason_untrusted"`
	}
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || strings.TrimSpace(r.Kick) != strings.TrimSpace(reason) {
		t.Error(err, got)
	}
	if got.code != exitFailed || len(got.errs) > 600 || !strings.Contains(got.errs, "characters more") {
		t.Error(got.code, got.errs)
	}
}

// TestEndings: each way in which a mission can end has its exit code.
func TestEndings(t *testing.T) {
	away := &login.SessionError{Err: bot.ErrConnection}
	for _, c := range []struct {
		run  missionRun
		err  error
		want int
		says string
	}{
		{missionRun{result: builder.Result{Done: true}}, nil, exitDone, ""},
		{missionRun{result: builder.Result{Done: true, Summary: mission.Summary{Accepted: 1}}}, nil, exitUnverified, "1 step is accepted without proof"},
		{missionRun{result: builder.Result{Waiting: mission.WaitDisturbed}}, nil, exitFailed, "an older save; see it with `blockworld inspect`, then `blockworld repair`"},
		{missionRun{result: builder.Result{Waiting: mission.WaitUnverified}}, nil, exitUnverified, "blockworld repair"},
		{missionRun{result: builder.Result{Waiting: mission.WaitRefused}, denied: &builder.Denied{Capability: effects.PlaceBlock, Rule: "reach", Why: "too far"}}, nil, exitDenied, "(reach): too far; when that is put right, go on"},
		{missionRun{result: builder.Result{Waiting: mission.WaitRefused}}, nil, exitFailed, "refused"},
		{missionRun{result: builder.Result{Waiting: mission.WaitRefused}, no: "step 2: no"}, nil, exitFailed, "refused: step 2: no; see what the server has against it there"},
		{missionRun{result: builder.Result{Waiting: mission.WaitRefused}, no: "step 2: no"}, nil, exitFailed, "then go on, which tries it once more; with --wait"},
		{missionRun{result: builder.Result{Waiting: mission.WaitOutOfItems}}, nil, exitFailed, "out_of_items; when that is put right, go on"},
		{missionRun{result: builder.Result{Stuck: "no way"}}, nil, exitFailed, "no way"},
		{missionRun{}, context.Canceled, exitFailed, "interrupted; go on"},
		{missionRun{}, away, exitFailed, "; go on"},
		{missionRun{}, login.ErrUsername, exitUsage, ""},
		{missionRun{}, fail(exitDenied, errors.New("as it was")), exitDenied, "as it was"},
	} {
		err := c.run.ended(c.err, "go on")
		code := exitDone
		if err != nil {
			code = codeOf(err, -1)
		}
		if code != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v, %v: exit %d, %v", c.run.result, c.err, code, err)
		}
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestLostOutput: what a command has to tell and cannot is no success.
func TestLostOutput(t *testing.T) {
	for _, args := range [][]string{{"plan", schematic(t)}, {"plan", schematic(t), "--json"}} {
		var errs bytes.Buffer
		if code := run(t.Context(), args, nil, full{}, &errs); code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
	}
}

// TestTeller: what comes again is told once and counted, and a bot that joins again by itself does not ask for a resumption.
func TestTeller(t *testing.T) {
	var said []string
	tell := newTeller(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }, nil)
	for range 3 {
		tell.hear(builder.Walked{Step: 3, Why: "no path"})
		tell.hear(builder.Walked{Step: 4, Why: "no path"})
	}
	tell.hear(builder.Waiting{For: mission.WaitKicked, Step: -1})
	tell.hear(builder.Rejoining{Why: "kicked: \"no\""})
	tell.hear(builder.Rejoining{Why: "the inspection needs a fresh join"})
	tell.end()
	text := strings.Join(said, "\n")
	if len(said) != 6 || strings.Count(text, "3 times: ") != 2 || strings.Contains(text, "then resume") || !strings.Contains(text, "joins again by itself") {
		t.Error(text)
	}
}
