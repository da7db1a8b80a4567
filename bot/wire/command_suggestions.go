package wire

// CommandSuggestionsServerbound asks how a command could go on.
type CommandSuggestionsServerbound struct {
	Transaction int32
	Text        string
}

// Marshal reads or writes the packet.
func (p *CommandSuggestionsServerbound) Marshal(io *IO) {
	io.VarInt(&p.Transaction)
	io.String(&p.Text, 32500)
}

// CommandSuggestionsClientbound answers it.
type CommandSuggestionsClientbound struct {
	Transaction, Start, Length int32
	Matches                    []Suggestion
}

// Suggestion is one way to go on.
type Suggestion struct {
	Match      string
	HasTooltip bool
	Tooltip    Text
}

// Marshal reads or writes the packet.
func (p *CommandSuggestionsClientbound) Marshal(io *IO) {
	io.VarInt(&p.Transaction)
	io.VarInt(&p.Start)
	io.VarInt(&p.Length)
	List(io, &p.Matches, 2, func(io *IO, s *Suggestion) {
		io.String(&s.Match, maxString)
		if io.Flag(&s.HasTooltip) {
			io.Text(&s.Tooltip)
		}
	})
}
