package v1

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Words is how values are written. A member with omitempty is left out when it is empty in Go, not when its JSON is: an
// output of {} is an output. Text that is no UTF-8 comes from no type here but may be in a message; it is written with the
// replacement character, for an answer must not fail over it.
var Words = json.JoinOptions(
	json.Deterministic(true),
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.AllowInvalidUTF8(true),
)
