package wire

import "blockworld/worldstate"

// ResourcePackPush offers a resource pack. Its address may carry a token: captures keep no query.
type ResourcePackPush struct {
	UUID      worldstate.UUID // with feature ResourcePackUUID
	URL       string
	Hash      string // SHA-1 in hex, or empty
	Forced    bool
	HasPrompt bool
	Prompt    Text
}

// Marshal reads or writes the packet.
func (p *ResourcePackPush) Marshal(io *IO) {
	if io.Has(ResourcePackUUID) {
		io.UUID(&p.UUID)
	}
	io.String(&p.URL, maxString)
	io.String(&p.Hash, maxString)
	io.Bool(&p.Forced)
	if io.Flag(&p.HasPrompt) {
		io.Text(&p.Prompt)
	}
}

// ResourcePackPop takes one resource pack back, or all.
type ResourcePackPop struct {
	One  bool
	UUID worldstate.UUID
}

// Marshal reads or writes the packet.
func (p *ResourcePackPop) Marshal(io *IO) {
	if io.Flag(&p.One) {
		io.UUID(&p.UUID)
	}
}

// ResourcePack is the client's answer to ResourcePackPush.
type ResourcePack struct {
	UUID   worldstate.UUID // with feature ResourcePackUUID
	Result PackResult
}

// PackResult says what became of a resource pack.
type PackResult int32

// The results. Those from PackDownloaded on exist with feature ResourcePackUUID.
const (
	PackLoaded PackResult = iota
	PackDeclined
	PackFailed
	PackAccepted
	PackDownloaded
	PackBadURL
	PackReloadFailed
	PackDiscarded
)

// Marshal reads or writes the packet.
func (p *ResourcePack) Marshal(io *IO) {
	if io.Has(ResourcePackUUID) {
		io.UUID(&p.UUID)
	}
	io.VarInt((*int32)(&p.Result))
}
