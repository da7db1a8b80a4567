package api

import (
	"io"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	v1 "blockworld/controlplane/api/v1"
)

// jsonFormat writes answers. It reads nothing: bodies are read before the framework has them, and more strictly.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		return json.MarshalWrite(w, v, v1.Words, jsontext.EscapeForHTML(true))
	},
	Unmarshal: func(b []byte, v any) error { return json.Unmarshal(b, v) },
}
