package wire

import "blockworld/worldstate"

// AwardStats is the server's counters of this player; the answer to ClientCommand RequestStats.
type AwardStats struct{ Stats []worldstate.Stat }

// Marshal reads or writes the packet.
func (p *AwardStats) Marshal(io *IO) {
	List(io, &p.Stats, 3, func(io *IO, s *worldstate.Stat) {
		io.VarInt(&s.Category)
		io.VarInt(&s.ID)
		io.VarInt(&s.Value)
	})
}
