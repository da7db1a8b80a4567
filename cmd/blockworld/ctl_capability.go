package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "blockworld/controlplane/api/v1"
	"blockworld/effects/host"
)

// tellCapability tells what a bot can be asked for, with its arguments.
func tellCapability(p *printer, c *v1.Capability) {
	line := fmt.Sprintf("%-18s %-7s risk %-9s", plain(c.Name), c.Kind, plain(c.Risk))
	if c.Kind != host.KindRead {
		line += fmt.Sprintf(" proof %s; cancel %s", plain(c.Contract.Receipt), plain(c.Cancellation))
	}
	p.say("%s", strings.TrimRight(line, " "))
	args, err := argumentsOf(c.Schema)
	if err != nil {
		p.say("    its arguments are no schema that can be shown; --json has it as it is")
		return
	}
	for _, a := range args {
		need := "optional"
		if a.required {
			need = "required"
		}
		text := a.shape
		if a.about != "" {
			text = a.about + " (" + a.shape + ")"
		}
		p.say("    %-20s %-9s %s", plain(a.name), need, plain(text))
	}
	if len(args) == 0 {
		p.say("    no arguments")
	}
}

// argument is one argument of a capability, for people.
type argument struct {
	name, shape, about string
	required           bool
}

// shape is as much of a JSON Schema as capabilities use.
type shape struct {
	Type       string           `json:"type"`
	About      string           `json:"description"`
	Items      *shape           `json:"items"`
	Minimum    *float64         `json:"minimum"`
	Above      *float64         `json:"exclusiveMinimum"`
	Maximum    *float64         `json:"maximum"`
	MinLength  *int             `json:"minLength"`
	MaxLength  *int             `json:"maxLength"`
	MinItems   *int             `json:"minItems"`
	MaxItems   *int             `json:"maxItems"`
	Pattern    string           `json:"pattern"`
	Enum       []any            `json:"enum"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
}

// argumentsOf reads the arguments out of a capability's schema: the required ones first, in the schema's order.
func argumentsOf(schema json.RawMessage) ([]argument, error) {
	var s shape
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	var out []argument
	for name, p := range s.Properties {
		out = append(out, argument{name: name, shape: p.words(), about: p.About, required: slices.Contains(s.Required, name)})
	}
	slices.SortFunc(out, func(a, b argument) int {
		if a.required != b.required {
			if a.required {
				return -1
			}
			return 1
		}
		if a.required {
			return slices.Index(s.Required, a.name) - slices.Index(s.Required, b.name)
		}
		return strings.Compare(a.name, b.name)
	})
	return out, nil
}

// hexDigits is the pattern of an id or a digest.
var hexDigits = regexp.MustCompile(`^\^\[0-9a-f\]\{(\d+)\}\$$`)

// charactersOf is the pattern of a text that is made of certain characters.
var charactersOf = regexp.MustCompile(`^\^\[(.+)\]\+\$$`)

// words says which values a schema takes.
func (s *shape) words() string {
	switch {
	case len(s.Enum) > 0:
		var all []string
		for _, v := range s.Enum {
			all = append(all, fmt.Sprint(v))
		}
		return strings.Join(all, " or ")
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer":
		return "whole number" + s.limits()
	case s.Type == "number":
		return "number" + s.limits()
	case s.Type == "string":
		return s.text()
	case s.Type == "array" && s.Items != nil:
		return s.list()
	}
	return or(s.Type, "anything")
}

// limits says between what a number lies.
func (s *shape) limits() string {
	switch {
	case s.Above != nil && s.Maximum != nil:
		return fmt.Sprintf(", above %s, to %s", decimal(*s.Above), decimal(*s.Maximum))
	case s.Above != nil:
		return ", above " + decimal(*s.Above)
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf(", %s to %s", decimal(*s.Minimum), decimal(*s.Maximum))
	case s.Minimum != nil:
		return ", from " + decimal(*s.Minimum)
	case s.Maximum != nil:
		return ", to " + decimal(*s.Maximum)
	}
	return ""
}

func decimal(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func (s *shape) text() string {
	if m := hexDigits.FindStringSubmatch(s.Pattern); m != nil {
		return m[1] + " hex digits"
	}
	out := "text"
	if s.MaxLength != nil {
		least := 0
		if s.MinLength != nil {
			least = *s.MinLength
		}
		out += fmt.Sprintf(", %d to %d characters", least, *s.MaxLength)
	}
	if m := charactersOf.FindStringSubmatch(s.Pattern); m != nil {
		out += ", of " + strings.NewReplacer(`\\`, `\`, `\`, "").Replace(m[1])
	} else if s.Pattern != "" {
		out += ", of the form " + s.Pattern
	}
	return out
}

func (s *shape) list() string {
	what := s.Items.words()
	switch {
	case s.MinItems != nil && s.MaxItems != nil && *s.MinItems == *s.MaxItems:
		return fmt.Sprintf("list of %d, each a %s", *s.MinItems, what)
	case s.MaxItems != nil:
		return fmt.Sprintf("list of up to %d, each a %s", *s.MaxItems, what)
	}
	return "list, each a " + what
}
