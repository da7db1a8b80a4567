package main

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// places knows where in a configuration file something is written. The zero places know nothing.
type places struct{ file *ast.File }

// placesIn reads where the parts of a YAML document are.
func placesIn(data []byte) places {
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		return places{}
	}
	return places{f}
}

// of is the place of "bots[0].plot" in the form [LINE:COLUMN], with a space behind it. What is not written there has the
// place of what it would be in; empty where nothing is known.
func (s places) of(path string) string {
	if s.file == nil {
		return ""
	}
	for path != "" {
		if p, err := yaml.PathString("$." + path); err == nil {
			if n, err := p.FilterFile(s.file); err == nil && n != nil {
				at := n.GetToken().Position
				if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
					at = m.Values[0].Key.GetToken().Position
				}
				return fmt.Sprintf("[%d:%d] ", at.Line, at.Column)
			}
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return ""
}

// wrong is an error with the place of what it is about.
func (s places) wrong(path string, err error) error { return fmt.Errorf("%s%w", s.of(path), err) }

// read reads a node's text by what a type reads text by, and gives its error the place.
func read(n ast.Node, by func([]byte) error) error {
	at := n.GetToken()
	if err := by([]byte(at.Value)); err != nil {
		return fmt.Errorf("[%d:%d] %w", at.Position.Line, at.Position.Column, err)
	}
	return nil
}
