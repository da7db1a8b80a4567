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

// Fleet is what only the process that runs bots can count. Totals count since it was started.
type Fleet struct {
	Bots       int    // in a world now
	TicksLate  uint64 // ticks that began more than half a tick late
	PacketsIn  uint64
	PacketsOut uint64
	BytesIn    uint64
	BytesOut   uint64
}

// counts are the metrics of one server, in a registry of their own.
type counts struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	refusals *prometheus.CounterVec
}

func newCounts(stats func() controlplane.Stats, fleet func() Fleet) *counts {
	c := &counts{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "blockworld_http_requests_total", Help: "HTTP requests by route and status."}, []string{"route", "status"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "blockworld_http_refusals_total", Help: "Refused HTTP requests by code."}, []string{"code"}),
	}
	c.registry.MustRegister(c.requests, c.refusals, &gatewayCollector{stats})
	if fleet != nil {
		c.registry.MustRegister(&fleetCollector{fleet})
	}
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

// metrics answers a scrape; it needs the scope read.
func (s *Server) metrics() http.Handler {
	h := promhttp.HandlerFor(s.counts.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := CallerOf(r.Context())
		if err := c.needs(controlplane.ScopeRead); err != nil {
			s.writeProblem(w, err)
			return
		}
		h.ServeHTTP(w, r)
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
	descHosts     = desc("hosts", "Hosts with a session.")
	descActors    = desc("actors", "Actors of hosts with a session.")
	descAsked     = desc("host_questions", "Questions to hosts under way.")
	descWaiters   = desc("waiters", "Waits under way.")
	descCommits   = desc("store_commits_total", "Transactions of the store.")
	descWrites    = desc("store_writes_total", "Keys that the store put or deleted.")
)

// Describe lists what is collected.
func (g *gatewayCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descOpen, descEntered, descReceipts, descRefusals, descDenied, descUnproven, descDecisions,
		descHosts, descActors, descAsked, descWaiters, descCommits, descWrites} {
		ch <- d
	}
}

// Collect sends the counts as they are now.
func (g *gatewayCollector) Collect(ch chan<- prometheus.Metric) {
	s := v1.StatsOf(g.stats())
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
	ch <- prometheus.MustNewConstSummary(descDecisions, s.Decisions, float64(s.DecisionNanos)/1e9, nil)
	send(descHosts, prometheus.GaugeValue, float64(s.Hosts))
	send(descActors, prometheus.GaugeValue, float64(s.Actors))
	send(descAsked, prometheus.GaugeValue, float64(s.Gateways))
	send(descWaiters, prometheus.GaugeValue, float64(s.Waiters))
	send(descCommits, prometheus.CounterValue, float64(s.Commits))
	send(descWrites, prometheus.CounterValue, float64(s.Writes))
}

// fleetCollector reads what the bots count.
type fleetCollector struct{ fleet func() Fleet }

var (
	descBots    = desc("bots", "Bots in a world now.")
	descLate    = desc("ticks_late_total", "Ticks that began more than half a tick late.")
	descPackets = desc("packets_total", "Packets by direction.", "direction")
	descBytes   = desc("bytes_total", "Bytes by direction.", "direction")
)

// Describe lists what is collected.
func (f *fleetCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descBots, descLate, descPackets, descBytes} {
		ch <- d
	}
}

// Collect sends the counts as they are now.
func (f *fleetCollector) Collect(ch chan<- prometheus.Metric) {
	n := f.fleet()
	ch <- prometheus.MustNewConstMetric(descBots, prometheus.GaugeValue, float64(n.Bots))
	for _, m := range []struct {
		d     *prometheus.Desc
		v     uint64
		label []string
	}{
		{descLate, n.TicksLate, nil},
		{descPackets, n.PacketsIn, []string{"in"}}, {descPackets, n.PacketsOut, []string{"out"}},
		{descBytes, n.BytesIn, []string{"in"}}, {descBytes, n.BytesOut, []string{"out"}},
	} {
		ch <- prometheus.MustNewConstMetric(m.d, prometheus.CounterValue, float64(m.v), m.label...)
	}
}
