package wire

import "blockworld/worldstate/registry"

// HashedStack is a stack in container_click from 1.21.5 on: its components are told by hash only. Count 0 is empty.
type HashedStack struct {
	Item    registry.ItemID
	Count   int32
	Added   []HashedComponent
	Removed []int32
}

// HashedComponent is one component by hash (CRC32C of its canonical form).
type HashedComponent struct {
	Type int32
	Hash int32
}

func (io *IO) hashedStack(s *HashedStack) {
	present := s.Count > 0
	if !io.Flag(&present) {
		return
	}
	io.VarInt((*int32)(&s.Item))
	io.VarInt(&s.Count)
	List(io, &s.Added, 5, func(io *IO, c *HashedComponent) {
		io.VarInt(&c.Type)
		io.Int32(&c.Hash)
	})
	List(io, &s.Removed, 1, (*IO).VarInt)
}
