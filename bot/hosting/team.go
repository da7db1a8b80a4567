package hosting

import (
	"errors"
	"fmt"
	"slices"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/effects/mission"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
)

// A mission of several actors is one mission in the journals of all of them, under one id. The first operation names them
// and stores it for all, before it is acknowledged; each further actor takes part with an operation of its own. What keeps a
// step from being done twice is said at builder.Team: it needs the journals of all members, so a mission is worked on only in
// a host that runs them all.

// within tells whether a mission's boxes lie in a plot's.
func within(m, p *sentinel.Plot) bool {
	return p.Build.Union(m.Build) == p.Build && p.Click.Union(m.Click) == p.Click && p.Walk.Union(m.Walk) == p.Walk
}

// gather checks the actors that a new build names.
func (r *runner) gather(b *build) error {
	if len(b.args.Actors) == 0 {
		return nil
	}
	if !slices.Contains(b.args.Actors, r.cfg.ID) {
		return refuse("invalid", "actors must name this actor too, %s", r.cfg.ID)
	}
	for i, id := range b.args.Actors {
		o := r.h.runners[id]
		switch {
		case slices.Contains(b.args.Actors[:i], id):
			return refuse("invalid", "actor %s is named twice", id)
		case o == nil || o.desk != nil:
			return refuse("invalid", "actor %s cannot take part: one host runs all actors of a mission, and this one does not run it", id)
		case o.record.Server != r.record.Server:
			return refuse("invalid", "actor %s cannot take part: it is on another server", id)
		case !o.terms.Fence && len(b.args.Actors) > 1:
			return refuse("invalid", "this server answers no request-stats, so that nobody can tell whose a placement is: one actor only")
		}
		p, err := o.plotOf(b.plot.ID)
		if err != nil || p.Dimension != b.plot.Dimension || !within(&b.plot.Boxes, &p.Boxes) {
			return refuse("invalid", "actor %s cannot take part: it has no plot %s that holds this one's boxes", id, b.plot.ID)
		}
	}
	b.team = b.args.Actors
	return nil
}

// complete refuses a mission some of whose actors this host does not run, or whose journals do not know it: what they did
// could not be told.
func (r *runner) complete(b *build) error {
	for _, id := range b.team {
		o := r.h.runners[id]
		if o == nil || o.desk != nil {
			return refuse("not_found", "mission %s is one of actors %v, and this host does not run %s: run them all in one host", b.record.ID, b.team, id)
		}
		if _, err := o.journal.Mission(b.record.ID); errors.Is(err, journal.ErrUnknownMission) {
			return refuse("not_found", "the journal of actor %s does not know mission %s any more, so nobody can tell what it did: begin a new mission", id, b.record.ID)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// put stores a new mission, its other actors' records first: a mission that this actor knows is known to all.
func (r *runner) put(b *build) error {
	for id, rec := range b.records {
		if id == r.cfg.ID {
			continue
		}
		if err := r.h.runners[id].journal.PutMission(rec); err != nil {
			return fmt.Errorf("for actor %s: %w", id, err)
		}
	}
	if err := r.journal.PutMission(b.record); err != nil {
		return err
	}
	b.stored = true
	return nil
}

// together is a mission of several actors of which at least one is at work.
type together struct {
	team *builder.Team
	n    int // builds that are under way
}

// join takes part in a mission's team, nil if it is one actor's alone. Leave is called when the build is over.
func (r *runner) join(b *build) (team *builder.Team, leave func(), err error) {
	if len(b.team) < 2 {
		return nil, func() {}, nil
	}
	if err := r.complete(b); err != nil {
		return nil, nil, err
	}
	h, id := r.h, b.record.ID
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.teams[id]
	if t == nil {
		members := map[mission.BotID]*journal.Journal{}
		for _, a := range b.team {
			members[mission.BotID(a)] = h.runners[a].journal
		}
		t = &together{team: builder.NewTeam(members)}
		h.teams[id] = t
	}
	t.n++
	return t.team, func() { h.left(id) }, nil
}

func (h *Host) left(id effects.MissionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.teams[id]; t != nil {
		if t.n--; t.n == 0 {
			delete(h.teams, id)
		}
	}
}

// named says which actor of this host has an account, empty for none.
func (h *Host) named(id worldstate.UUID) string {
	for name, r := range h.runners {
		r.mu.Lock()
		its := r.account == id && id != (worldstate.UUID{})
		r.mu.Unlock()
		if its {
			return "actor " + string(name)
		}
	}
	return ""
}

// names puts actors into words.
func names(all []mission.BotID) (out []host.Name) {
	for _, b := range all {
		out = append(out, host.Name(b))
	}
	return out
}
