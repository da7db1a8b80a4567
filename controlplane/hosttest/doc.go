// Package hosttest is a scripted host: it registers, publishes, answers, takes and reports what a test tells it to, and
// writes down what it was sent. It has no world; what it "sends" is a count.
//
//	gateway -> PollOnce / Serve -> Bind (script), Take (script) -> Answer, Ack, Run, Outcome -> gateway
//
// It speaks to whatever has the host protocol's methods: a gateway in the same process, or a client of one.
package hosttest
