package blueprint

import (
	"slices"
	"strings"
)

// State is a block state in words, as a file writes it: no protocol is needed to hold it.
type State struct {
	Name  string // "minecraft:oak_log"
	Props []Prop // sorted by name
}

// Prop is one property of a State.
type Prop struct{ Name, Value string }

// maxStateText bounds one palette entry in words.
const maxStateText = 1024

// ParseState reads "minecraft:oak_log[axis=y]"; the prefix may be missing. False for text that is no state.
func ParseState(text string) (State, bool) {
	if len(text) > maxStateText {
		return State{}, false
	}
	name, list, braced := strings.Cut(text, "[")
	s := State{Name: fullName(name)}
	if !validName(s.Name) {
		return State{}, false
	}
	if !braced {
		return s, true
	}
	list, ok := strings.CutSuffix(list, "]")
	if !ok {
		return State{}, false
	}
	if list == "" {
		return s, true
	}
	for pair := range strings.SplitSeq(list, ",") {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || !validWord(k) || !validWord(v) {
			return State{}, false
		}
		s.Props = append(s.Props, Prop{k, v})
	}
	return s.sorted()
}

func (s State) sorted() (State, bool) {
	slices.SortFunc(s.Props, func(a, b Prop) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(s.Props); i++ {
		if s.Props[i].Name == s.Props[i-1].Name {
			return State{}, false
		}
	}
	return s, true
}

func fullName(name string) string {
	if strings.IndexByte(name, ':') < 0 {
		return "minecraft:" + name
	}
	return name
}

func validName(name string) bool {
	ns, path, ok := strings.Cut(name, ":")
	return ok && validWord(ns) && path != "" && !strings.ContainsFunc(path, func(r rune) bool { return !wordRune(r) && r != '/' })
}

func validWord(w string) bool {
	return w != "" && !strings.ContainsFunc(w, func(r rune) bool { return !wordRune(r) })
}

func wordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
}

// Prop returns a property's value, "" if the state does not name it.
func (s State) Prop(name string) string {
	for _, p := range s.Props {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// String writes the state with its properties sorted.
func (s State) String() string {
	if len(s.Props) == 0 {
		return s.Name
	}
	var b strings.Builder
	b.WriteString(s.Name)
	for i, p := range s.Props {
		b.WriteByte("[,"[min(i, 1)])
		b.WriteString(p.Name)
		b.WriteByte('=')
		b.WriteString(p.Value)
	}
	b.WriteByte(']')
	return b.String()
}

// Air tells whether the state is one of the airs.
func (s State) Air() bool {
	return s.Name == "minecraft:air" || s.Name == "minecraft:cave_air" || s.Name == "minecraft:void_air"
}

// Void tells whether the state is the structure void: a cell that a file says nothing about.
func (s State) Void() bool { return s.Name == "minecraft:structure_void" }
