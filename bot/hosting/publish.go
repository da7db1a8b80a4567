package hosting

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"blockworld/bot"
	"blockworld/effects/host"
	"blockworld/worldstate"
)

// published is what a daemon knows of an actor.
type published struct {
	epoch    host.Epoch
	sequence uint64
	tick     int64  // newest game tick told in that epoch
	world    string // dimension
	state    string // what was told last; empty: nothing
	at       time.Time
	traffic  host.Traffic // of the newest session
}

// place is a publication that has arrived. One that is still under way may not be bound to: the daemon would not know it.
type place struct {
	token    string // of the daemon's session that heard it; the next one has forgotten it
	epoch    host.Epoch
	sequence uint64
}

// state is what is told of an actor, for people and agents. No text of the world is in it.
type state struct {
	Connected bool         `json:"connected"`
	Ready     bool         `json:"ready"`
	Stopped   bool         `json:"stopped,omitempty"`
	Position  [3]float64   `json:"position"`
	Look      [2]float32   `json:"look"` // yaw, pitch
	Dimension string       `json:"dimension"`
	GameMode  string       `json:"game_mode,omitempty"`
	Health    *float32     `json:"health,omitempty"`
	Food      *int32       `json:"food,omitempty"`
	Dead      bool         `json:"dead,omitempty"`
	Plots     []host.Name  `json:"plots"`
	Building  *macroStatus `json:"building,omitempty"`
}

// herald pokes the publisher when a session has something new.
type herald struct {
	r     *runner
	epoch worldstate.Epoch
	end   func() // when the session is over; may be nil
}

// Fact implements bot.Listener.
func (l *herald) Fact(tx *bot.Tx, f bot.Fact) {
	if l.epoch != f.Epoch {
		l.epoch = f.Epoch
		l.r.moved(f.Epoch)
	}
	switch f.Event.(type) {
	case worldstate.Joined, worldstate.Respawned, worldstate.Teleported, worldstate.HealthChanged, worldstate.GameModeChanged:
		poke(l.r.told)
	}
}

// Tick implements bot.Listener.
func (l *herald) Tick(*bot.Tx) bool { return false }

// Ended implements bot.Listener.
func (l *herald) Ended(error) {
	if l.end != nil {
		l.end()
	}
	poke(l.r.told)
}

// moved notes the epoch of the live session.
func (r *runner) moved(e worldstate.Epoch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.playing != nil {
		r.epoch = epochOf(r.playing.entry, e)
		r.renewed()
	}
}

// publishes tells the daemon of the actor: when something has changed, not faster than Config.Publish, and every
// Config.Repeat anyway.
func (r *runner) publishes(ctx context.Context) {
	tick := time.NewTicker(r.h.cfg.Publish)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.told:
		}
		if err := r.publish(ctx, false); err != nil && ctx.Err() == nil {
			r.h.cfg.Log.Debug("not published", "actor", r.cfg.ID, "error", err)
		}
		select { // not faster than that
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// publish tells the present state if it is news, or must be told again, or is wanted anyway.
func (r *runner) publish(ctx context.Context, anyway bool) error {
	r.telling.Lock() // one after another, so that sequences arrive in their order
	defer r.telling.Unlock()
	s, ok := r.h.now()
	if !ok {
		return nil
	}
	p, st := r.snapshot(ctx)
	if !p.Epoch.Valid() {
		return nil // it has never joined
	}
	text, err := json.Marshal(st)
	if err != nil {
		return err
	}
	r.mu.Lock()
	last := r.pub
	fresh := last.epoch != p.Epoch
	now := r.h.cfg.Now()
	if !anyway && !fresh && last.state == string(text) && now.Sub(last.at) < r.h.cfg.Repeat {
		r.mu.Unlock()
		return nil
	}
	if fresh {
		last.sequence, last.tick = 0, -1
	}
	last.epoch, last.state, last.at, last.world = p.Epoch, string(text), now, p.World
	last.traffic = p.Traffic
	last.sequence++
	last.tick = max(last.tick, p.GameTick)
	r.pub = last
	r.mu.Unlock()
	p.Sequence, p.GameTick, p.State = last.sequence, last.tick, text
	if err := r.h.cfg.Daemon.Publish(ctx, s, p); err != nil {
		return err
	}
	r.mu.Lock()
	r.heard = place{s.Token, p.Epoch, p.Sequence}
	r.mu.Unlock()
	return nil
}

// snapshot reads the live session. Between two sessions the last epoch is told as not ready.
func (r *runner) snapshot(ctx context.Context) (host.Publication, state) {
	r.mu.Lock()
	live, m, last := r.playing, r.macro, r.pub
	st := state{Stopped: r.stopped}
	r.mu.Unlock()
	for _, p := range r.cfg.Plots {
		st.Plots = append(st.Plots, p.ID)
	}
	if r.desk != nil {
		m = r.desk.newest()
	}
	if m != nil {
		st.Building = m.status()
	}
	p := host.Publication{Actor: r.cfg.ID, Epoch: last.epoch, Server: r.record.Server, World: last.world, GameTick: -1, Traffic: last.traffic}
	if live == nil {
		return p, st
	}
	within, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := live.bot.Do(within, func(tx *bot.Tx) { r.read(tx, live, &p, &st) })
	if err != nil {
		st.Connected = false
	}
	return p, st
}

// read fills in what a session knows. It runs on the session's loop.
func (r *runner) read(tx *bot.Tx, live *session, p *host.Publication, st *state) {
	v := tx.View()
	me := v.Self()
	p.Epoch = epochOf(live.entry, v.Epoch())
	p.World, p.Ready = v.DimensionName(), tx.Ready()
	p.Traffic = host.Traffic(tx.Traffic())
	account, _ := tx.Account()
	r.mu.Lock()
	r.account = account
	r.mu.Unlock()
	if age, known := v.WorldAge(); known {
		p.GameTick = age
	}
	at, look := tx.Player().Pos, tx.Rotation()
	for i := range at {
		st.Position[i] = math.Round(at[i]*10) / 10
	}
	st.Look = [2]float32{float32(math.Round(float64(look.Yaw))), float32(math.Round(float64(look.Pitch)))}
	st.Connected, st.Ready, st.Dead, st.Dimension = true, tx.Ready(), tx.Dead(), v.DimensionName()
	st.GameMode = [...]string{"", "survival", "creative", "adventure", "spectator"}[min(int(me.GameMode), 4)]
	if me.HealthKnown {
		st.Health, st.Food = &me.Health, &me.Food
	}
}

// epochOf is the epoch in the protocol's terms: play entries of the account count the sessions, also across restarts.
func epochOf(entry uint64, e worldstate.Epoch) host.Epoch {
	return host.Epoch{Host: entry, World: e.World + 1, Timeline: e.Timeline + 1}
}
