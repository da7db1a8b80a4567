package wire

// InitializeBorder is the world border.
type InitializeBorder struct {
	CentreX, CentreZ float64
	OldDiameter      float64
	NewDiameter      float64
	LerpTime         int64 // milliseconds; ticks in later versions
	PortalBoundary   int32
	WarningBlocks    int32
	WarningTime      int32
}

// Marshal reads or writes the packet.
func (p *InitializeBorder) Marshal(io *IO) {
	io.Float64(&p.CentreX)
	io.Float64(&p.CentreZ)
	io.Float64(&p.OldDiameter)
	io.Float64(&p.NewDiameter)
	io.VarLong(&p.LerpTime)
	io.VarInt(&p.PortalBoundary)
	io.VarInt(&p.WarningBlocks)
	io.VarInt(&p.WarningTime)
}

// SetBorderCenter moves the world border.
type SetBorderCenter struct{ X, Z float64 }

// Marshal reads or writes the packet.
func (p *SetBorderCenter) Marshal(io *IO) {
	io.Float64(&p.X)
	io.Float64(&p.Z)
}

// SetBorderSize sets the world border's diameter.
type SetBorderSize struct{ Diameter float64 }

// Marshal reads or writes the packet.
func (p *SetBorderSize) Marshal(io *IO) { io.Float64(&p.Diameter) }

// SetBorderLerpSize lets the world border grow or shrink.
type SetBorderLerpSize struct {
	OldDiameter, NewDiameter float64
	LerpTime                 int64
}

// Marshal reads or writes the packet.
func (p *SetBorderLerpSize) Marshal(io *IO) {
	io.Float64(&p.OldDiameter)
	io.Float64(&p.NewDiameter)
	io.VarLong(&p.LerpTime)
}

// SetBorderWarningDelay is the warning before a shrinking border.
type SetBorderWarningDelay struct{ Seconds int32 }

// Marshal reads or writes the packet.
func (p *SetBorderWarningDelay) Marshal(io *IO) { io.VarInt(&p.Seconds) }

// SetBorderWarningDistance is the warning near the border.
type SetBorderWarningDistance struct{ Blocks int32 }

// Marshal reads or writes the packet.
func (p *SetBorderWarningDistance) Marshal(io *IO) { io.VarInt(&p.Blocks) }
