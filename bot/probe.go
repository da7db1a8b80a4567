package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// Probed is what a server can prove, found by a session that sent nothing but liveness packets.
type Probed struct {
	Protocol registry.Protocol
	Identity Identity
	Account  worldstate.UUID
	Name     string
	Brand    worldstate.Untrusted
	GameMode worldstate.GameMode
	MayFly   bool
	Secure   bool // the server enforces signed chat

	Acks      profile.Finding // block acks: expected, no use was sent
	Fence     profile.Finding // request-stats is answered
	Counters  profile.Finding // statistics grow
	Inventory profile.Finding // the forced inventory snapshot is answered
	HeldSlot  profile.Finding // set_held_slot can be forced
	Chat      []worldstate.ChatTrust

	FenceTicks int    // ticks until the slowest fence reply
	Rate       int    // uses per second to begin with
	Pace       string // why that rate
	Offers     []Offer
}

// Offer is one capability that the server's proofs allow, the best grade it can reach, and why.
type Offer struct {
	Capability effects.Capability
	Grade      effects.Grade // GradeNone for reads
	Why        string
}

// Best is the offer of a capability, false if it is not offered.
func (p *Probed) Best(c effects.Capability) (Offer, bool) {
	i := slices.IndexFunc(p.Offers, func(o Offer) bool { return o.Capability == c })
	if i < 0 {
		return Offer{}, false
	}
	return p.Offers[i], true
}

// How long a probe waits, in ticks.
const (
	probeReady  = 200 // for the place and the chunk we stand in
	probeAnswer = 60  // for a reply
	probeGrowth = 25  // between the two fences whose counters are compared
)

// Probe joins, asks what can be asked with liveness packets alone, and leaves.
func Probe(ctx context.Context, opts Options) (*Probed, error) {
	b, err := Join(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return b.Probe(ctx)
}

// Probe runs a joined session until the server has been probed. The session is not over afterwards, and Run has not been
// called.
func (b *Bot) Probe(ctx context.Context) (*Probed, error) {
	p := &prober{started: b.opts.Clock.Now()}
	tx := &Tx{b}
	tx.Attach(p)
	defer tx.Detach(p)
	b.wakeTicks(1)
	if err := b.loop(ctx, func() bool { return p.stage == probeDone }); err != nil {
		return nil, err
	}
	if w := b.out.Counts().Effects(); w != 0 {
		return nil, fmt.Errorf("probe sent %d packets that need an admission: %w", w, errProbe)
	}
	return p.result(tx), nil
}

var errProbe = errors.New("internal error")

// probeStage is what a prober waits for.
type probeStage uint8

const (
	probeWaits probeStage = iota
	probeFirst
	probeBetween
	probeSecond
	probeInventory
	probeDone
)

// prober is the probe's listener: one question after the other.
type prober struct {
	started time.Time
	stage   probeStage
	since   int // ticks in this stage

	fence, counters, inventory profile.Finding
	playTime                   int32
	slowest                    int
	chat                       []worldstate.ChatTrust
}

func (p *prober) enter(s probeStage) { p.stage, p.since = s, 0 }

// Tick asks the next question, or gives up waiting for an answer.
func (p *prober) Tick(tx *Tx) bool {
	p.since++
	switch p.stage {
	case probeWaits:
		if tx.Ready() || p.since > probeReady {
			p.ask(tx, probeFirst)
		}
	case probeFirst, probeSecond:
		if p.since > probeAnswer {
			p.fence, p.counters = profile.FindingNo, profile.FindingNo
			p.askInventory(tx)
		}
	case probeBetween:
		if p.since > probeGrowth {
			p.ask(tx, probeSecond)
		}
	case probeInventory:
		if p.since > probeAnswer {
			p.inventory = profile.FindingNo
			p.enter(probeDone)
		}
	}
	return p.stage != probeDone
}

func (p *prober) ask(tx *Tx, next probeStage) {
	p.enter(next)
	if err := tx.Out().RequestStats(); err != nil {
		p.enter(probeDone)
	}
}

func (p *prober) askInventory(tx *Tx) {
	p.enter(probeInventory)
	if err := tx.Out().QueryInventory(tx.View().Inventory().StateID); err != nil {
		p.enter(probeDone)
	}
}

// Fact takes the answers.
func (p *prober) Fact(tx *Tx, f Fact) {
	switch ev := f.Event.(type) {
	case worldstate.StatsAwarded:
		p.awarded(tx)
	case worldstate.ContainerContent:
		if p.stage == probeInventory && ev.Window == 0 {
			p.inventory = profile.FindingYes
			p.enter(probeDone)
		}
	case worldstate.ChatReceived:
		if !slices.Contains(p.chat, ev.Trust) {
			p.chat = append(p.chat, ev.Trust)
		}
	}
}

// awarded takes a fence reply, and compares the play time of the two.
func (p *prober) awarded(tx *Tx) {
	played, _ := tx.View().Stat(registry.StatCategoryCustom, registry.StatPlayTime)
	switch p.stage {
	case probeFirst:
		p.playTime, p.slowest = played, max(p.slowest, p.since)
		p.enter(probeBetween)
	case probeSecond:
		p.fence, p.slowest = profile.FindingYes, max(p.slowest, p.since)
		p.counters = profile.FindingNo
		if played > p.playTime {
			p.counters = profile.FindingYes
		}
		p.askInventory(tx)
	}
}

// Ended is of no interest: the probe's own loop sees the error.
func (p *prober) Ended(error) {}

// result puts the findings together.
func (p *prober) result(tx *Tx) *Probed {
	view := tx.View()
	id, name := tx.Account()
	out := &Probed{
		Protocol: tx.b.Protocol(), Identity: tx.Identity(), Account: id, Name: name, Brand: tx.Brand(),
		GameMode: view.Self().GameMode, MayFly: tx.MayFly(), Secure: view.EnforcesSecureChat(),
		Acks: profile.FindingExpected, Fence: p.fence, Counters: p.counters, Inventory: p.inventory, HeldSlot: profile.FindingNo,
		Chat: p.chat, FenceTicks: p.slowest, Rate: profile.DefaultRate,
		Pace: "the default: servers of the Bukkit line silently drop faster uses",
	}
	if wire.Has(tx.b.Protocol(), wire.PickItemFrom) {
		out.HeldSlot = profile.FindingExpected
	}
	if out.Fence != profile.FindingYes {
		out.Acks = profile.FindingUnknown // no vanilla server, so nothing is expected of it
	}
	out.offer()
	return out
}

// offer says what each capability can reach on the grounds of the findings.
func (p *Probed) offer() {
	for _, c := range []effects.Capability{effects.WorldStatus, effects.InventorySummary, effects.ScanRegion, effects.NearbyEntities, effects.ChatSince} {
		p.Offers = append(p.Offers, Offer{c, effects.GradeNone, "reads are always offered"})
	}
	add := func(c effects.Capability, g effects.Grade, why string) {
		if g != effects.GradeNone {
			p.Offers = append(p.Offers, Offer{c, g, why})
		}
	}
	g, why := p.moves()
	add(effects.MoveTo, g, why)
	g, why = p.looks()
	add(effects.LookAt, g, why)
	g, why = p.says()
	add(effects.Say, g, why)
	g, why = p.equips()
	add(effects.Equip, g, why)
	g, why = p.places()
	add(effects.PlaceBlock, g, why)
}

func (p *Probed) moves() (effects.Grade, string) {
	switch {
	case p.Counters == profile.FindingYes:
		return effects.Acknowledged, "own distance statistics grow, and the fence behind a move is answered"
	case p.Fence == profile.FindingYes:
		return effects.Processed, "the fence is answered; statistics do not grow, so a receipt needs a witness"
	default:
		return effects.Processed, "no fence: two ticks without a correction; a receipt needs a witness"
	}
}

func (p *Probed) looks() (effects.Grade, string) {
	if p.Fence == profile.FindingYes {
		return effects.Processed, "the fence is answered; a receipt needs a witness"
	}
	return effects.Processed, "no fence: two ticks without a correction; a receipt needs a witness"
}

func (p *Probed) says() (effects.Grade, string) {
	switch {
	case p.Secure:
		return effects.GradeNone, "the server enforces signed chat, which needs an account"
	case slices.Contains(p.Chat, worldstate.ChatUnsigned), slices.Contains(p.Chat, worldstate.ChatSigned):
		return effects.Acknowledged, "lines of players carry their sender's id"
	default:
		return effects.Observed, "no player's line was heard; try one to know whether it carries our id"
	}
}

func (p *Probed) equips() (effects.Grade, string) {
	switch {
	case p.Inventory == profile.FindingYes && p.HeldSlot == profile.FindingExpected && p.Fence == profile.FindingYes:
		return effects.Acknowledged, "the inventory snapshot is answered, the held slot can be asked for, the fence is answered"
	case p.Inventory == profile.FindingYes && p.HeldSlot == profile.FindingExpected:
		return effects.Observed, "the inventory snapshot is answered and the held slot can be asked for"
	case p.Fence == profile.FindingYes:
		return effects.Processed, "the fence is answered; the held slot cannot be asked for without changing it"
	case p.Inventory == profile.FindingYes:
		return effects.Processed, "the inventory snapshot is answered, which serves as a fence"
	default:
		return effects.Processed, "two ticks without a correction"
	}
}

func (p *Probed) places() (effects.Grade, string) {
	switch {
	case p.GameMode == worldstate.Spectator:
		return effects.GradeNone, "spectators cannot place"
	case p.GameMode == worldstate.Adventure:
		return effects.GradeNone, "adventure mode does not let us place"
	case p.Fence == profile.FindingYes && p.Counters == profile.FindingYes:
		return effects.Attributed, "the fence is answered and statistics grow; the used counter is expected until the first own +1"
	case p.Fence == profile.FindingYes:
		return effects.Acknowledged, "the fence is answered; statistics do not grow, so a use is judged by both direct updates and the ack"
	default:
		return effects.Observed, "no fence: one use at a time, judged by the target's exact state alone; who did it cannot be told"
	}
}
