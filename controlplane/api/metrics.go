package api

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/operation"
)

// counts are the metrics of one server, in a registry of their own.
type counts struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	refusals *prometheus.CounterVec
}

func newCounts(stats func() controlplane.Stats) *counts {
	c := &counts{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "blockworld_http_requests_total", Help: "HTTP requests by route and status."}, []string{"route", "status"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "blockworld_http_refusals_total", Help: "Refused HTTP requests by code."}, []string{"code"}),
	}
	c.registry.MustRegister(c.requests, c.refusals, &gatewayCollector{stats})
	return c
}

// answered counts a request by the pattern of its route, never by its path: whoever asks cannot make new series.
func (c *counts) answered(pattern string, status int) {
	if pattern == "" {
		pattern = "none"
	}
	c.requests.WithLabelValues(pattern, strconv.Itoa(status)).Inc()
}

func (c *counts) refused(code controlplane.Code) { c.refusals.WithLabelValues(string(code)).Inc() }

// metrics answers a scrape; it needs the scope read, and shows of the actors those that the token sees.
func (s *Server) metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := CallerOf(r.Context())
		if err := c.needs(controlplane.ScopeRead); err != nil {
			s.writeProblem(w, err)
			return
		}
		seen := prometheus.NewRegistry()
		seen.MustRegister(&actorCollector{s.gateway.Stats, &c.Principal})
		promhttp.HandlerFor(prometheus.Gatherers{s.counts.registry, seen}, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}

// gatewayCollector reads the gateway's counts at each scrape, so that nothing is counted twice.
type gatewayCollector struct{ stats func() controlplane.Stats }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("blockworld_"+name, help, labels, nil)
}

var (
	descOpen      = desc("operations", "Unfinished operations now, by state.", "state")
	descEntered   = desc("operations_total", "Operations that came to a state.", "state")
	descReceipts  = desc("receipts_total", "Receipts by grade of proof.", "grade")
	descRefusals  = desc("refusals_total", "Rejected operations and refused submits, by code.", "code")
	descDenied    = desc("rule_denials_total", "Denials by the rule that decided.", "rule")
	descUnproven  = desc("unverified_total", "Outcomes that could not be proven.")
	descDecisions = desc("policy_decision_seconds", "How long policy took to decide.")
	descBinds     = desc("bind_to_decision_seconds", "From the question to a host until policy had decided on its answer.")
	descHosts     = desc("hosts", "Hosts with a session.")
	descActors    = desc("actors", "Actors that are known, there or not.")
	descBots      = desc("bots", "Bots in a world now and able to act.")
	descAsked     = desc("host_questions", "Questions to hosts under way.")
	descWaiters   = desc("waiters", "Waits under way.")
	descCommits   = desc("store_commits_total", "Transactions of the store.")
	descWrites    = desc("store_writes_total", "Keys that the store put or deleted.")
)

// Describe lists what is collected.
func (g *gatewayCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descOpen, descEntered, descReceipts, descRefusals, descDenied, descUnproven, descDecisions, descBinds,
		descHosts, descActors, descBots, descAsked, descWaiters, descCommits, descWrites} {
		ch <- d
	}
}

// Collect sends the counts as they are now.
func (g *gatewayCollector) Collect(ch chan<- prometheus.Metric) {
	now := g.stats()
	s := v1.StatsOf(now)
	send := func(d *prometheus.Desc, t prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, t, v, labels...)
	}
	for _, state := range operation.States() {
		send(descOpen, prometheus.GaugeValue, float64(s.Open[state.String()]), state.String())
		send(descEntered, prometheus.CounterValue, float64(s.Entered[state.String()]), state.String())
	}
	for _, m := range []struct {
		d *prometheus.Desc
		m map[string]uint64
	}{{descReceipts, s.Receipts}, {descRefusals, s.Refusals}, {descDenied, s.RulesDenied}} {
		for label, n := range m.m {
			send(m.d, prometheus.CounterValue, float64(n), label)
		}
	}
	send(descUnproven, prometheus.CounterValue, float64(s.Unverified))
	ch <- histogram(descDecisions, &now.Decisions)
	ch <- histogram(descBinds, &now.Binds)
	send(descHosts, prometheus.GaugeValue, float64(s.Hosts))
	send(descActors, prometheus.GaugeValue, float64(s.Actors))
	send(descBots, prometheus.GaugeValue, float64(s.Ready))
	send(descAsked, prometheus.GaugeValue, float64(s.Gateways))
	send(descWaiters, prometheus.GaugeValue, float64(s.Waiters))
	send(descCommits, prometheus.CounterValue, float64(s.Commits))
	send(descWrites, prometheus.CounterValue, float64(s.Writes))
}

// histogram writes a histogram as Prometheus has them: in seconds, each bucket with all that are within its bound.
func histogram(d *prometheus.Desc, h *controlplane.Histogram) prometheus.Metric {
	buckets, n := make(map[float64]uint64, len(h.Bounds)), uint64(0)
	for i, bound := range h.Bounds {
		n += h.Counts[i]
		buckets[bound.Seconds()] = n
	}
	return prometheus.MustNewConstHistogram(d, h.Count(), h.Sum.Seconds(), buckets)
}

// actorCollector tells what hosts count of their actors, those that one principal sees. An actor's name is a label, so there
// are as many series as actors were ever published; nothing of a world comes into one.
type actorCollector struct {
	stats func() controlplane.Stats
	who   *controlplane.Principal
}

var (
	descPackets = desc("packets_total", "Packets between an actor and its server, by direction, as its host has told.", "actor", "direction")
	descBytes   = desc("bytes_total", "Bytes on the wire between an actor and its server, by direction, as its host has told.", "actor", "direction")
	descLate    = desc("ticks_late_total", "Game ticks of an actor that ran more than 50 ms late, as its host has told.", "actor")
)

// Describe lists what is collected.
func (a *actorCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- descPackets
	ch <- descBytes
	ch <- descLate
}

// Collect sends the counts as they are now.
func (a *actorCollector) Collect(ch chan<- prometheus.Metric) {
	for actor, t := range a.stats().Traffic {
		if !a.who.Sees(actor) {
			continue
		}
		name := string(actor)
		send := func(d *prometheus.Desc, v uint64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
		}
		send(descPackets, t.PacketsIn, name, "in")
		send(descPackets, t.PacketsOut, name, "out")
		send(descBytes, t.BytesIn, name, "in")
		send(descBytes, t.BytesOut, name, "out")
		send(descLate, t.TicksLate, name)
	}
}
