package bot

import (
	"time"

	"blockworld/bot/egress"
	"blockworld/bot/wire"
)

// Capture hears every packet of a session in the order in which the loop handled and wrote them; *wire.CaptureWriter is
// one. It runs on the loop. An error ends the capture, not the session.
type Capture interface {
	Write(wire.CaptureRecord) error
}

// recording is a capture under way; nil records nothing.
type recording struct {
	to    Capture
	clock Clock
	from  time.Time
	log   func(error)
}

// note writes one packet, id and body.
func (r *recording) note(d wire.Direction, s wire.State, data []byte) {
	if r == nil || r.to == nil {
		return
	}
	err := r.to.Write(wire.CaptureRecord{Direction: d, State: s, At: r.clock.Now().Sub(r.from), Data: data})
	if err != nil {
		r.to = nil
		r.log(err)
	}
}

// recordedSink notes what egress writes. Nothing but the connection itself is written to.
type recordedSink struct {
	egress.Sink
	conn *wire.Conn
	rec  *recording
}

// WritePacket writes, and notes what was written.
func (s recordedSink) WritePacket(p wire.Packet) error {
	state := s.conn.WriteState()
	if err := s.Sink.WritePacket(p); err != nil {
		return err
	}
	if data, err := wire.EncodePacket(nil, s.conn.Protocol(), state, wire.Serverbound, p); err == nil {
		s.rec.note(wire.Serverbound, state, data)
	}
	return nil
}

// readRecorded reads one packet and keeps its bytes for the capture.
func readRecorded(conn *wire.Conn) (in inbound, err error) {
	for {
		data, err := conn.ReadFrame()
		if err != nil {
			return inbound{}, err
		}
		in = inbound{state: conn.ReadState(), data: data} // as of now: it may have changed while we waited
		kept := append([]byte(nil), data...)              // a packet may keep parts of what it was decoded from
		if in.packet, err = conn.Decode(kept); err == nil {
			return in, nil
		}
		if isUnknown(err) {
			continue
		}
		return in, err
	}
}
