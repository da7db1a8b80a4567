package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/effects/host"
)

// ofEvents chooses the changes of a stream.
type ofEvents struct {
	Actor  host.Name `query:"actor" doc:"only operations of this actor"`
	Task   host.Name `query:"task" doc:"only operations of this task"`
	Parent string    `query:"parent" doc:"only children of this macro"`
}

func (s *Server) addEvents() {
	rt := get("events", "/v1/events", "operations", "Streams changes of operations as server-sent events",
		"Each event is named change and holds one change as JSON; a comment comes at least every 15 seconds. A change says that an operation has a new version: look it up for its view. lagged means that some were left out: list anew.").in(waiting)
	change := s.huma.OpenAPI().Components.Schemas.Schema(typeOf[controlplane.Change](), true, "Change")
	schema := &huma.Schema{Type: huma.TypeString, Description: "text/event-stream; the data of each event is one Change",
		Extensions: map[string]any{"x-event-data": change}}
	addStream(s, rt, "text/event-stream", schema, s.events)
}

func (s *Server) events(ctx context.Context, w http.ResponseWriter, _ *http.Request, c Caller, p *ofEvents) error {
	f := controlplane.Filter{Actor: p.Actor, Task: p.Task}
	if err := opParam(p.Parent, &f.Parent); err != nil {
		return err
	}
	changes, err := s.gateway.Subscribe(ctx, c.Principal, f)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	line := &eventWriter{w: w, rc: http.NewResponseController(w), patience: s.limits.Write}
	if line.comment("open") != nil {
		return nil
	}
	beat := time.NewTicker(s.limits.Beat)
	defer beat.Stop()
	for {
		select {
		case change, more := <-changes:
			if !more || line.event(v1.EventChange, change.Version, change) != nil {
				return nil
			}
		case <-beat.C:
			if !c.Still() || line.comment("beat") != nil {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// eventWriter writes server-sent events; a reader that takes nothing for the time of an answer is given up.
type eventWriter struct {
	w        http.ResponseWriter
	rc       *http.ResponseController
	patience time.Duration
}

func (e *eventWriter) event(name string, id uint64, data any) error {
	b, err := json.Marshal(data, v1.Words)
	if err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	return e.send(fmt.Sprintf("event: %s\nid: %d\ndata: %s\n\n", name, id, b))
}

func (e *eventWriter) comment(text string) error {
	return e.send(": " + strings.ReplaceAll(text, "\n", " ") + "\n\n")
}

func (e *eventWriter) send(text string) error {
	_ = e.rc.SetWriteDeadline(time.Now().Add(e.patience)) // a writer that has no deadlines is in a test
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.rc.Flush()
}
