package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// TestAHostIsTreatedAlikeOnBothWays runs every script of a host's life in the process and over HTTP: same script, same end.
func TestAHostIsTreatedAlikeOnBothWays(t *testing.T) {
	scripts := map[string]func(*world, *testing.T){
		"CP-82/a poll brings questions, operations and cancellations": func(w *world, t *testing.T) {
			second := w.queued("bot2")
			d := w.next()
			w.ok(w.h.Accept(w.ctx, d))
			w.queued("bot1")
			_, err := w.ann.Cancel(w.ctx, second.ID, "no longer wanted")
			w.ok(err)
			asking := make(chan error, 1)
			go func() {
				_, err := w.ann.Read(w.ctx, "bot1", host.Action{Capability: "world_status", Arguments: json.RawMessage(`{}`)})
				asking <- err
			}()
			w.until("the question", func() bool { return w.g.Stats().Gateways > 0 })
			b, err := w.h.PollOnce(w.ctx, host.MaxBatch, 0)
			w.ok(err)
			w.ok(<-asking)
			if len(b.Gateways) != 1 || len(b.Deliveries) != 1 || len(b.Cancellations) != 1 || b.Cancellations[0].Op != second.ID {
				t.Errorf("%+v", b)
			}
		},
		"CP-82/1 to 64 items and 25 seconds at most": func(w *world, t *testing.T) {
			for _, c := range []struct {
				limit int
				wait  time.Duration
				code  controlplane.Code
			}{{0, 0, controlplane.CodeInvalid}, {65, 0, controlplane.CodeInvalid}, {-1, 0, controlplane.CodeInvalid}, {1, 0, ""}, {64, 0, ""},
				{1, 25_001 * time.Millisecond, controlplane.CodeInvalid}, {1, -time.Millisecond, controlplane.CodeInvalid}} {
				_, err := w.h.Daemon.Poll(w.ctx, w.h.Session(), c.limit, c.wait)
				w.code(err, c.code)
			}
			w.queued("bot1")
			w.queued("bot2")
			b, err := w.h.PollOnce(w.ctx, 1, 0)
			w.ok(err)
			if len(b.Deliveries) != 1 {
				t.Errorf("%+v", b)
			}
		},
		"CP-83/a question is answered once": func(w *world, t *testing.T) {
			var asked host.Gateway
			w.h.Bind = func(q host.Gateway) host.Answer { asked = q; return w.h.Reply(q) }
			w.queued("bot1")
			w.ok(w.h.Daemon.Answer(w.ctx, w.h.Session(), w.h.Reply(asked)))
			if n := w.g.Stats().Entered[operation.Queued]; n != 1 {
				t.Errorf("%d operations", n)
			}
		},
		"CP-84/an acknowledgement is taken once": func(w *world, t *testing.T) {
			v := w.queued("bot1")
			d := w.next()
			w.ok(w.h.Accept(w.ctx, d))
			version := w.is(w.look(v.ID), operation.Accepted).Version
			w.ok(w.h.Accept(w.ctx, d))
			if w.look(v.ID).Version != version {
				t.Error("the repeat changed it")
			}
			w.code(w.h.Refuse(w.ctx, d, "busy"), controlplane.CodeConflict)
		},
		"CP-85/reports are optional, and go forward": func(w *world, t *testing.T) {
			v := w.queued("bot1")
			d := w.next()
			w.ok(w.h.Accept(w.ctx, d))
			w.ok(w.h.Progress(w.ctx, d.Op, 3, 50, "placing"))
			w.ok(w.h.Progress(w.ctx, d.Op, 3, 50, "placing"))
			w.code(w.h.Progress(w.ctx, d.Op, 2, 40, "placing"), controlplane.CodeStale)
			w.code(w.h.Progress(w.ctx, d.Op, 4, 101, "placing"), controlplane.CodeInvalid)
			if run := w.is(w.look(v.ID), operation.Running).Run; run == nil || run.Seq != 3 || run.Percent != 50 {
				t.Errorf("%+v", run)
			}
			other := w.queued("bot2")
			w.ok(w.h.Perform(w.ctx, w.next()))
			w.is(w.look(other.ID), operation.Succeeded)
		},
		"CP-86/one outcome": func(w *world, t *testing.T) {
			v := w.queued("bot1")
			d := w.next()
			w.ok(w.h.Perform(w.ctx, d))
			w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
			w.code(w.h.Report(w.ctx, hosttest.Proven(d.Op, 2)), controlplane.CodeConflict)
			w.code(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "refused", true)), controlplane.CodeConflict)
			w.is(w.look(v.ID), operation.Succeeded)
		},
		"CP-96/an output is told as it was, an empty one too": func(w *world, t *testing.T) {
			for _, output := range []string{`{}`, `""`, `{"position":[1.5,64,-3],"text":"<b>&amp; \u2028"}`, `[]`, `0`} {
				w.queued("bot1")
				d := w.next()
				w.ok(w.h.Accept(w.ctx, d))
				o := hosttest.Ended(d.Op, host.Cancelled, "cancelled", true)
				o.Output = json.RawMessage(output)
				w.ok(w.h.Report(w.ctx, o))
				own, err := w.g.Operation(w.ctx, annIs, d.Op)
				w.ok(err)
				sameJSON(t, own.Output, w.look(d.Op).Output)
				sameValue(t, output, string(w.look(d.Op).Output))
			}
		},
		"CP-92/a session of before is none": func(w *world, t *testing.T) {
			old := w.h.Session()
			w.ok(w.h.Join(w.ctx))
			_, err := w.h.Daemon.Poll(w.ctx, old, 1, 0)
			if err == nil {
				t.Error("it may poll")
			}
			_, err = w.h.Daemon.Renew(w.ctx, w.h.Session())
			w.ok(err)
			w.ok(w.h.Daemon.Unregister(w.ctx, w.h.Session()))
			_, err = w.h.Daemon.Renew(w.ctx, w.h.Session())
			w.code(err, controlplane.CodeUnavailable)
		},
		"a host speaks for its own alone": func(w *world, t *testing.T) {
			other := w.host("other", "bot9")
			w.ok(other.Join(w.ctx))
			v := w.queued("bot1")
			d := w.next()
			if err := other.Accept(w.ctx, d); err == nil {
				t.Error("another host took it")
			}
			if err := other.Publish(w.ctx, "bot1"); err == nil {
				t.Error("another host published it")
			}
			borrowed := w.h.Session()
			borrowed.Host = "other"
			if _, err := other.Daemon.Poll(w.ctx, borrowed, 1, 0); err == nil {
				t.Error("another host's session was taken")
			}
			w.is(w.look(v.ID), operation.Delivered)
		},
		"CP-104/a macro's child and blueprint": func(w *world, t *testing.T) {
			plan, err := w.ann.PutBlueprint(w.ctx, "hut", []byte("plan\x00\xff"))
			w.ok(err)
			data, err := w.h.Daemon.Blueprint(w.ctx, w.h.Session(), plan.Digest)
			w.ok(err)
			if string(data) != "plan\x00\xff" {
				t.Errorf("%q", data)
			}
			r := w.request("bot1")
			r.Action.Capability, r.Task = "build_structure", "hut"
			v, err := w.submit(r)
			w.ok(err)
			d := w.next()
			w.ok(w.h.Accept(w.ctx, d))
			c := host.Child{Parent: v.ID, Key: "step-1", Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(`{"pos":[1,2,3]}`)}}
			child, err := served(w, func() (host.ChildView, error) { return w.h.Daemon.SubmitChild(w.ctx, w.h.Session(), c) })
			w.ok(err)
			again, err := w.h.Daemon.SubmitChild(w.ctx, w.h.Session(), c)
			w.ok(err)
			if again.Op != child.Op || w.look(child.Op).Parent != v.ID.String() || w.look(child.Op).Task != "hut" {
				t.Errorf("%+v %+v", child, again)
			}
		},
		"what is wrong is refused with its code": func(w *world, t *testing.T) {
			se := w.h.Session()
			w.code(w.h.Daemon.Answer(w.ctx, se, host.Answer{Gateway: 1}), controlplane.CodeInvalid)
			w.code(w.h.Daemon.Ack(w.ctx, se, host.Ack{}), controlplane.CodeInvalid)
			w.code(w.h.Daemon.Publish(w.ctx, se, host.Publication{Actor: "Not An Actor"}), controlplane.CodeInvalid)
			w.code(w.h.Daemon.Outcome(w.ctx, se, host.Outcome{Op: host.OpID{1}, Status: "done"}), controlplane.CodeInvalid)
			w.code(w.h.Daemon.Outcome(w.ctx, se, host.Outcome{Op: host.OpID{1}, Status: host.Interrupted, Sent: true}), controlplane.CodeInvalid)
			w.code(w.h.Daemon.Outcome(w.ctx, se, hosttest.Proven(host.OpID{1}, 1)), controlplane.CodeNotFound)
			m := w.h.Manifest
			m.Actors = nil
			_, err := w.h.Daemon.Register(w.ctx, m)
			w.code(err, controlplane.CodeInvalid)
		},
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			for way, over := range map[string]bool{"in the process": false, "over HTTP": true} {
				t.Run(way, func(t *testing.T) { script(newWorld(t, func(w *world) { w.overHTTP = over }), t) })
			}
		})
	}
}

// sameValue compares two JSON texts as values.
func sameValue(t *testing.T, a, b string) {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Errorf("%q, %q: %v", a, b, err)
		return
	}
	sameJSON(t, x, y)
}

// TestAHostServesWithoutAPause runs a host's loop as a host has it: long polls that end when work comes.
func TestAHostServesWithoutAPause(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(w.ctx)
	w.h.Take = func(_ context.Context, d host.Delivery) { // the end of the loop must not cut a report off
		if err := w.h.Perform(w.ctx, d); err != nil {
			t.Error(err)
		}
	}
	served := make(chan error, 1)
	go func() { served <- w.h.Serve(ctx) }()
	for range 5 {
		v, err := w.ann.Submit(w.ctx, w.request("bot1"))
		w.ok(err)
		var cursor string
		for !v.Terminal {
			r, err := w.ann.Wait(w.ctx, controlplane.WaitRequest{Op: v.ID, Cursor: cursor, TimeoutMS: 20_000})
			w.ok(err)
			v, cursor = *r.Operation, r.Cursor
		}
		w.is(v, operation.Succeeded)
	}
	cancel()
	w.ok(<-served)
	for op, n := range w.h.Sent() {
		if n != 1 {
			t.Errorf("%v was sent %d times", op, n)
		}
	}
}

// TestServingEndsInOrder listens for real, and stops while a host and a stream wait.
func TestServingEndsInOrder(t *testing.T) {
	w := newWorld(t)
	server, err := api.New(api.Options{Gateway: w.g, Hosts: w.g.Host(), Tokens: w.keeper})
	w.ok(err)
	l, err := api.Listen(w.ctx, "127.0.0.1:0", false, true)
	w.ok(err)
	ctx, stop := context.WithCancel(w.ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	c, err := client.New(client.Options{Base: "http://" + l.Addr().String(), Token: w.annToken, Attempts: 1})
	w.ok(err)
	defer c.Close()
	stream, err := c.Events(w.ctx, controlplane.Filter{})
	w.ok(err)
	defer stream.Close()
	seen, err := c.Wait(w.ctx, controlplane.WaitRequest{Actor: "bot1"})
	w.ok(err)
	waited := make(chan error, 1)
	go func() {
		_, err := c.Wait(w.ctx, controlplane.WaitRequest{Actor: "bot1", Cursor: seen.Cursor, TimeoutMS: 25_000})
		waited <- err
	}()
	w.until("the wait", func() bool { return w.g.Stats().Waiters > 0 })
	stop()
	w.ok(<-served)
	if err := <-waited; err == nil {
		t.Error("the wait was answered")
	}
	if _, err := stream.Next(); err == nil {
		t.Error("the stream goes on")
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

// TestSlowAndLargeRequestsAreCutOff talks to a listening server as no client of ours does.
func TestSlowAndLargeRequestsAreCutOff(t *testing.T) {
	w := newWorld(t)
	server, err := api.New(api.Options{Gateway: w.g, Hosts: w.g.Host(), Tokens: w.keeper,
		Limits: api.Limits{ReadHeader: 20 * time.Millisecond, Read: 20 * time.Millisecond, Header: 1}})
	w.ok(err)
	l, err := api.Listen(w.ctx, "127.0.0.1:0", false, true)
	w.ok(err)
	ctx, stop := context.WithCancel(w.ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	for name, first := range map[string]string{
		"headers that never end": "GET /v1/actors HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
		"a body that never comes": "POST /v1/operations HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + w.annToken +
			"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", l.Addr().String())
			w.ok(err)
			defer conn.Close()
			_, err = conn.Write([]byte(first))
			w.ok(err)
			w.ok(conn.SetReadDeadline(time.Now().Add(20 * time.Second)))
			b := make([]byte, 4096)
			for err == nil {
				_, err = conn.Read(b)
			}
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				t.Error("it was not cut off")
			}
		})
	}
	t.Run("headers without end", func(t *testing.T) {
		q, err := http.NewRequest("GET", "http://"+l.Addr().String()+"/v1/actors", nil)
		w.ok(err)
		q.Header.Set("X-Big", longText(1<<16))
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		res, err := tr.RoundTrip(q)
		if err == nil {
			res.Body.Close()
			if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("%d", res.StatusCode)
			}
		}
	})
	stop()
	w.ok(<-served)
}

func longText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}
