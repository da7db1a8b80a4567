package wire

// Limits on foreign data, checked before memory is taken. Sources: vanilla's own (frame: 3-byte length, inflated 8 MiB, strings
// 32767 UTF-16 units, text 262144), narrower where the game never comes near.
const (
	MaxFrame     = 1<<21 - 1 // bytes of a frame on the wire; what three bytes of VarInt can say
	MaxInflated  = 8 << 20   // bytes of a packet after inflating
	maxString    = 32767     // UTF-16 units of an ordinary string
	maxText      = 262144    // UTF-16 units of a text component in JSON
	maxKey       = 32767     // UTF-16 units of an identifier
	maxList      = 1 << 20   // elements of a list, whatever the packet's size
	maxCookie    = 5120      // bytes of a cookie
	maxKeyBytes  = 8192      // bytes of a public key or of what it encrypts
	maxChunkData = MaxFrame  // bytes of a column's sections
	maxDepth     = 32        // item stacks within item stacks, schema types within types

	firstAlloc = 256 // elements of a list for which memory is taken before the first is decoded
)
