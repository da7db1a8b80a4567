package wire

import "blockworld/worldstate"

// PlayerInfoRemove takes players off the list.
type PlayerInfoRemove struct{ Players []worldstate.UUID }

// Marshal reads or writes the packet.
func (p *PlayerInfoRemove) Marshal(io *IO) { List(io, &p.Players, 16, (*IO).UUID) }
