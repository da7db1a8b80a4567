package bot

import (
	"errors"
	"net"
	"sync"
	"time"

	"blockworld/bot/wire"
)

// inboundQueue is how many decoded packets may wait for the loop; then the reader waits, and with it the server.
const inboundQueue = 256

// inbound is one packet from the server, a packet that could not be decoded, or the end of the stream.
type inbound struct {
	packet    wire.Packet
	undecoded *wire.DecodeError
	err       error

	// With a capture: the packet's bytes, and the state in which they came.
	data  []byte
	state wire.State
}

// link is the connection as the loop holds it: packets come in through a channel, the codec's switches are thrown
// while the reader is parked, and writing is left to egress.
type link struct {
	raw     net.Conn
	conn    *wire.Conn
	packets chan inbound
	keep    bool          // packets come with their bytes
	resume  chan struct{} // lets a parked reader go on
	closing chan struct{}
	once    sync.Once
	reader  sync.WaitGroup
}

// timed is a connection whose writes have to be taken in time.
type timed struct {
	net.Conn
	limit time.Duration
}

func (t timed) Write(b []byte) (int, error) {
	if err := t.SetWriteDeadline(time.Now().Add(t.limit)); err != nil {
		return 0, err
	}
	return t.Conn.Write(b)
}

// newLink starts the reader. Every link must be closed.
func newLink(raw net.Conn, conn *wire.Conn, keep bool) *link {
	l := &link{
		raw: raw, conn: conn, keep: keep,
		packets: make(chan inbound, inboundQueue),
		resume:  make(chan struct{}),
		closing: make(chan struct{}),
	}
	l.reader.Add(1)
	go l.read()
	return l
}

// read hands packets over until the stream ends or the link is closed. It owns the codec's read half, except while it is
// parked.
func (l *link) read() {
	defer l.reader.Done()
	for {
		in := l.next()
		select {
		case l.packets <- in:
		case <-l.closing:
			return
		}
		if in.err != nil {
			return
		}
		if parks(in.packet) && !l.park() {
			return
		}
	}
}

// next reads one packet; what is wrong with it is part of the result.
func (l *link) next() (in inbound) {
	var err error
	if l.keep {
		in, err = readRecorded(l.conn)
	} else {
		in.packet, err = l.conn.ReadPacket()
	}
	if err != nil && !errors.As(err, &in.undecoded) {
		in.err = err
	}
	return in
}

// isUnknown says whether a packet is none of the table.
func isUnknown(err error) bool { return errors.Is(err, wire.ErrUnknownPacket) }

// park waits until the loop has thrown the codec's switches that belong to the packet just handed over.
func (l *link) park() bool {
	select {
	case <-l.resume:
		return true
	case <-l.closing:
		return false
	}
}

// unpark lets the reader go on after a packet that parks it.
func (l *link) unpark() {
	select {
	case l.resume <- struct{}{}:
	case <-l.closing:
	}
}

// parks says whether the bytes behind a packet mean something only after its answer.
func parks(p wire.Packet) bool {
	switch p.(type) {
	case *wire.HelloClientbound, *wire.LoginCompression, *wire.LoginFinished, *wire.FinishConfiguration, *wire.StartConfiguration:
		return true
	}
	return false
}

// close ends the connection and waits for the reader. It may be called more than once.
func (l *link) close() {
	l.once.Do(func() {
		close(l.closing)
		l.raw.Close()
	})
	l.reader.Wait()
}
