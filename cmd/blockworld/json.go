package main

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// plainJSON writes v on one line, with < > & as they are: no browser reads it.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// readable writes JSON for people: a member a line, and nothing that could steer a terminal. What is no JSON stays one line.
func readable(raw json.RawMessage) string {
	v := jsontext.Value(bytes.Clone(raw))
	if v.Format(jsontext.Multiline(true), jsontext.WithIndent("  ")) != nil {
		return plain(string(raw))
	}
	short := numbers.ReplaceAllFunc(v, func(list []byte) []byte {
		return append(append([]byte("["), bytes.Join(bytes.Fields(list[1:len(list)-1]), []byte(" "))...), ']')
	})
	return plainLines(string(short))
}

// numbers is a list of nothing but numbers, such as a position. It is no part of a text: no line ends inside one.
var numbers = regexp.MustCompile(`\[\n[-+.0-9eE,\s]+\n *\]`)
