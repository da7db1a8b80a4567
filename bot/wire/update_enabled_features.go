package wire

// UpdateEnabledFeatures lists the feature flags of the server's data packs.
type UpdateEnabledFeatures struct{ Features []string }

// Marshal reads or writes the packet.
func (p *UpdateEnabledFeatures) Marshal(io *IO) {
	List(io, &p.Features, 1, func(io *IO, s *string) { io.String(s, maxKey) })
}
