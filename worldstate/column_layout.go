package worldstate

// ColumnLayout says how a chunk column is packed by one protocol version in one dimension.
type ColumnLayout struct {
	MinY         int32 // lowest block
	Height       int32 // blocks, a multiple of 16
	FluidCount   bool  // a fluid count follows the block count of each section (26.1 and later)
	NoLongCounts bool  // packed arrays carry no length (1.21.5 and later)
	BlockBits    uint8 // bits of a direct block state id
	BiomeBits    uint8 // bits of a direct biome id; 0 where the server has one biome only
	States       int   // number of block states; larger ids are malformed
}
