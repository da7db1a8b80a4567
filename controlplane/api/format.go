package api

import (
	"io"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonFormat writes answers. It reads nothing: bodies are read before the framework has them, and more strictly.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		return json.MarshalWrite(w, v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(true))
	},
	Unmarshal: func(b []byte, v any) error { return json.Unmarshal(b, v) },
}
