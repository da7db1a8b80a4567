package api

import (
	"io"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	v1 "blockworld/controlplane/api/v1"
)

// jsonFormat writes answers, with < > & as they are: every answer says what it is and that nobody is to guess otherwise
// (X-Content-Type-Options), so no browser takes one for a page. It reads nothing: bodies are read before the framework has them, and more strictly.
var jsonFormat = huma.Format{
	Marshal:   writeJSON,
	Unmarshal: func(b []byte, v any) error { return json.Unmarshal(b, v) },
}

// writeJSON writes a value on a line of its own, for those who look at answers in a terminal.
func writeJSON(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, v1.Words); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
