package wire

// ContainerClose closes a window, either way.
type ContainerClose struct{ Window int32 }

// Marshal reads or writes the packet.
func (p *ContainerClose) Marshal(io *IO) { io.containerID(&p.Window) }

// containerID is a window id: one byte, or a VarInt with feature ContainerIDVarInt.
func (io *IO) containerID(v *int32) {
	if io.Has(ContainerIDVarInt) {
		io.VarInt(v)
		return
	}
	b := uint8(*v)
	io.Uint8(&b)
	if io.reading && io.ok() {
		*v = int32(b)
	}
}
