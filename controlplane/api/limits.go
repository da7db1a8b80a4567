package api

import (
	"net"
	"net/http"
	"time"
)

// Limits bound what one caller can take of the server. The zero value of a field means its default.
type Limits struct {
	Body      int64 // bytes of a JSON body; 1 MiB
	Manifest  int64 // bytes of a host's registration, which holds the schemas of all its actors; 8 MiB
	Blueprint int64 // bytes of a blueprint; 16 MiB
	Header    int   // bytes of a request's line and headers; 16 KiB
	Quick     int   // requests answered at once at the same time; 256
	Waiting   int   // long polls, submits and event streams at the same time; 1,024
	Each      int   // of the waiting ones, how many for one user's token; 64
	EachHost  int   // and for one host's, whose bots ask for themselves; 512

	ReadHeader time.Duration // until the headers are there; 5 s
	Read       time.Duration // until the body is there; 30 s
	Write      time.Duration // for an answer, a wait of 25 s included; 45 s
	Idle       time.Duration // an open connection without a request; 90 s
	Grace      time.Duration // for requests under way when the server stops; 10 s
	Beat       time.Duration // at most between two lines of an event stream; 15 s
}

func (l Limits) orDefaults() Limits {
	atLeast(&l.Body, 1<<20)
	atLeast(&l.Manifest, 8<<20)
	atLeast(&l.Blueprint, 16<<20)
	atLeast(&l.Header, 16<<10)
	atLeast(&l.Quick, 256)
	atLeast(&l.Waiting, 1024)
	atLeast(&l.Each, 64)
	atLeast(&l.EachHost, 512)
	atLeast(&l.ReadHeader, 5*time.Second)
	atLeast(&l.Read, 30*time.Second)
	atLeast(&l.Write, 45*time.Second)
	atLeast(&l.Idle, 90*time.Second)
	atLeast(&l.Grace, 10*time.Second)
	atLeast(&l.Beat, 15*time.Second)
	return l
}

// atLeast puts the default where nothing, or nothing sensible, was said.
func atLeast[T int | int64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// gate lets n callers through at a time and turns the next ones away; nobody waits in a line that has no end.
type gate chan struct{}

func newGate(n int) gate { return make(gate, n) }

// enter tells whether there was room; leave must follow when there was.
func (g gate) enter() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g gate) leave() { <-g }

// sameSite refuses what a web page of another site sends through the browser of somebody who can reach this server.
// A browser tells where a page came from in Origin. A page that had its own name resolved to this machine shows in Host,
// which is held to the loopback names as long as nobody has to show a token.
func sameSite(r *http.Request, tokens bool) bool {
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host && o != "https://"+r.Host {
		return false
	}
	return tokens || loopbackName(r.Host)
}

func loopbackName(hostport string) bool {
	name := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		name = h
	}
	if name == "localhost" {
		return true
	}
	if len(name) > 2 && name[0] == '[' && name[len(name)-1] == ']' {
		name = name[1 : len(name)-1]
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}
