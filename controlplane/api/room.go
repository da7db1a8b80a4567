package api

import (
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"blockworld/controlplane"
	"blockworld/controlplane/token"
)

// room is a sort of requests that is counted apart from all others, so that none of the others keeps it out.
type room uint8

const (
	quick room = iota
	urgent
	acting
	waiting
	large
	mounted
	hostQuick
	hostWaiting
	rooms
)

// of is how much room the limits give to each sort.
func (l *Limits) of(r room) Room {
	return [rooms]Room{quick: l.Quick, urgent: l.Urgent, acting: l.Acting, waiting: l.Waiting, large: l.Large, mounted: l.Mounted,
		hostQuick: l.HostQuick, hostWaiting: l.HostWaiting}[r]
}

// admit is the step that lets a request in: who it is from, and whether its token has room left.
func (s *Server) admit(rt route) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(c)
		who, leave, err := s.enter(r, rt.who, rt.room)
		if err != nil {
			s.write(c, err)
			return
		}
		defer leave()
		next(huma.WithValue(c, callerKey{}, who))
	}
}

// place is the step after a body has been read: it takes the request's place among those of all tokens. A body that comes
// slowly, or never, holds a place of its own token only.
func (s *Server) place(rt route) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		if !s.rooms[rt.room].enter() {
			s.write(c, errBusy())
			return
		}
		defer s.rooms[rt.room].leave()
		next(c)
	}
}

// enter finds the caller and counts the request among those of its token.
func (s *Server) enter(r *http.Request, want token.Kind, in room) (Caller, func(), error) {
	who, err := s.caller(r, want)
	if err != nil {
		return Caller{}, nil, err
	}
	if !s.rooms[in].add(who.Token) {
		return Caller{}, nil, problem(CodeBusy,
			"too many requests of your token at the same time: let some of them end and ask again in a second, with the same key")
	}
	return who, func() { s.rooms[in].remove(who.Token) }, nil
}

func errBusy() *controlplane.Error {
	return problem(CodeBusy, "too many requests at the same time: ask again in a second, with the same key")
}

// crowd counts the requests of one sort that are under way. Who finds no room is turned away; nobody waits in a line that
// has no end.
type crowd struct {
	most Room

	mu   sync.Mutex
	all  int
	each map[string]int // by token
}

func newRooms(l Limits) (out [rooms]*crowd) {
	for r := range rooms {
		out[r] = &crowd{most: l.of(r), each: map[string]int{}}
	}
	return out
}

// add counts a request of one token, unless that has enough. While tokens are off there is one caller, who has all.
func (c *crowd) add(who string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := c.most.Each
	if who == "" {
		most = max(most, c.most.All)
	}
	if c.each[who] >= most {
		return false
	}
	c.each[who]++
	return true
}

func (c *crowd) remove(who string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.each[who]--; c.each[who] == 0 {
		delete(c.each, who)
	}
}

// enter takes a place among those of all tokens, if there is one; leave must follow then.
func (c *crowd) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most.All > 0 && c.all >= c.most.All {
		return false
	}
	c.all++
	return true
}

func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
}
