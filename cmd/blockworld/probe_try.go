package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// trial is one effect that probe tries, to find out what the server proves of it.
type trial struct {
	say bool
	pos geom.BlockPos
}

// trialText is the line that `--try say` says.
const trialText = "blockworld: is my own line told back to me?"

// parseTrial reads "say" or "place=X,Y,Z".
func parseTrial(text string) (trial, error) {
	if text == "say" {
		return trial{say: true}, nil
	}
	at, ok := strings.CutPrefix(text, "place=")
	if !ok {
		return trial{}, fail(exitUsage, fmt.Errorf("--try %q: write say, or place=X,Y,Z", text))
	}
	pos, err := parsePos(at)
	return trial{pos: pos}, err
}

// tried is what a trial found, as the JSON of probe tells it.
type tried struct {
	Effect  string `json:"effect"`
	Verdict string `json:"verdict"`
	Grade   string `json:"grade"`
	Why     string `json:"why"`
	Receipt bool   `json:"receipt"`
}

// try carries out one trial as a journaled mission of one action, and writes what it found into the profile.
func (t trial) try(ctx context.Context, p *printer, s *session, j *journal.Journal, found *bot.Probed, prof *profile.Profile) (*tried, error) {
	o, err := s.options(p)
	if err != nil {
		return nil, err
	}
	o.Protocol = found.Protocol
	counted(&o, j, s.scope())
	b, err := bot.Join(ctx, o)
	if err != nil {
		return nil, joinFailed(err)
	}
	here := &arrival{arrived: make(chan struct{})}
	b.Listen(here)
	ran := make(chan error, 1)
	go func() { ran <- b.Run(ctx) }()
	e, err := t.run(ctx, s, j, b, here, prof)
	b.Close()
	<-ran
	var d *actor.Denied
	switch {
	case errors.As(err, &d):
		return nil, fail(exitDenied, err)
	case err != nil:
		return nil, joinFailed(err)
	}
	t.learn(prof, e)
	return &tried{e.Capability.String(), e.Verdict.String(), e.Grade.String(), e.Why, e.Receipt}, nil
}

// run stores the mission and carries out its action.
func (t trial) run(ctx context.Context, s *session, j *journal.Journal, b *bot.Bot, here *arrival, prof *profile.Profile) (actor.Effect, error) {
	select {
	case <-here.arrived:
	case <-ctx.Done():
		return actor.Effect{}, ctx.Err()
	case <-time.After(trialPatience):
		return actor.Effect{}, actor.ErrNotReady
	}
	rec, err := t.mission(s, here)
	if err == nil {
		err = j.PutMission(rec)
	}
	if err != nil {
		return actor.Effect{}, err
	}
	terms, err := t.terms(prof)
	if err != nil {
		return actor.Effect{}, err
	}
	a, err := actor.Attach(ctx, b, actor.Config{Journal: j, Record: rec, Terms: terms})
	if err != nil {
		return actor.Effect{}, err
	}
	e, err := t.act(ctx, a, here)
	rec.State = journal.MissionComplete // there is nothing to resume, whatever came of it
	return e, errors.Join(err, j.PutMission(rec))
}

// trialPatience is how long the server may take to place the bot.
const trialPatience = 20 * time.Second

// mission is one action: its plot is the cell, with room for the way from where the bot stands.
func (t trial) mission(s *session, here *arrival) (journal.Mission, error) {
	id, err := effects.NewMissionID(rand.Reader)
	if err != nil {
		return journal.Mission{}, err
	}
	cell := t.pos
	if t.say {
		cell = here.feet
	}
	plot := sentinel.PlotOf(geom.BlockBox{Min: cell, Max: cell})
	plot.Walk = plot.Walk.Union(geom.BlockBox{Min: here.feet, Max: here.feet}.Grow(1))
	return journal.Mission{
		ID: id, Server: here.identity, Scope: s.scope(), Dimension: here.dimension, Plan: sentinel.PinOf("trial", fmt.Sprint(t)),
		Steps: 1, Plot: plot, Budgets: effects.Budgets{Uses: 3, Quantity: 1, Distance: 512, Characters: effects.MaxText},
	}, nil
}

// terms are the profile's, with the tried effect offered at the grade that is to be found out.
func (t trial) terms(prof *profile.Profile) (actor.Terms, error) {
	terms, err := actor.TermsOf(prof)
	if err != nil {
		return terms, err
	}
	if t.say {
		terms.Grades[effects.Say] = actor.Grades{Least: effects.Acknowledged, Reachable: effects.Acknowledged}
	}
	return terms, nil
}

// act carries the action out; before a placement the bot takes a block in hand and walks near, if it has to.
func (t trial) act(ctx context.Context, a *actor.Actor, here *arrival) (actor.Effect, error) {
	if t.say {
		return effect(a.Do(ctx, effects.SayRequest{Text: trialText}))
	}
	item := here.item
	if item == "" {
		if here.mode != worldstate.Creative {
			return actor.Effect{}, errors.New("the bot has no plain block in its hotbar to try with: give it one")
		}
		item = "minecraft:stone"
		if e, err := effect(a.Do(ctx, effects.EquipRequest{Item: item})); err != nil || e.Verdict != effects.Proven {
			return e, errors.Join(err, errors.New("a block could not be taken in hand: "+e.Why))
		}
	}
	want := effects.PlaceBlockRequest{Pos: effects.Position(t.pos), State: item}
	stand, near, err := a.StandFor(ctx, want)
	if err != nil {
		return actor.Effect{}, err
	}
	if !near {
		if e, err := effect(a.Do(ctx, effects.MoveToRequest{Pos: effects.Position(stand)})); err != nil || e.Verdict != effects.Proven {
			return e, errors.Join(err, fmt.Errorf("the bot did not get to %v: %s", stand, e.Why))
		}
	}
	return effect(a.Do(ctx, want))
}

func effect(r actor.Result, err error) (actor.Effect, error) {
	e, _ := r.(actor.Effect)
	return e, err
}

// learn writes what was found into the profile.
func (t trial) learn(prof *profile.Profile, e actor.Effect) {
	proven := e.Verdict == effects.Proven
	switch {
	case t.say && proven:
		g := profile.Grade(e.Grade)
		prof.Offers[effects.Say.String()] = profile.Offer{Least: g, Reachable: g, Why: "tried: the own line came back under our id"}
	case t.say:
		delete(prof.Offers, effects.Say.String())
	case proven && e.Grade == effects.Attributed:
		prof.Used = profile.UsedCounted
	case e.Code == effects.CodeFirstCounterStill:
		prof.Used = profile.UsedFrozen
		g := profile.Grade(effects.Acknowledged)
		prof.Offers[effects.PlaceBlock.String()] = profile.Offer{Least: g, Reachable: g, Why: "tried: the used counter does not move here"}
	}
}

// arrival waits until the bot stands in a loaded world with a known inventory.
type arrival struct {
	arrived   chan struct{}
	done      bool
	feet      geom.BlockPos
	dimension string
	identity  string
	mode      worldstate.GameMode
	item      string // a plain block of the hotbar, empty if there is none
}

// Fact implements bot.Listener.
func (a *arrival) Fact(tx *bot.Tx, _ bot.Fact) { tx.Wake(1) }

// Ended implements bot.Listener.
func (a *arrival) Ended(error) {}

// Tick implements bot.Listener.
func (a *arrival) Tick(tx *bot.Tx) bool {
	v := tx.View()
	if a.done || !tx.Ready() || !tx.Player().OnGround && !tx.Player().Flying || v.Self().GameMode == worldstate.GameModeUnknown {
		return !a.done
	}
	a.done = true
	a.feet, a.dimension, a.mode, a.identity = geom.BlockAt(tx.Player().Pos), v.DimensionName(), v.Self().GameMode, tx.Identity().String()
	inv := v.Inventory()
	for _, s := range inv.Slots[worldstate.SlotHotbar:worldstate.SlotOffHand] {
		it := tx.Registry().ItemByID(s.Stack.Item)
		if !s.Known || s.Stack.Empty() || s.Stack.Plain != worldstate.PlainYes || it == nil {
			continue
		}
		if block, ok := tx.Registry().Block(it.Name); ok && block.Solid && sentinel.BlockClass(it.Name) == sentinel.ClassOrdinary {
			a.item = it.Name
			break
		}
	}
	close(a.arrived)
	return false
}
