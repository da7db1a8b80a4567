package hosting

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/effects/mission"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/registry"
)

// macro is a build_structure under way: a builder's site whose gate asks the daemon for every child.
type macro struct {
	r     *runner
	desk  *desk // of a prepared build, which decides when the work ends; nil: the macro itself does
	op    host.OpID
	b     *build
	job   *job
	lease string // of the parent, with its principal
	who   string
	nonce string // of this process, so that its children are not mistaken for those of an earlier one
	reg   *registry.Registry
	told  chan struct{} // there is something to report
	ready bool          // its turn has come; under the runner's lock

	mu       sync.Mutex
	site     *builder.Site
	team     *builder.Team // of a mission of several actors
	asks     map[string]*question
	byOp     map[host.OpID]*question
	children int
	full     bool            // no further child is allowed
	ended    string          // why it is to end: cancelled, or the name of a waiting state
	why      string          // in words
	refused  time.Time       // since when every step that is left is refused, or somebody stands in its place
	waits    mission.Waiting // what the work waited for when it did last
	absent   time.Time       // since when the rest waits for another actor that is away
	denied   bool            // by the daemon's policy
	note     string
	spent    map[string]*denial // by what was asked for: of a budget that is used up
	denial   denial             // the newest of the daemon's
	no       string             // the newest word of guard, gate or server against a step
	quiet    func()             // ends the reports of a prepared build's operation
	steps    int
	done     int
	report   uint64 // sequence of the last report
}

// denial is why the daemon does not want something.
type denial struct{ code, message string }

// macroStatus is what is published of a build.
type macroStatus struct {
	Operation host.OpID         `json:"operation"`
	Mission   effects.MissionID `json:"mission"`
	Steps     int               `json:"steps"`
	Done      int               `json:"done"`
	Note      string            `json:"note"`
	Children  int               `json:"children"`
}

// deliverMacro takes a build: the mission is stored before it is acknowledged, so that whoever finds the operation
// accepted finds its plan too.
func (r *runner) deliverMacro(ctx context.Context, d *host.Delivery) {
	if r.repeated(ctx, d.Op) {
		return
	}
	b, err := r.buildOf(d)
	if err != nil {
		r.h.cfg.Log.Warn("a build is not known here", "operation", d.Op, "error", err)
		r.unbound(ctx, d.Op)
		return
	}
	if !b.stored {
		if err := r.put(b); err != nil {
			r.h.cfg.Log.Error("a mission could not be stored", "operation", d.Op, "error", err)
			return
		}
	}
	reg, err := registry.Load(b.plan.Protocol)
	if err != nil {
		r.unbound(ctx, d.Op)
		return
	}
	m := &macro{
		r: r, op: d.Op, b: b, lease: d.Lease, who: string(d.Principal), reg: reg, nonce: nonce(), told: make(chan struct{}, 1),
		asks: map[string]*question{}, byOp: map[host.OpID]*question{}, steps: len(b.plan.Steps),
		job: &job{op: d.Op, digest: d.Bound.Digest},
	}
	if r.desk != nil {
		r.desk.deliver(ctx, m)
		return
	}
	r.mu.Lock()
	other := r.macro
	if other == nil {
		r.macro, r.jobs[d.Op] = m, m.job
	}
	delete(r.builds, d.Op)
	r.mu.Unlock()
	if other != nil {
		if other.op != d.Op {
			r.h.refuse(ctx, d.Op, "busy", fmt.Sprintf("the actor is building already (operation %s)", other.op))
		}
		return
	}
	begun := false
	r.take(ctx, m.job, func() { begun = true })
	if !begun {
		r.mu.Lock()
		r.macro = nil
		r.builds[d.Op] = b
		r.mu.Unlock()
		return
	}
	r.mu.Lock()
	why := r.cancels[d.Op]
	delete(r.cancels, d.Op)
	r.mu.Unlock()
	if why != "" {
		m.cancel(d.Op, why)
	}
	r.quiet(ctx)
	m.turn(r)
	poke(r.asked)
	r.rejoin() // the live session ends, and the next is the build's own
}

// buildOf finds a delivered build: bound here, or stored by an earlier process. Its digest must be the delivered one.
func (r *runner) buildOf(d *host.Delivery) (*build, error) {
	r.mu.Lock()
	b := r.builds[d.Op]
	r.mu.Unlock()
	if b == nil && r.desk != nil {
		return nil, errors.New("it is an earlier process's: what its journal knows is told by its children")
	}
	if b == nil {
		args, err := parseArguments(d.Action.Arguments)
		if err != nil {
			return nil, err
		}
		plot, err := r.plotOf(args.Plot)
		if err != nil {
			return nil, err
		}
		b = &build{op: d.Op, args: args, plot: plot}
		id := args.Mission
		if id == (effects.MissionID{}) {
			id = effects.MissionID(d.Op)
		}
		rec, err := r.journal.Mission(id)
		if err != nil {
			return nil, err
		}
		if err := b.load(rec); err != nil {
			return nil, err
		}
	}
	if b.digest() != d.Bound.Digest {
		return nil, errors.New("it was bound to another plan")
	}
	return b, nil
}

func nonce() string {
	var b [6]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// nextMacro is the build whose turn it is.
func (r *runner) nextMacro() *macro {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.macro != nil && r.macro.ready && !r.macro.job.done {
		return r.macro
	}
	return nil
}

// turn lets a build begin.
func (m *macro) turn(r *runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.ready = true
}

func (r *runner) macroAsked() <-chan struct{} { return r.asked }

// work builds until the mission is done, its owner is needed, or somebody wants its end; then the operation has its
// outcome. When ctx ends it has none: whoever comes after goes on.
func (m *macro) work(ctx context.Context) {
	o, done := m.build(ctx)
	if !done {
		return
	}
	m.r.mu.Lock()
	m.r.macro, m.r.built = nil, true
	m.r.mu.Unlock()
	m.r.finish(m.job, o)
	poke(m.r.told)
}

func (m *macro) build(ctx context.Context) (host.Outcome, bool) {
	team, leave, err := m.r.join(m.b)
	if err != nil {
		return m.failed(codeOf(err), err.Error()), true
	}
	defer leave()
	site, err := m.open(team)
	if err != nil {
		return m.failed(codeOf(err), err.Error()), true
	}
	reporting, stop := context.WithCancel(ctx)
	var reports sync.WaitGroup
	reports.Add(1)
	go func() {
		defer reports.Done()
		m.reports(reporting)
	}()
	defer reports.Wait()
	defer stop()
	accepted := 0
	for {
		res, err := site.Work(ctx, m.join, builder.Retry{Backoff: m.r.h.cfg.Rejoin, Unit: m.r.h.cfg.Unit})
		if ctx.Err() != nil {
			return host.Outcome{}, false
		}
		m.mu.Lock()
		waiting, why := m.ended, m.why
		m.mu.Unlock()
		step, unverified := firstUnverified(site)
		if err == nil && waiting == mission.WaitUnverified.String() && unverified && accepted+1 < m.b.args.Unverified {
			if err = site.Accept(step); err == nil { // the mission's owner has said that so many may stay unverified
				accepted++
				m.mu.Lock()
				m.ended = ""
				m.mu.Unlock()
				site.Again()
				continue
			}
		}
		return m.outcome(site, res, err, waiting, why), true
	}
}

func firstUnverified(s *builder.Site) (int, bool) {
	for i, st := range s.Mission().Statuses() {
		if st.State == mission.Unverified {
			return i, true
		}
	}
	return 0, false
}

// open makes the site, with what was asked of it before it was there.
func (m *macro) open(team *builder.Team) (*builder.Site, error) {
	terms, err := builder.TermsOf(&m.r.cfg.Profile)
	if err != nil {
		return nil, err
	}
	args := &m.b.args
	rate := m.r.cfg.Profile.UsesPerSecond()
	if args.Rate != nil {
		rate = *args.Rate
	}
	site := &builder.Site{
		Journal: m.r.journal, Record: m.b.record, Uses: builder.UsesOf(m.b.plan), Plan: builder.MissionOf(m.b.plan), Terms: terms,
		Options: builder.Options{
			Pipeline: args.Pipeline, Rate: rate, ReconcileWorld: args.Reconcile == "world", MayReplace: args.MayReplace, Stay: true,
			Ahead: 2*args.Pipeline + 2,
		},
		Gate: m, Principal: m.who, Lease: m.lease, Report: m.hear, At: m.r.cfg.At, Rand: m.r.h.cfg.Rand, Now: m.r.h.cfg.Now,
		States: effects.RegistryStates{Registry: m.reg}, Team: team, Self: mission.BotID(m.r.cfg.ID),
		Name: m.r.h.named,
	}
	if site.Record.State == journal.MissionStopped {
		site.Record.State = journal.MissionOpen
	}
	if err := site.Open(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.team, m.site, m.done = team, site, int(site.Mission().Cursor().Count)
	if m.ended != "" {
		site.Quit()
	}
	return site, nil
}

// join makes a session for the site, in which the actor's reads are answered too.
func (m *macro) join(ctx context.Context) (*bot.Bot, error) {
	r := m.r
	o := r.cfg.Options
	o.Protocol = m.b.plan.Protocol
	m.site.Hook(&o)
	b, err := bot.Join(ctx, o)
	if err != nil {
		return nil, err
	}
	a, err := actor.New(b, r.actorConfig(false))
	if err != nil {
		b.Close()
		return nil, err
	}
	r.begin(&session{bot: b, actor: a, entry: m.site.Entry(), macro: true})
	b.Listen(&herald{r: r, end: r.over})
	return b, nil
}

// hear takes the builder's news, on the session's loop.
func (m *macro) hear(e builder.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noted(e)
	if m.desk == nil {
		m.consider(e)
	}
	poke(m.told)
}

// noted keeps what is told of the work. The lock is held.
func (m *macro) noted(e builder.Event) {
	switch e := e.(type) {
	case builder.Settled:
		if e.Verdict == effects.Refused {
			m.no = builder.Words(e)
		}
		m.done = int(m.site.Mission().Cursor().Count)
		m.note = ""
	case builder.Working:
		m.note = ""
	case builder.Waiting:
		m.note = "waiting: " + e.For.String()
		if e.Who != "" {
			m.note += fmt.Sprintf(": %s, where step %d belongs", e.Who, e.Step+1)
			m.no = builder.Words(e)
		}
		if e.For != mission.WaitOutOfItems {
			return
		}
		for _, s := range e.Short {
			if it := m.reg.ItemByID(s.Item); it != nil {
				m.note += fmt.Sprintf(", %d %s", s.Need-s.Have, it.Name)
			}
		}
	case builder.Denied:
		m.note = builder.Words(e)
		m.no = m.note
	case builder.Walked:
		m.no = builder.Words(e)
	case builder.Rejoining, builder.Unanswered:
		m.note = builder.Words(e)
	}
}

// consider ends work that does not go on by itself. The lock is held.
func (m *macro) consider(e builder.Event) {
	switch e := e.(type) {
	case builder.Settled, builder.Working: // asking again alone is none
		m.absent, m.refused = time.Time{}, time.Time{}
	case builder.Waiting:
		m.absent = time.Time{}
		if e.For != m.waits {
			m.refused = time.Time{}
		}
		m.waits = e.For
		switch e.For {
		case mission.WaitDisturbed, mission.WaitWrongResult, mission.WaitUnverified:
			m.end(e.For.String(), builder.Words(e))
		case mission.WaitAbsent:
			m.absent = m.r.h.cfg.Now()
		case mission.WaitInTheWay:
			m.refused = m.r.h.cfg.Now()
		case mission.WaitRefused:
			if m.refused.IsZero() {
				m.refused = m.r.h.cfg.Now()
			}
			if m.denied && m.denial.code == budgetExceeded {
				m.end(budgetExceeded, "every step that is left was denied: "+m.denial.message)
			} else if m.denied {
				m.end("denied", "every step that is left was denied: "+m.denial.message)
			}
		}
	case builder.Denied:
		if e.Gate && !e.Again && e.Rule != string(host.Cancelled) {
			m.denied, m.denial = true, denial{e.Rule, e.Why}
		}
	}
}

// end asks for the end of the work, once. The lock is held.
func (m *macro) end(how, why string) {
	if m.ended != "" {
		return
	}
	m.ended, m.why = how, why
	if m.site != nil && m.desk == nil { // another operation goes on with a prepared build, or its caller ends it
		m.site.Quit()
	}
}

// reports tells the daemon how far the build is, at most once a second.
func (m *macro) reports(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.told:
		case <-tick.C:
			m.impatient()
			continue
		}
		if err := m.tell(ctx); err != nil && ctx.Err() == nil {
			m.r.h.cfg.Log.Debug("progress was not taken", "operation", m.op, "error", err)
		}
		poke(m.r.told)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// impatient ends a build that has waited long enough for what is not likely to come.
func (m *macro) impatient() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, patience := m.r.h.cfg.Now(), m.r.h.cfg.Patience
	switch {
	case !m.refused.IsZero() && now.Sub(m.refused) > patience && m.waits == mission.WaitInTheWay:
		m.end(m.waits.String(), fmt.Sprintf("nobody has moved for %s: %s, then go on with this mission", patience, m.no))
	case !m.refused.IsZero() && now.Sub(m.refused) > patience:
		m.end(mission.WaitRefused.String(), "the server or the guard refused what is left, and nothing has changed since: "+m.no)
	case !m.absent.IsZero() && now.Sub(m.absent) > patience && m.team != nil:
		if away := m.team.Absent(); len(away) > 0 {
			m.end(mission.WaitAbsent.String(), fmt.Sprintf("steps were sent by %v, which can alone tell what became of them: let it join its server, then go on with this mission", names(away)))
		}
	}
}

// tell reports progress. The clock makes sequences rise across restarts.
func (m *macro) tell(ctx context.Context) error {
	m.mu.Lock()
	m.report = max(m.report+1, uint64(max(0, m.r.h.cfg.Now().UnixMilli())))
	run := host.Run{Op: m.op, Sequence: m.report, Note: clip(m.note)}
	if m.steps > 0 {
		run.Percent = min(100, max(0, 100*m.done/m.steps))
	}
	if run.Note == "" && m.done >= 0 {
		run.Note = fmt.Sprintf("placing: %d of %d", m.done, m.steps)
	}
	m.mu.Unlock()
	s, ok := m.r.h.now()
	if !ok {
		return nil
	}
	return m.r.h.cfg.Daemon.Run(ctx, s, run)
}

func (m *macro) status() *macroStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &macroStatus{Operation: m.op, Mission: m.b.record.ID, Steps: m.steps, Done: max(0, m.done), Note: m.note, Children: m.children}
}

// cancel hears that the daemon wants the end of the build or of one of its children.
func (m *macro) cancel(op host.OpID, why string) {
	m.mu.Lock()
	q := m.byOp[op]
	if op == m.op {
		m.end(string(host.Cancelled), why)
	}
	m.mu.Unlock()
	if q != nil { // of a prepared build nobody takes single steps back: it lost its lease or its epoch
		q.reply(builder.Leave{Op: op, Code: string(host.Cancelled), Message: why, Again: m.desk != nil})
		m.r.mu.Lock()
		begun := m.r.jobs[op] != nil
		m.r.mu.Unlock()
		if !begun {
			m.forget(op)
		}
	}
}

// stop is the emergency stop.
func (m *macro) stop(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.site != nil {
		m.site.Stop()
	}
	m.end(string(host.Cancelled), why)
}

// buildOutput is the output of build_structure.
type buildOutput struct {
	Mission    effects.MissionID `json:"mission"`
	Done       bool              `json:"done"`
	Continue   bool              `json:"continue,omitempty"` // a further operation with this mission goes on
	Waiting    string            `json:"waiting,omitempty"`
	Steps      int               `json:"steps"`
	Proven     int               `json:"proven"`
	Present    int               `json:"present"`
	Accepted   int               `json:"accepted_unverified"`
	Unverified int               `json:"unverified"`
	Refused    int               `json:"refused"`
	Wrong      int               `json:"wrong_result"`
	Disturbed  int               `json:"disturbed"`
	Open       int               `json:"open"`
}

// outcome is how the build ended.
func (m *macro) outcome(site *builder.Site, res builder.Result, err error, ended, why string) host.Outcome {
	s := site.Mission().Summary()
	out := buildOutput{
		Mission: m.b.record.ID, Done: res.Done, Steps: s.Steps, Proven: s.Proven, Present: s.Present, Accepted: s.Accepted,
		Unverified: s.Unverified, Refused: s.Refused, Wrong: s.Wrong, Disturbed: s.Disturbed, Open: s.Open,
	}
	o := host.Outcome{Op: m.op, Status: host.Succeeded, Code: "built", Message: fmt.Sprintf("%d of %d steps are done", s.Proven+s.Present+s.Accepted, s.Steps)}
	m.mu.Lock()
	full, no := m.full, m.no
	m.mu.Unlock()
	switch {
	case err != nil:
		o.Status, o.Code, o.Message = host.Failed, m.r.wordOf(err), clip(err.Error())
	case res.Done:
	case ended == string(host.Cancelled):
		o.Status, o.Code, o.Message = host.Cancelled, ended, clip(o.Message+"; what is built stays: "+why)
	case full:
		out.Continue = true
		o.Code, o.Message = "continue", clip(o.Message+fmt.Sprintf("; one operation has at most %d children: submit another with this mission to go on", m.r.h.cfg.Children))
	case res.Stuck != "":
		o.Status, o.Code, o.Message = host.Failed, "stuck", clip("the bot cannot get to where it must look: "+res.Stuck)
	default:
		if ended == "" {
			ended = res.Waiting.String()
		}
		if why == "" {
			why = no
		}
		o.Status, o.Code, out.Waiting, o.Message = host.Failed, ended, ended, clip(o.Message+"; "+why)
	}
	o.Output, _ = json.Marshal(out) // made of strings and numbers
	return o
}

func (m *macro) failed(code, message string) host.Outcome {
	return host.Outcome{Op: m.op, Status: host.Failed, Code: code, Message: clip(message)}
}
