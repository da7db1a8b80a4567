package sentinel

// Tri is the answer to a question that may have none yet. The zero value is Unknown, and the rules treat it like the
// refusing answer.
type Tri uint8

// The three answers.
const (
	Unknown Tri = iota
	No
	Yes
)

// Known turns a plain answer into a Tri.
func Known(yes bool) Tri {
	if yes {
		return Yes
	}
	return No
}

// String returns "unknown", "no" or "yes".
func (t Tri) String() string {
	switch t {
	case No:
		return "no"
	case Yes:
		return "yes"
	}
	return "unknown"
}
