package effects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Shapes that several schemas share, each an object that described puts a text into. Every schema is closed: no property
// beyond the listed ones.
const (
	schemaInt3  = `{"type":"array","items":{"type":"integer","minimum":-30000000,"maximum":30000000},"minItems":3,"maxItems":3}`
	schemaNum3  = `{"type":"array","items":{"type":"number","minimum":-30000000,"maximum":30000000},"minItems":3,"maxItems":3}`
	schemaLimit = `{"type":"integer","minimum":0,"maximum":1024}`
	schemaName  = `{"type":"string","minLength":1,"maxLength":256,"pattern":"^[a-z0-9_:,=./\\[\\]-]+$"}`
)

// form is the closed shape of one request.
type form struct {
	required []string
	optional []string
	props    map[string]string // property -> its schema
	decode   func([]byte) (Request, error)
}

// formOf returns the form of a capability; the switch is the closed set.
func formOf(c Capability) (form, bool) {
	switch c {
	case WorldStatus:
		return form{decode: into[WorldStatusRequest]}, true
	case InventorySummary:
		return form{decode: into[InventorySummaryRequest]}, true
	case ScanRegion:
		return form{[]string{"min", "max"}, []string{"block", "limit"}, map[string]string{
			"min":   described(schemaInt3, "least corner of the box, itself included: [x,y,z] in blocks"),
			"max":   described(schemaInt3, "greatest corner of the box, itself included: [x,y,z] in blocks"),
			"block": described(schemaName, "only this block, such as minecraft:stone; left out: all that is not air"),
			"limit": described(schemaLimit, "most cells that are listed; 0 for as many as there may be"),
		}, into[ScanRegionRequest]}, true
	case NearbyEntities:
		return form{[]string{"radius"}, []string{"limit"}, map[string]string{
			"radius": described(`{"type":"number","exclusiveMinimum":0,"maximum":256}`, "around the bot, in blocks"),
			"limit":  described(schemaLimit, "most entities that are listed, the nearest first; 0 for as many as there may be"),
		}, into[NearbyEntitiesRequest]}, true
	case ChatSince:
		return form{[]string{"cursor"}, []string{"limit"}, map[string]string{
			"cursor": described(`{"type":"integer","minimum":0}`, "of the last line seen: next of the answer before, 0 at first"),
			"limit":  described(schemaLimit, "most lines; 0 for as many as there may be"),
		}, into[ChatSinceRequest]}, true
	case MoveTo:
		return form{[]string{"pos"}, nil, map[string]string{"pos": described(schemaInt3, "cell to stand in: [x,y,z] in blocks")}, into[MoveToRequest]}, true
	case LookAt:
		return form{[]string{"point"}, nil, map[string]string{"point": described(schemaNum3, "point to look at: [x,y,z] in blocks, fractions too")}, into[LookAtRequest]}, true
	case Say:
		return form{[]string{"text"}, nil, map[string]string{
			"text": described(`{"type":"string","minLength":1,"maxLength":256}`, "one line of public chat"),
		}, into[SayRequest]}, true
	case Equip:
		return form{[]string{"item"}, nil, map[string]string{"item": described(schemaName, "item to take into the hand, such as minecraft:stone")}, into[EquipRequest]}, true
	case PlaceBlock:
		return form{[]string{"pos", "state"}, nil, map[string]string{
			"pos":   described(schemaInt3, "cell that gets the block: [x,y,z] in blocks"),
			"state": described(schemaName, "full block state, such as minecraft:oak_log[axis=x]; what is left out is the block's default"),
		}, into[PlaceBlockRequest]}, true
	}
	return form{}, false
}

// described puts a description into a schema that is an object.
func described(schema, text string) string {
	return fmt.Sprintf(`%s,"description":%q}`, schema[:len(schema)-1], text)
}

// Schema returns the closed JSON Schema (2020-12) of a capability's request; nil for an invalid capability.
func Schema(c Capability) json.RawMessage {
	f, ok := formOf(c)
	if !ok {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":%q,"type":"object","properties":{`, c.String())
	for i, name := range slices.Concat(f.required, f.optional) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, f.props[name])
	}
	required, _ := json.Marshal(append([]string{}, f.required...)) // a list of strings cannot fail
	fmt.Fprintf(&b, `},"required":%s,"additionalProperties":false}`, required)
	return b.Bytes()
}

// ParseRequest reads the JSON request of a capability: exactly the schema's properties, each at most once, nothing
// behind it, and valid. Errors wrap ErrBadRequest or ErrUnknownCapability.
func ParseRequest(capability string, data []byte) (Request, error) {
	c, err := ParseCapability(capability)
	if err != nil {
		return nil, err
	}
	f, _ := formOf(c)
	names, err := propertyNames(data)
	if err != nil {
		return nil, bad("%s: %v", c, err)
	}
	for _, n := range names {
		if _, known := f.props[n]; !known {
			return nil, bad("%s has no property %q", c, n)
		}
	}
	for _, n := range f.required {
		if !slices.Contains(names, n) {
			return nil, bad("%s needs the property %q", c, n)
		}
	}
	r, err := f.decode(data)
	if err != nil {
		return nil, bad("%s: %v", c, err)
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

func into[T Request](data []byte) (Request, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, plainType(err)
	}
	return v, nil
}

// plainType says of a value of the wrong type what is wanted in words of JSON: the decoder's own error names types of Go.
func plainType(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	want := "something else"
	switch k := wrong.Type.Kind(); {
	case k == reflect.String:
		want = "text"
	case k == reflect.Float64:
		want = "a number"
	case k >= reflect.Uint && k <= reflect.Uint64:
		want = "a whole number from 0"
	case k >= reflect.Int && k <= reflect.Int64:
		want = "a whole number"
	}
	is := wrong.Value
	if number, ok := strings.CutPrefix(is, "number "); ok {
		is = number
	}
	return fmt.Errorf("property %q is to be %s, not %s", wrong.Field, want, is)
}

// propertyNames lists the properties of one JSON object and refuses doubled ones, nulls and anything after the object.
func propertyNames(data []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var names []string
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("property %q appears twice", name)
		}
		names = append(names, name)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		if string(v) == "null" {
			return nil, fmt.Errorf("property %q is null", name)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the object")
	}
	return names, nil
}

// UnmarshalJSON reads exactly three whole numbers.
func (p *Position) UnmarshalJSON(b []byte) error {
	var v []int32
	if err := json.Unmarshal(b, &v); err != nil || len(v) != 3 {
		return fmt.Errorf("a position is [x,y,z] in whole numbers, not %.40s", b)
	}
	*p = Position{X: v[0], Y: v[1], Z: v[2]}
	return nil
}

// MarshalJSON writes [x,y,z].
func (p Position) MarshalJSON() ([]byte, error) { return json.Marshal([3]int32{p.X, p.Y, p.Z}) }

// UnmarshalJSON reads exactly three numbers.
func (p *Point) UnmarshalJSON(b []byte) error {
	var v []float64
	if err := json.Unmarshal(b, &v); err != nil || len(v) != 3 {
		return fmt.Errorf("a point is [x,y,z], not %.40s", b)
	}
	*p = Point{v[0], v[1], v[2]}
	return nil
}
