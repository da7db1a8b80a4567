package wire

// skipComponent passes over one component of a stack: its type and its value.
func (io *IO) skipComponent() {
	var t int32
	io.VarInt(&t)
	if io.ok() {
		io.Fail(errTruncated)
	}
}
