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
	Foreign   int64 // bytes of a request in another protocol that was mounted; 4 MiB

	// How many requests of each sort there may be at the same time. Each sort has room of its own.
	Urgent      Room // stops, and what ends a token; 16 of each token, however many tokens there are
	Quick       Room // what is answered at once; 64 of 256
	Acting      Room // submits, confirmations and reads, which ask a host; 64 of 512
	Waiting     Room // long polls and streams; 64 of 1,024
	Large       Room // bodies that may be larger than Body; 4 of 32
	Mounted     Room // requests in another protocol; 64 of 512
	HostQuick   Room // what hosts tell; 256 of 1,024
	HostWaiting Room // hosts' polls, and the children of macros: the bots of a host ask for themselves; 512 of 2,048

	ReadHeader time.Duration // until the headers are there; 5 s
	Read       time.Duration // until the body is there; 30 s
	Write      time.Duration // for an answer, a wait of 25 s included; 45 s
	Idle       time.Duration // an open connection without a request; 90 s
	Grace      time.Duration // for requests under way when the server stops; 10 s
	Beat       time.Duration // at most between two lines of an event stream; 15 s
}

// Room bounds requests of one sort.
type Room struct {
	Each int // of one token, those counted whose bodies are still on their way
	All  int // of all tokens together, those counted whose bodies are there; zero: only tokens are bounded
}

func (l Limits) orDefaults() Limits {
	atLeast(&l.Body, 1<<20)
	atLeast(&l.Manifest, 8<<20)
	atLeast(&l.Blueprint, 16<<20)
	atLeast(&l.Header, 16<<10)
	atLeast(&l.Foreign, 4<<20)
	for _, r := range []struct {
		room      *Room
		each, all int
	}{
		{&l.Urgent, 16, 0}, {&l.Quick, 64, 256}, {&l.Acting, 64, 512}, {&l.Waiting, 64, 1024}, {&l.Large, 4, 32},
		{&l.Mounted, 64, 512}, {&l.HostQuick, 256, 1024}, {&l.HostWaiting, 512, 2048},
	} {
		atLeast(&r.room.Each, r.each)
		atLeast(&r.room.All, r.all)
	}
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
