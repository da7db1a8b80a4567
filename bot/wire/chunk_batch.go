package wire

// ChunkBatchStart begins a batch of columns.
type ChunkBatchStart struct{}

// Marshal reads or writes the packet.
func (*ChunkBatchStart) Marshal(*IO) {}

// ChunkBatchFinished ends a batch; the client answers ChunkBatchReceived.
type ChunkBatchFinished struct{ Size int32 }

// Marshal reads or writes the packet.
func (p *ChunkBatchFinished) Marshal(io *IO) { io.VarInt(&p.Size) }

// ChunkBatchReceived tells the server how many columns per tick the client wants.
type ChunkBatchReceived struct{ ChunksPerTick float32 }

// Marshal reads or writes the packet.
func (p *ChunkBatchReceived) Marshal(io *IO) { io.Float32(&p.ChunksPerTick) }
