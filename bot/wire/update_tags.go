package wire

// UpdateTags lists the tags of registries.
type UpdateTags struct{ Registries []TagRegistry }

// TagRegistry is the tags of one registry.
type TagRegistry struct {
	Registry string
	Tags     []Tag
}

// Tag is a named set of ids.
type Tag struct {
	Name string
	IDs  []int32
}

// Marshal reads or writes the packet.
func (p *UpdateTags) Marshal(io *IO) {
	List(io, &p.Registries, 2, func(io *IO, r *TagRegistry) {
		io.String(&r.Registry, maxKey)
		List(io, &r.Tags, 2, func(io *IO, t *Tag) {
			io.String(&t.Name, maxKey)
			List(io, &t.IDs, 1, (*IO).VarInt)
		})
	})
}
