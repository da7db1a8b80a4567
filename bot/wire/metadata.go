package wire

// Metadata is an entity's metadata, raw: index, type, value, and so on until metadataEnd.
type Metadata []byte

// metadataEnd is the index that ends it.
const metadataEnd = 0xFF
