package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"sort"
	"strconv"
)

// node is one step of a schema: what to pass over. It mirrors the type of that name in package wire.
type node struct {
	op   string
	n    int
	kids []int
}

// compiler turns minecraft-data's types into nodes. Nodes are shared between versions; a name means what its version says.
type compiler struct {
	nodes []node
	index map[string]int // node in text -> its place
	names map[string]int // type name -> its place in the versions' tables
	order []string       // names by place

	types map[string]json.RawMessage // of the version being compiled
	queue []string                   // names used and not compiled yet
}

// versionSchema is what one version needs.
type versionSchema struct {
	components []int // node by component type, -1 unknown
	metadata   []int // node by metadata type
	types      map[int]int
}

// builtin are names that package wire passes over itself.
var builtin = map[string]string{"slot": "opStack", "Slot": "opStack", "ItemStackTemplate": "opTemplate", "SlotComponent": "opComponent"}

var natives = map[string]node{
	"void": {op: "opVoid"}, "varint": {op: "opVarInt"}, "optvarint": {op: "opVarInt"}, "varlong": {op: "opVarLong"},
	"bool": {op: "opFixed", n: 1}, "i8": {op: "opFixed", n: 1}, "u8": {op: "opFixed", n: 1},
	"i16": {op: "opFixed", n: 2}, "u16": {op: "opFixed", n: 2}, "i32": {op: "opFixed", n: 4}, "u32": {op: "opFixed", n: 4},
	"f32": {op: "opFixed", n: 4}, "i64": {op: "opFixed", n: 8}, "f64": {op: "opFixed", n: 8}, "UUID": {op: "opFixed", n: 16},
	"anonymousNbt": {op: "opNBT"}, "anonOptionalNbt": {op: "opNBT"},
}

func generateSchema(protocols []protocol) ([]byte, error) {
	c := &compiler{index: map[string]int{}, names: map[string]int{}}
	var versions []versionSchema
	for _, p := range protocols {
		v, err := c.version(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.version, err)
		}
		versions = append(versions, v)
	}
	return format.Source(c.write(versions))
}

func (c *compiler) version(p protocol) (v versionSchema, err error) {
	c.types, c.queue = p.types, nil
	v.types = map[int]int{}
	if raw, ok := c.types["SlotComponent"]; ok {
		if v.components, err = c.cases(raw, c.types["SlotComponentType"]); err != nil {
			return v, fmt.Errorf("components: %w", err)
		}
	}
	if v.metadata, err = c.metadata(); err != nil {
		return v, fmt.Errorf("metadata: %w", err)
	}
	done := map[string]bool{}
	for len(c.queue) > 0 {
		name := c.queue[0]
		c.queue = c.queue[1:]
		if done[name] {
			continue
		}
		done[name] = true
		n, err := c.compile(c.types[name])
		if err != nil {
			return v, fmt.Errorf("%s: %w", name, err)
		}
		v.types[c.names[name]] = n
	}
	return v, nil
}

// metadata finds the type table of entity metadata: in the entry itself, or up to 1.20.4 in a type with a parameter.
func (c *compiler) metadata() ([]int, error) {
	entry := c.types["entityMetadataEntry"]
	if entry == nil {
		var loop []json.RawMessage
		var args struct{ Type json.RawMessage }
		if err := json.Unmarshal(c.types["entityMetadata"], &loop); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(loop[1], &args); err != nil {
			return nil, err
		}
		entry = args.Type
	}
	fields, err := containerFields(entry)
	if err != nil {
		return nil, err
	}
	value := fields[2].Type
	if item := c.types["entityMetadataItem"]; item != nil {
		value = item
	}
	return c.switchByMapper(value, fields[1].Type)
}

type field struct {
	Name string          `json:"name"`
	Type json.RawMessage `json:"type"`
}

func containerFields(raw json.RawMessage) ([]field, error) {
	name, args, err := parts(raw)
	if err != nil || name != "container" {
		return nil, fmt.Errorf("not a container: %.60s", raw)
	}
	var f []field
	return f, json.Unmarshal(args, &f)
}

// cases compiles a container {type, data by type} to one node per type number.
func (c *compiler) cases(raw, mapper json.RawMessage) ([]int, error) {
	f, err := containerFields(raw)
	if err != nil {
		return nil, err
	}
	return c.switchByMapper(f[1].Type, mapper)
}

func (c *compiler) switchByMapper(sw, mapper json.RawMessage) ([]int, error) {
	names, err := mapperNames(mapper)
	if err != nil {
		return nil, err
	}
	s, err := parseSwitch(sw)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(names))
	for i, n := range names {
		out[i] = -1
		if t, ok := s.Fields[n]; ok {
			if out[i], err = c.compile(t); err != nil {
				return nil, fmt.Errorf("%s: %w", n, err)
			}
		}
	}
	return out, nil
}

// mapperNames lists a mapper's names by number.
func mapperNames(raw json.RawMessage) ([]string, error) {
	name, args, err := parts(raw)
	if err != nil || name != "mapper" {
		return nil, fmt.Errorf("not a mapper: %.60s", raw)
	}
	var m struct{ Mappings map[string]string }
	if err := json.Unmarshal(args, &m); err != nil {
		return nil, err
	}
	out := make([]string, len(m.Mappings))
	for k, v := range m.Mappings {
		i, err := strconv.Atoi(k)
		if err != nil || i >= len(out) {
			return nil, fmt.Errorf("mapper has a hole at %s", k)
		}
		out[i] = v
	}
	return out, nil
}

type switchArgs struct {
	CompareTo string
	Fields    map[string]json.RawMessage
	Default   json.RawMessage
}

func parseSwitch(raw json.RawMessage) (s switchArgs, err error) {
	name, args, err := parts(raw)
	if err != nil || name != "switch" {
		return s, fmt.Errorf("not a switch: %.60s", raw)
	}
	return s, json.Unmarshal(args, &s)
}

// parts splits ["name", args]; a plain "name" has no args.
func parts(raw json.RawMessage) (name string, args json.RawMessage, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		return name, nil, json.Unmarshal(raw, &name)
	}
	var l []json.RawMessage
	if err := json.Unmarshal(raw, &l); err != nil {
		return "", nil, err
	}
	if len(l) != 2 {
		return "", nil, fmt.Errorf("not a type: %.60s", raw)
	}
	return name, l[1], json.Unmarshal(l[0], &name)
}

// add returns the place of a node, sharing equal ones.
func (c *compiler) add(n node) int {
	key := fmt.Sprint(n.op, n.n, n.kids)
	if i, ok := c.index[key]; ok {
		return i
	}
	c.nodes = append(c.nodes, n)
	c.index[key] = len(c.nodes) - 1
	return len(c.nodes) - 1
}

func (c *compiler) compile(raw json.RawMessage) (int, error) {
	name, args, err := parts(raw)
	if err != nil {
		return 0, err
	}
	if args == nil {
		return c.named(name)
	}
	switch name {
	case "container":
		return c.container(raw)
	case "array":
		var a struct{ Type json.RawMessage }
		if err := json.Unmarshal(args, &a); err != nil {
			return 0, err
		}
		return c.wrap("opArray", a.Type)
	case "option":
		return c.wrap("opOption", args)
	case "mapper":
		var m struct{ Type json.RawMessage }
		if err := json.Unmarshal(args, &m); err != nil {
			return 0, err
		}
		return c.compile(m.Type)
	case "registryEntryHolder", "registryEntryHolderSet":
		return c.holder(name, args)
	case "bitfield":
		return c.bitfield(args)
	case "pstring", "buffer":
		return c.add(node{op: "opBytes"}), nil
	}
	return 0, fmt.Errorf("type %s: not known to the generator", name)
}

func (c *compiler) named(name string) (int, error) {
	if n, ok := natives[name]; ok {
		return c.add(n), nil
	}
	if op, ok := builtin[name]; ok {
		return c.add(node{op: op}), nil
	}
	raw, ok := c.types[name]
	if !ok {
		return 0, fmt.Errorf("no type %q", name)
	}
	if base, _, err := parts(raw); err == nil && (base == "pstring" || base == "buffer" || base == "mapper" || base == "bitfield") {
		return c.compile(raw)
	}
	if _, ok := c.names[name]; !ok {
		c.names[name] = len(c.order)
		c.order = append(c.order, name)
	}
	c.queue = append(c.queue, name)
	return c.add(node{op: "opRef", n: c.names[name]}), nil
}

func (c *compiler) wrap(op string, raw json.RawMessage) (int, error) {
	kid, err := c.compile(raw)
	if err != nil {
		return 0, err
	}
	return c.add(node{op: op, kids: []int{kid}}), nil
}

func (c *compiler) holder(name string, args json.RawMessage) (int, error) {
	var h struct{ Base, Otherwise field }
	if err := json.Unmarshal(args, &h); err != nil {
		return 0, err
	}
	other, err := c.compile(h.Otherwise.Type)
	if err != nil || name == "registryEntryHolder" {
		return c.add(node{op: "opHolder", kids: []int{other}}), err
	}
	base, err := c.compile(h.Base.Type)
	return c.add(node{op: "opHolderSet", kids: []int{base, other}}), err
}

func (c *compiler) bitfield(args json.RawMessage) (int, error) {
	var bits []struct{ Size int }
	if err := json.Unmarshal(args, &bits); err != nil {
		return 0, err
	}
	n := 0
	for _, b := range bits {
		n += b.Size
	}
	return c.add(node{op: "opFixed", n: n / 8}), nil
}

// container compiles fields; a switch must stand right behind the field it looks at, and becomes one node with it.
func (c *compiler) container(raw json.RawMessage) (int, error) {
	fields, err := containerFields(raw)
	if err != nil {
		return 0, err
	}
	var kids []int
	for i := 0; i < len(fields); i++ {
		var k int
		if i+1 < len(fields) && c.isSwitch(fields[i+1].Type) {
			k, err = c.choice(fields[i], fields[i+1])
			i++
		} else {
			k, err = c.compile(fields[i].Type)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", fields[i].Name, err)
		}
		kids = append(kids, k)
	}
	if len(kids) == 1 {
		return kids[0], nil
	}
	return c.add(node{op: "opSeq", kids: kids}), nil
}

func (c *compiler) isSwitch(raw json.RawMessage) bool {
	name, args, err := parts(raw)
	return err == nil && args != nil && (name == "switch" || name == "particleData")
}

// switchOf reads a switch, or the one type with a parameter that stands for a switch (1.20.2).
func (c *compiler) switchOf(raw json.RawMessage) (switchArgs, error) {
	name, args, err := parts(raw)
	if err != nil || name == "switch" {
		return parseSwitch(raw)
	}
	s, err := parseSwitch(c.types[name])
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(args, &s)
}

// choice is a field and the switch on it. n is 1 for a bool, 0 for a VarInt; kids are pairs of value and node, then the
// node for all other values.
func (c *compiler) choice(tag, sw field) (int, error) {
	s, err := c.switchOf(sw.Type)
	if err != nil {
		return 0, err
	}
	if s.CompareTo != tag.Name { // a particle of 1.20.2, which fails earlier (by text, below)
		return c.add(node{op: "opUnknown"}), nil
	}
	values := map[string]int{"true": 1, "false": 0}
	out := node{op: "opSwitch"}
	if name, args, err := parts(tag.Type); err == nil && args == nil && name == "bool" {
		out.n = 1
	} else if args == nil && name == "string" {
		return c.add(node{op: "opUnknown"}), nil // by text; only a particle of 1.20.2 has it
	} else if args == nil && name == "varint" {
		for k := range s.Fields {
			if values[k], err = strconv.Atoi(k); err != nil {
				return 0, err
			}
		}
	} else {
		names, err := mapperNames(tag.Type)
		if err != nil {
			return 0, err
		}
		for i, n := range names {
			values[n] = i
		}
	}
	type arm struct{ value, node int }
	var arms []arm
	for _, k := range slices.Sorted(maps.Keys(s.Fields)) { // in one order, so that one input gives one output
		v, ok := values[k]
		if !ok {
			return 0, fmt.Errorf("switch has %q, its field has not", k)
		}
		n, err := c.compile(s.Fields[k])
		if err != nil {
			return 0, err
		}
		arms = append(arms, arm{v, n})
	}
	sort.Slice(arms, func(i, j int) bool { return arms[i].value < arms[j].value })
	for _, a := range arms {
		out.kids = append(out.kids, a.value, a.node)
	}
	rest := c.add(node{op: "opVoid"})
	if s.Default != nil {
		if rest, err = c.compile(s.Default); err != nil {
			return 0, err
		}
	}
	out.kids = append(out.kids, rest)
	return c.add(out), nil
}

func (c *compiler) write(versions []versionSchema) []byte {
	var b, kids bytes.Buffer
	b.WriteString(header)
	fmt.Fprint(&b, "// schemaNodes are the steps of all schemas.\nvar schemaNodes = [...]schemaNode{\n")
	at := 0
	for _, n := range c.nodes {
		fmt.Fprintf(&b, "{%s, %d, %d, %d},\n", n.op, n.n, at, len(n.kids))
		for _, k := range n.kids {
			fmt.Fprintf(&kids, "%d, ", k)
		}
		if len(n.kids) > 0 {
			kids.WriteByte('\n')
		}
		at += len(n.kids)
	}
	fmt.Fprintf(&b, "}\n\n// schemaKids are the nodes' children.\nvar schemaKids = [...]int16{\n%s}\n\n", kids.Bytes())
	fmt.Fprint(&b, "// schemas are the schemas by protocol.\nvar schemas = [...]schema{\n")
	for _, v := range versions {
		fmt.Fprintf(&b, "{\ncomponents: []int16{%s},\nmetadata: []int16{%s},\ntypes: []int16{", join(v.components), join(v.metadata))
		for i := range c.order {
			n, ok := v.types[i]
			if !ok {
				n = -1
			}
			fmt.Fprintf(&b, "%d, ", n)
		}
		fmt.Fprint(&b, "},\n},\n")
	}
	fmt.Fprint(&b, "}\n")
	return b.Bytes()
}

func join(v []int) string {
	var b bytes.Buffer
	for _, n := range v {
		fmt.Fprintf(&b, "%d, ", n)
	}
	return b.String()
}
