package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"blockworld/controlplane"
)

// Bodies are read strictly: one JSON value of UTF-8 text, no member that the type does not have, no name twice, no other
// type than the member's. Each fault has its own code, and the sentence names the place by its JSON pointer, never by what
// was sent, for that may be a secret.

// maxDepth bounds how deep values lie in one another; nothing that is asked for here goes deeper.
const maxDepth = 64

// decode reads the one JSON value of b into v.
func decode(b []byte, v any) *controlplane.Error {
	if len(bytes.TrimSpace(b)) == 0 {
		return problem(CodeBodyMissing, "the body is empty: send the JSON object that the document at /openapi.json describes")
	}
	if deeper(b, maxDepth) {
		return problem(CodeInvalidJSON, "values lie deeper in one another than %d levels: send a flatter object", maxDepth)
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	if err := json.UnmarshalDecode(d, v, json.RejectUnknownMembers(true)); err != nil {
		return badJSON(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return problem(CodeTrailingData, "something follows the JSON value: send exactly one value")
	}
	return nil
}

// deeper tells whether b opens more than limit values at once, brackets within strings left out.
func deeper(b []byte, limit int) bool {
	depth, inside, escaped := 0, false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case inside:
			escaped, inside = c == '\\', c != '"'
		case c == '"':
			inside = true
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// badJSON puts a decoder's fault into a code of its own.
func badJSON(err error) *controlplane.Error {
	var meaning *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax) && errors.Is(syntax.Err, jsontext.ErrDuplicateName):
		return problem(CodeDuplicateKey, "%s is there twice: send each member once", place(syntax.JSONPointer))
	case errors.As(err, &syntax):
		return problem(CodeInvalidJSON, "this is no JSON at byte %d, in %s: send one JSON object in UTF-8", syntax.ByteOffset, place(syntax.JSONPointer))
	case errors.As(err, &meaning) && errors.Is(meaning.Err, json.ErrUnknownName):
		return problem(CodeUnknownMember, "%s is no member of this request: leave it out, or see /openapi.json for the members there are", place(meaning.JSONPointer))
	case errors.As(err, &meaning):
		return problem(CodeWrongType, "%s has the wrong type or form: see /openapi.json for what it must be", place(meaning.JSONPointer))
	default:
		return problem(CodeInvalidJSON, "this is no JSON that can be read to its end: send one whole JSON object in UTF-8")
	}
}

// place writes a pointer so that it is short and stays on its line, whatever the names in it are.
func place(p jsontext.Pointer) string {
	if p == "" {
		return "the body"
	}
	s := string(p)
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return fmt.Sprintf("%q", s)
}

// readBody reads at most limit bytes of a request's body and refuses more.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *controlplane.Error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, tooLarge(limit)
	case err != nil:
		return nil, problem(CodeInvalidJSON, "the body ended early or came too slowly: send it again as a whole")
	}
	return b, nil
}

func tooLarge(limit int64) *controlplane.Error {
	return problem(controlplane.CodeTooLarge, "the body has more than %d bytes, the most that this request may have: send less", limit)
}

// checkMedia holds a body to the content type of its route, and to the encoding that is read.
func checkMedia(h http.Header, want string) *controlplane.Error {
	got, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := params["charset"]
	if err != nil || got != want || len(h.Values("Content-Type")) != 1 || charset != "" && charset != "utf-8" && charset != "UTF-8" {
		return problem(CodeMediaType, "the body must be sent as Content-Type: %s", want)
	}
	if e := h.Get("Content-Encoding"); e != "" && e != "identity" {
		return problem(CodeMediaType, "the body must be sent without Content-Encoding")
	}
	return nil
}
