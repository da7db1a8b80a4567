package hosttest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"blockworld/effects"
	"blockworld/effects/host"
)

// Daemon is the gateway as a host sees it.
type Daemon interface {
	Register(context.Context, host.Manifest) (host.Session, error)
	Renew(context.Context, host.Session) (host.Session, error)
	Unregister(context.Context, host.Session) error
	Publish(context.Context, host.Session, host.Publication) error
	Poll(ctx context.Context, s host.Session, limit int, wait time.Duration) (host.Batch, error)
	Answer(context.Context, host.Session, host.Answer) error
	Ack(context.Context, host.Session, host.Ack) error
	Run(context.Context, host.Session, host.Run) error
	Outcome(context.Context, host.Session, host.Outcome) error
	SubmitChild(context.Context, host.Session, host.Child) (host.ChildView, error)
	Blueprint(context.Context, host.Session, effects.Digest) ([]byte, error)
}

// Host is a scripted host. Set the exported fields before its first call; its methods may be called from any goroutine.
type Host struct {
	Daemon   Daemon
	Manifest host.Manifest
	Plot     host.Name // scope of its placements
	Risk     string    // of its effects
	// Bind answers gateway requests; nil: the answer of Reply.
	Bind func(host.Gateway) host.Answer
	// Take handles deliveries in Serve; nil: they are written down only.
	Take func(context.Context, host.Delivery)
	// Quiet writes nothing down: for measurements.
	Quiet bool

	mu      sync.Mutex
	session host.Session
	epochs  map[host.Name]host.Epoch
	seqs    map[host.Name]uint64
	tick    int64
	binds   int
	heard   host.Batch
	sent    map[host.OpID]int
}

// Schema is the closed schema of every capability here.
const Schema = `{"type":"object","additionalProperties":false,"properties":{"pos":{"type":"array"},"block":{"type":"string"}}}`

// Capability returns a capability as this host publishes it.
func Capability(name string, kind host.Kind, cancellation string) host.Capability {
	return host.Capability{Name: name, Kind: kind, Risk: "low", Cancellation: cancellation, BudgetMS: 30_000, Grade: "attributed",
		LeastGrade: "attributed", Schema: json.RawMessage(Schema), Rollback: "none"}
}

// New makes a host with actors that can place_block (effect), move_to (effect), world_status (read) and build_structure
// (macro).
func New(d Daemon, name host.Name, actors ...host.Name) *Host {
	h := &Host{Daemon: d, Plot: "plot", Risk: "low", epochs: map[host.Name]host.Epoch{}, seqs: map[host.Name]uint64{},
		tick: 1000, sent: map[host.OpID]int{},
		Manifest: host.Manifest{Host: name, Revision: "test-1", Authority: host.ClientAdvisory}}
	for _, a := range actors {
		h.Manifest.Actors = append(h.Manifest.Actors, host.Actor{ID: a, Server: "localhost", Account: "Bot", Mode: "attached",
			Capabilities: []host.Capability{
				Capability("place_block", host.KindEffect, "unsupported_once_sent"),
				Capability("move_to", host.KindEffect, "cooperative"),
				Capability("world_status", host.KindRead, "preemptive"),
				Capability("build_structure", host.KindMacro, "cooperative"),
			}})
		h.epochs[a] = host.Epoch{Host: 1, World: 1, Timeline: 1}
	}
	return h
}

// Join registers and publishes every actor.
func (h *Host) Join(ctx context.Context) error {
	if err := h.Register(ctx); err != nil {
		return err
	}
	for _, a := range h.Manifest.Actors {
		if err := h.Publish(ctx, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// Register starts a new session.
func (h *Host) Register(ctx context.Context) error {
	s, err := h.Daemon.Register(ctx, h.Manifest)
	if err == nil {
		h.mu.Lock()
		h.session = s
		h.mu.Unlock()
	}
	return err
}

// Renew keeps the session.
func (h *Host) Renew(ctx context.Context) error {
	_, err := h.Daemon.Renew(ctx, h.Session())
	return err
}

// Session returns the session of the last Register.
func (h *Host) Session() host.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// Publish publishes an actor with the next sequence, one tick later.
func (h *Host) Publish(ctx context.Context, actor host.Name) error {
	h.mu.Lock()
	h.seqs[actor]++
	h.tick++
	p := h.publication(actor)
	s := h.session
	h.mu.Unlock()
	return h.Daemon.Publish(ctx, s, p)
}

func (h *Host) publication(actor host.Name) host.Publication {
	return host.Publication{Actor: actor, Epoch: h.epochs[actor], Sequence: h.seqs[actor], Server: "localhost",
		World: "minecraft:overworld", GameTick: h.tick, Ready: true, State: json.RawMessage(`{}`)}
}

// Tick lets game time pass for this host's actors; they publish it with their next publication.
func (h *Host) Tick(n int64) {
	h.mu.Lock()
	h.tick += n
	h.mu.Unlock()
}

// Now returns the tick that was published last.
func (h *Host) Now() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tick
}

// Respawn begins a new epoch of an actor and publishes it.
func (h *Host) Respawn(ctx context.Context, actor host.Name) error {
	return h.next(ctx, actor, host.Epoch{World: 1})
}

// Rejoin begins a new session of an actor in the same world and publishes it.
func (h *Host) Rejoin(ctx context.Context, actor host.Name) error {
	return h.next(ctx, actor, host.Epoch{Host: 1})
}

// next moves an actor's epoch on and publishes it.
func (h *Host) next(ctx context.Context, actor host.Name, by host.Epoch) error {
	h.mu.Lock()
	e := h.epochs[actor]
	e.Host, e.World = e.Host+by.Host, e.World+by.World
	h.epochs[actor] = e
	h.mu.Unlock()
	return h.Publish(ctx, actor)
}

// Seen returns what was published of an actor last.
func (h *Host) Seen(actor host.Name) (host.Epoch, uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.epochs[actor], h.seqs[actor]
}

// PollOnce polls, answers the gateway requests, and writes everything down.
func (h *Host) PollOnce(ctx context.Context, limit int, wait time.Duration) (host.Batch, error) {
	s := h.Session()
	b, err := h.Daemon.Poll(ctx, s, limit, wait)
	if err != nil {
		return b, err
	}
	if !h.Quiet {
		h.mu.Lock()
		h.heard.Gateways = append(h.heard.Gateways, b.Gateways...)
		h.heard.Deliveries = append(h.heard.Deliveries, b.Deliveries...)
		h.heard.Cancellations = append(h.heard.Cancellations, b.Cancellations...)
		h.mu.Unlock()
	}
	for _, q := range b.Gateways {
		a := h.answer(q)
		if a.Gateway == 0 {
			continue // the script keeps it
		}
		if err := h.Daemon.Answer(ctx, s, a); err != nil {
			return b, fmt.Errorf("answer request %d: %w", q.ID, err)
		}
	}
	return b, nil
}

func (h *Host) answer(q host.Gateway) host.Answer {
	h.mu.Lock()
	if q.Ask == host.AskBind {
		h.binds++
	}
	h.mu.Unlock()
	if h.Bind != nil {
		return h.Bind(q)
	}
	return h.Reply(q)
}

// Reply is the usual answer: a read returns {}, an action is bound as asked.
func (h *Host) Reply(q host.Gateway) host.Answer {
	if q.Ask == host.AskRead {
		return host.Answer{Gateway: q.ID, Output: json.RawMessage(`{}`)}
	}
	b := h.Bound(q)
	return host.Answer{Gateway: q.ID, Bound: &b}
}

// Refusal is a host's no to a gateway request.
func Refusal(q host.Gateway, code, message string) host.Answer {
	return host.Answer{Gateway: q.ID, Code: code, Message: message}
}

// Bound binds an action the way this host does: one effect of one item, reversible, on its plot.
func (h *Host) Bound(q host.Gateway) host.Bound {
	binding := append([]byte(q.Action.Capability+" "), q.Action.Arguments...)
	h.mu.Lock()
	defer h.mu.Unlock()
	b := host.Bound{Op: q.Op, Binding: binding, Digest: sha256.Sum256(binding), Precondition: sha256.Sum256([]byte("as it is")),
		Epoch: h.epochs[q.Actor], Sequence: h.seqs[q.Actor], ValidUntil: -1, Summary: "place 1 minecraft:stone"}
	p := host.Preview{Kind: "world.place", Operation: "create", Ownership: "own", Scope: h.Plot, Risk: h.Risk, Reversible: true,
		Quantity: 1, Pos: &[3]int32{1, 64, 1}, Block: "minecraft:stone", Item: "minecraft:stone"}
	switch q.Action.Capability {
	case "move_to":
		p = host.Preview{Kind: "actor.move", Operation: "move", Ownership: "own", Scope: h.Plot, Risk: h.Risk, Reversible: true, Quantity: 3}
		b.Summary = "walk 3 blocks"
	case "build_structure":
		p = host.Preview{Kind: "world.build", Operation: "create", Ownership: "own", Scope: h.Plot, Risk: h.Risk, Reversible: true, Quantity: 8}
		b.Summary = "build 8 blocks"
	}
	b.Effects = []host.Preview{p}
	return b
}

// Serve polls until ctx ends or the session is over, and hands deliveries to Take.
func (h *Host) Serve(ctx context.Context) error {
	for {
		b, err := h.PollOnce(ctx, host.MaxBatch, 20*time.Second)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, d := range b.Deliveries {
			if h.Take != nil {
				h.Take(ctx, d)
			}
		}
	}
}

// Accept takes a delivery.
func (h *Host) Accept(ctx context.Context, d host.Delivery) error {
	return h.Daemon.Ack(ctx, h.Session(), host.Ack{Op: d.Op, Accepted: true, Digest: d.Bound.Digest})
}

// Refuse says no to a delivery.
func (h *Host) Refuse(ctx context.Context, d host.Delivery, code string) error {
	return h.Daemon.Ack(ctx, h.Session(), host.Ack{Op: d.Op, Code: code, Message: "the script says so"})
}

// Progress reports.
func (h *Host) Progress(ctx context.Context, op host.OpID, seq uint64, percent int, note string) error {
	return h.Daemon.Run(ctx, h.Session(), host.Run{Op: op, Sequence: seq, Percent: percent, Note: note})
}

// Send counts one packet of an operation, unless it has been sent before: a sent mark is written once. It tells whether it
// was.
func (h *Host) Send(op host.OpID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sent[op] > 0 {
		return false
	}
	h.sent[op]++
	return true
}

// Sent returns how many packets were sent for each operation.
func (h *Host) Sent() map[host.OpID]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.sent)
}

// Key is the fingerprint of the journal's key that this host's receipts name.
const Key = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// Proven is the outcome of an operation with a receipt.
func Proven(op host.OpID, number uint64) host.Outcome {
	return host.Outcome{Op: op, Status: host.Succeeded, Code: "proven", Sent: true,
		Receipt: &host.Receipt{Number: number, Digest: sha256.Sum256(op[:]), Grade: "attributed", Key: Key}}
}

// Ended is an outcome without a receipt.
func Ended(op host.OpID, status host.Status, code string, sent bool) host.Outcome {
	return host.Outcome{Op: op, Status: status, Code: code, Sent: sent}
}

// Report reports an outcome.
func (h *Host) Report(ctx context.Context, o host.Outcome) error {
	return h.Daemon.Outcome(ctx, h.Session(), o)
}

// Perform takes a delivery, sends its packet once, and reports it proven.
func (h *Host) Perform(ctx context.Context, d host.Delivery) error {
	if err := h.Accept(ctx, d); err != nil {
		return err
	}
	h.Send(d.Op)
	return h.Report(ctx, Proven(d.Op, 1))
}

// Binds returns how many requests to bind were answered.
func (h *Host) Binds() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.binds
}

// Heard returns everything that polls have brought.
func (h *Host) Heard() host.Batch {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heard
}

// ErrNothing is returned by Next when a poll brings no delivery.
var ErrNothing = errors.New("no delivery")

// Next polls once without waiting and returns the first delivery.
func (h *Host) Next(ctx context.Context) (host.Delivery, error) {
	b, err := h.PollOnce(ctx, host.MaxBatch, 0)
	if err != nil {
		return host.Delivery{}, err
	}
	if len(b.Deliveries) == 0 {
		return host.Delivery{}, ErrNothing
	}
	return b.Deliveries[0], nil
}
