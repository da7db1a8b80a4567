package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/wire"
	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// stage is an embedded server and a daemon with one bot on it, started by the program's own command.
type stage struct {
	t      *testing.T
	world  *server.Server
	data   string
	config string
	served served
	stop   func() outcome // ends the daemon as Ctrl-C does
}

// trialPolicy is the policy of tests: ordinary things are allowed, each task says what else.
const trialPolicy = `
policy:
  profile: survival
  rules:
    - {id: say-nothing, layer: server, kinds: [chat.say], result: deny, why: nobody speaks here}
    - {id: careful, layer: task, subject: careful, kinds: [world.place], result: confirm}
    - {id: forbidden, layer: task, subject: forbidden, kinds: [world.place], result: deny, why: not for this task}
  budgets:
    - {id: two-blocks, layer: task, subject: short, kinds: [world.place], max_count: 2}
`

// set starts the server, probes it, and writes the configuration of one bot.
func set(t *testing.T, policy string) *stage {
	t.Helper()
	w, err := server.Start(server.Config{Protocol: registry.V1_21_7, GameMode: worldstate.Creative, ViewDistance: 2, LogPackets: true,
		KeepAlive: 1 << 30, Tick: 8 * time.Millisecond, AllowFlight: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	st := &stage{t: t, world: w, data: t.TempDir()}
	found, err := bot.Probe(t.Context(), bot.Options{Address: w.Addr(), Username: "Builder1", Protocol: registry.V1_21_7, ViewDistance: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Profile(time.Now(), profile.AcceptAttributed).Save(profile.Path(st.data, w.Addr())); err != nil {
		t.Fatal(err)
	}
	st.config = written(t, "data: "+st.data+"\nlisten: 127.0.0.1:0\n"+policy+`
plots:
  - {id: garden, build: "-3,-60,-3:20,-40,20", owner: admin}
bots:
  - {id: builder-1, address: "`+w.Addr()+`", username: Builder1, version: 1.21.8, view_distance: 2, plot: garden, owner: admin}
`)
	return st
}

// serve starts the daemon and waits until its bot is ready.
func (st *stage) serve(args ...string) *stage {
	st.t.Helper()
	st.start(args...)
	st.ready()
	return st
}

// start starts the daemon.
func (st *stage) start(args ...string) {
	st.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	var errs lockedBuffer
	ended := make(chan outcome, 1)
	go func() {
		code := run(ctx, append([]string{"serve", "--json", "-c", st.config}, args...), strings.NewReader(""), w, &errs)
		w.Close()
		ended <- outcome{code: code, errs: errs.String()}
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	go io.Copy(io.Discard, r)
	st.stop = func() outcome {
		cancel()
		o := <-ended
		ended <- o
		return o
	}
	st.t.Cleanup(func() { st.stop() })
	st.served = served{}
	if err == nil {
		err = json.Unmarshal([]byte(line), &st.served)
	}
	if err != nil {
		st.t.Fatalf("serve says %q: %v\n%s", line, err, errs.String())
	}
}

// client speaks as an admin.
func (st *stage) client() *client.Client {
	st.t.Helper()
	c, err := (&face{daemon: st.served.Address, data: st.data}).client(env())
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(c.Close)
	return c
}

// ready waits until the bot is published as ready, with stones in its hand's slot.
func (st *stage) ready() {
	st.t.Helper()
	c := st.client()
	ctx, cancel := context.WithTimeout(st.t.Context(), 30*time.Second)
	defer cancel()
	for there := false; !there; { // behind a build the bot joins anew, and for a moment it is published as it was before
		st.published(ctx, "builder-1")
		st.world.Do(func(w *server.World) {
			if p := w.Player("Builder1"); p != nil {
				p.Give(36, "minecraft:stone", 64)
				there = true
			}
		})
	}
	for range 1000 {
		out, err := c.Read(ctx, "builder-1", host.Action{Capability: "inventory_summary", Arguments: json.RawMessage("{}")})
		if err == nil && strings.Contains(string(out), `"minecraft:stone":64`) {
			return
		}
		st.world.Step(1)
	}
	st.t.Fatal("the bot never sees its stones")
}

// published waits until a bot is published as ready.
func (st *stage) published(ctx context.Context, actor host.Name) {
	st.t.Helper()
	c := st.client()
	for cursor := ""; ; {
		got, err := c.Wait(ctx, controlplane.WaitRequest{Actor: actor, Cursor: cursor, TimeoutMS: 1000})
		if err != nil && controlplane.CodeOf(err) != controlplane.CodeNotFound {
			st.t.Fatal(err)
		}
		if got.Actor != nil && got.Actor.Ready && got.Actor.Stop == nil {
			return
		}
		cursor = got.Cursor
	}
}

// scrape reads the daemon's metrics.
func (st *stage) scrape() string {
	st.t.Helper()
	q, err := http.NewRequestWithContext(st.t.Context(), http.MethodGet, st.served.Address+"/metrics", nil)
	if err != nil {
		st.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+st.secret())
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		st.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		st.t.Fatal(err)
	}
	return string(text)
}

// ctl runs a command of ctl as an admin.
func (st *stage) ctl(args ...string) outcome {
	st.t.Helper()
	return ran(st.t.Context(), append([]string{"ctl", "--daemon", st.served.Address, "--data", st.data}, args...)...)
}

// ctlView runs a command of ctl that ends with an operation.
func (st *stage) ctlView(want int, args ...string) operation.View {
	st.t.Helper()
	o := st.ctl(append(args, "--json")...)
	var v operation.View
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &v); err != nil || o.code != want {
		st.t.Fatalf("%v ends with %d, want %d: %v\n%s%s", args, o.code, want, err, o.out, o.errs)
	}
	return v
}

// effectPackets counts what the server has received of packets that only an effect sends.
func (st *stage) effectPackets() int { return effectPackets(st.world) }

func (st *stage) block(x, y, z int32) (state string) {
	st.world.Do(func(w *server.World) {
		state = st.world.Registry().FormatState(w.Block(geom.BlockPos{X: x, Y: y, Z: z}))
	})
	return state
}

// effectPackets counts what a server has received of packets that only an effect sends.
func effectPackets(s *server.Server) (n int) {
	for _, e := range s.Packets() {
		switch p := e.Packet.(type) {
		case *wire.UseItemOn, *wire.Swing, *wire.Chat, *wire.SetCarriedItem, *wire.SetCreativeModeSlot, *wire.PlayerCommand, *wire.MovePlayerRot:
			n++
		case *wire.ContainerClick:
			if p.Slot != -1 {
				n++
			}
		}
	}
	return n
}

// tokenFile makes a token and returns its file.
func (st *stage) tokenFile(args ...string) string {
	st.t.Helper()
	path := filepath.Join(st.t.TempDir(), "token")
	if o := st.ctl(append([]string{"token", "create", "-o", path}, args...)...); o.code != exitDone {
		st.t.Fatalf("token create: %s", o.errs)
	}
	if info, err := os.Stat(path); err != nil || othersCanRead(info) {
		st.t.Fatalf("%s: %v, %v", path, info, err)
	}
	return path
}
