package policy

import (
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// fromYAML reads the word of a closed set from a YAML scalar, so that a wrong one is told with line and column.
func fromYAML[T ~uint8](v *T, n ast.Node, words []string) error {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return &yaml.SyntaxError{Message: "one word is wanted here: " + list(words), Token: n.GetToken()}
	}
	if err := parse(v, []byte(s.Value), words); err != nil {
		return &yaml.SyntaxError{Message: err.Error(), Token: n.GetToken()}
	}
	return nil
}

// UnmarshalYAML reads the word; anything else is an error with line and column.
func (p *Profile) UnmarshalYAML(n ast.Node) error { return fromYAML(p, n, profileWords) }

// UnmarshalYAML reads the word; anything else is an error with line and column.
func (l *Layer) UnmarshalYAML(n ast.Node) error { return fromYAML(l, n, layerWords) }

// UnmarshalYAML reads the word; anything else is an error with line and column.
func (r *Result) UnmarshalYAML(n ast.Node) error { return fromYAML(r, n, resultWords) }

// UnmarshalYAML reads the word; anything else is an error with line and column.
func (k *Kind) UnmarshalYAML(n ast.Node) error { return fromYAML(k, n, kindWords) }

// UnmarshalYAML reads the word; anything else is an error with line and column.
func (o *Operation) UnmarshalYAML(n ast.Node) error { return fromYAML(o, n, operationWords) }

// UnmarshalYAML reads the word; anything else is an error with line and column.
func (o *Ownership) UnmarshalYAML(n ast.Node) error { return fromYAML(o, n, ownershipWords) }

// UnmarshalYAML reads the word; anything else is an error with line and column.
func (r *Risk) UnmarshalYAML(n ast.Node) error { return fromYAML(r, n, riskWords) }
