package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"blockworld/bot/hosting"
	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// apart splits a stage's configuration into the daemon's, which it keeps, and that of a host, with more lines at its end.
func (st *stage) apart(lines string) (bots string) {
	st.t.Helper()
	whole, err := os.ReadFile(st.config)
	if err != nil {
		st.t.Fatal(err)
	}
	own, _, _ := strings.Cut(string(whole), "bots:")
	st.config = written(st.t, own)
	return written(st.t, string(whole)+lines)
}

func TestWhatAHostCannotDecideIsNamed(t *testing.T) {
	plot := "plots: [{id: garden, build: \"0,0,0:1,1,1\"%s}]\nbots: [{id: b, address: h, username: B, plot: garden%s}]\n"
	for text, want := range map[string]string{
		fmt.Sprintf(plot, "", ""): "",
		fmt.Sprintf(plot, ", owner: admin", ", owner: admin") + "retain: 1h\npolicy: {profile: open}\n": "policy, retain, owner of plots, owner of bots",
	} {
		c, err := parseConfig([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.daemons(), ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAHostThatIsRefusedEnds(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy)
	bots := st.apart("host: near\n")
	st.start()
	far := st.tokenFile("--kind", "host", "--principal", "far")
	user := st.tokenFile("--principal", "agent", "--scopes", "read")
	for _, c := range []struct {
		name, token, says string
		code              int
	}{
		{"its name is not the token's", far, "set `host: far`", exitDenied},
		{"its token is a user's", user, "--kind host --principal near", exitDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			o := ran(ctx, "host", "--daemon", st.served.Address, "--token-file", c.token, "-c", bots)
			if ctx.Err() != nil || o.code != c.code || !strings.Contains(o.errs, c.says) {
				t.Errorf("exit %d (%v): %s", o.code, ctx.Err(), o.errs)
			}
		})
	}
}

// moody is a daemon that answers a host's registrations with what is next in its list.
type moody struct {
	hosting.Daemon
	answers []error
	polls   error
}

func (m *moody) Register(context.Context, host.Manifest) (host.Session, error) {
	err := m.answers[0]
	m.answers = m.answers[1:]
	return host.Session{}, err
}

func (m *moody) Poll(context.Context, host.Session, int, time.Duration) (host.Batch, error) {
	return host.Batch{}, m.polls
}

func TestADaemonThatComesAndGoesIsToldOnce(t *testing.T) {
	gone := fmt.Errorf("%w: connection refused", client.ErrUnreachable)
	var said []string
	d := &distant{base: "http://d", say: func(f string, a ...any) { said = append(said, fmt.Sprintf(f, a...)) }, end: func(err error) { said = append(said, "end") },
		Daemon: &moody{answers: []error{gone, gone, nil, nil, gone, gone, gone, nil}}}
	for range 8 {
		d.Register(t.Context(), host.Manifest{Host: "far"})
	}
	want := []string{"is away", "has taken host far", "is away", "is back"}
	if len(said) != len(want) {
		t.Fatalf("%q", said)
	}
	for i := range want {
		if !strings.Contains(said[i], want[i]) {
			t.Errorf("line %d is %q, want %q in it", i, said[i], want[i])
		}
	}
}

func TestTwoHostsOfOneNameAreTold(t *testing.T) {
	said := 0
	d := &distant{say: func(string, ...any) { said++ }, Daemon: &moody{polls: controlplane.Errorf(controlplane.CodeUnavailable, "no such session")}}
	for i := range 10 {
		d.Poll(t.Context(), host.Session{Host: "far"}, 1, 0)
		if want := min(1, (i+1)/twins); said != want {
			t.Fatalf("after %d sessions %d lines, want %d", i+1, said, want)
		}
	}
}

func TestWhatPassesByItselfIsRetried(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("POST answered 503: %w", client.ErrUnreachable), controlplane.Errorf(controlplane.CodeUnavailable, "closing"),
		controlplane.Errorf(controlplane.CodeConflict, "the actor is another host's"), controlplane.Errorf(controlplane.CodeDiskFull, "no room"),
		controlplane.Errorf("busy", "too many requests"), errors.New("something"), nil,
	} {
		if final := refusedHost(err, "far"); final != nil {
			t.Errorf("%v ends the host: %v", err, final)
		}
	}
	for code, want := range map[controlplane.Code]int{
		controlplane.CodeForbidden: exitDenied, token.CodeWrong: exitDenied, token.CodeRevoked: exitDenied, token.CodeExpired: exitDenied,
		controlplane.CodeInvalid: exitUsage, controlplane.CodeNotFound: exitUsage,
	} {
		if got := codeOf(refusedHost(controlplane.Errorf(code, "no"), "far"), -1); got != want {
			t.Errorf("%s ends it with %d, want %d", code, got, want)
		}
	}
	if got := codeOf(refusedHost(fmt.Errorf("GET answered 404: %w", client.ErrNoAnswer), "far"), -1); got != exitUsage {
		t.Errorf("an address that is no daemon's ends it with %d", got)
	}
}

func TestAHostOutlivesItsDaemon(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy)
	bots := st.apart("host: far\n")
	st.start()
	address := strings.TrimPrefix(st.served.Address, "http://")
	key := st.tokenFile("--kind", "host", "--principal", "far")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"host", "--daemon", st.served.Address, "--token-file", key, "-c", bots}, strings.NewReader(""), &out, &out)
	}()
	st.ready()
	st.stop()
	st.start("--listen", address)
	st.ready()
	cancel()
	if code := <-ended; code != exitDone {
		t.Errorf("it ends with %d", code)
	}
	for _, line := range []string{"is away", "is back", "stopping: 1 bot", "stopped\n"} {
		if n := strings.Count(out.String(), line); n != 1 {
			t.Errorf("%d times %q:\n%s", n, line, out.String())
		}
	}
}
