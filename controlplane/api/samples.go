package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// curl writes a request of an operation as a command line that works as it stands, but for what it names in capitals.
func curl(base, method, path string, op *huma.Operation) string {
	var b strings.Builder
	b.WriteString("curl -sS")
	if method != http.MethodGet {
		b.WriteString(" -X " + method)
	}
	if len(op.Security) > 0 {
		b.WriteString(` -H "Authorization: Bearer $BLOCKWORLD_TOKEN"`)
	}
	for _, p := range op.Parameters {
		value := example(p)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "header":
			b.WriteString(" -H '" + p.Name + ": " + value + "'")
		}
	}
	if ok := op.Responses["200"]; ok != nil && ok.Content["application/octet-stream"] != nil {
		b.WriteString(" -o FILE")
	}
	b.WriteString(" '" + base + path + "'")
	if op.RequestBody != nil {
		for media, m := range op.RequestBody.Content {
			b.WriteString(" -H 'Content-Type: " + media + "'")
			if media != "application/json" {
				b.WriteString(" --data-binary @FILE")
				continue
			}
			body, _ := json.Marshal(m.Example) // made of strings, numbers and lists
			b.WriteString(" -d '" + string(body) + "'")
		}
	}
	return b.String()
}

// example is the value that the document shows for a parameter.
func example(p *huma.Param) string {
	if p.Schema == nil || len(p.Schema.Examples) == 0 {
		if p.Name == "digest" {
			return zeroDigest
		}
		return zeroID
	}
	b, _ := json.Marshal(p.Schema.Examples[0]) // a string or a number
	return strings.Trim(string(b), `"`)
}

// eachOperation calls f for everything in the document.
func eachOperation(doc *huma.OpenAPI, f func(method, path string, op *huma.Operation)) {
	for path, item := range doc.Paths {
		for method, op := range map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
		} {
			if op != nil {
				f(method, path, op)
			}
		}
	}
}

// asked marks every schema that a request body reaches: only those are closed to further members. Answers may get more.
func asked(doc *huma.OpenAPI) map[string]bool {
	seen := map[string]bool{}
	var visit func(*huma.Schema)
	visit = func(s *huma.Schema) {
		if s == nil {
			return
		}
		if name, ok := strings.CutPrefix(s.Ref, schemaPrefix); ok && !seen[name] {
			seen[name] = true
			visit(doc.Components.Schemas.Map()[name])
		}
		visit(s.Items)
		for _, p := range s.Properties {
			visit(p)
		}
		for _, p := range s.AnyOf {
			visit(p)
		}
	}
	eachOperation(doc, func(_, _ string, op *huma.Operation) {
		if op.RequestBody != nil {
			for _, m := range op.RequestBody.Content {
				visit(m.Schema)
			}
		}
	})
	return seen
}
