package wire

// CustomReportDetails are lines for the client's crash and chat reports.
type CustomReportDetails struct{ Details []ReportDetail }

// ReportDetail is one line.
type ReportDetail struct{ Key, Value string }

// Marshal reads or writes the packet.
func (p *CustomReportDetails) Marshal(io *IO) {
	List(io, &p.Details, 2, func(io *IO, d *ReportDetail) {
		io.String(&d.Key, maxString)
		io.String(&d.Value, maxString)
	})
}
