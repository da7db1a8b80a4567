package hosting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/host"
	"blockworld/sentinel/profile"
	"blockworld/worldstate/geom"
)

// BuildStructure is the name of the macro that builds a blueprint.
const BuildStructure = "build_structure"

// macroBudget is how long one build may take.
const macroBudget = 24 * time.Hour

// mostPipeline is how many placements may be on their way at once.
const mostPipeline = 64

// mostActors is how many actors may work on one mission.
const mostActors = 16

// mostReplaced is how many blocks may_replace can name.
const mostReplaced = 64

// buildSchema is the closed JSON Schema of build_structure.
const buildSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"build_structure","type":"object","properties":{` +
	`"blueprint":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"digest of a stored blueprint"},` +
	`"at":{"type":"array","items":{"type":"integer","minimum":-30000000,"maximum":30000000},"minItems":3,"maxItems":3,"description":"minimum corner, after mirroring and turning"},` +
	`"rotate":{"type":"integer","minimum":0,"maximum":3,"description":"quarter turns clockwise seen from above"},` +
	`"mirror":{"enum":["x","z"],"description":"before turning"},` +
	`"plot":{"type":"string","minLength":1,"maxLength":64,"description":"plot of the actor; its first by default"},` +
	`"mission":{"type":"string","pattern":"^[0-9a-f]{32}$","description":"go on with this mission: the id of its first operation"},` +
	`"actors":{"type":"array","items":{"type":"string","minLength":1,"maxLength":64},"minItems":1,"maxItems":16,"uniqueItems":true,"description":"actors of this host that may build it together, this one among them: each is given an operation of its own, those of the others with mission, the id of this one"},` +
	`"pipeline":{"type":"integer","minimum":1,"maximum":64,"description":"most placements on their way at once"},` +
	`"rate":{"type":"number","minimum":0,"maximum":1000,"description":"uses per second, 0 for as fast as the server answers; the profile's by default"},` +
	`"may_replace":{"type":"array","items":{"type":"string","minLength":1,"maxLength":256},"maxItems":64,"description":"replaceable blocks that may be built over"},` +
	`"reconcile":{"enum":["world"],"description":"after a full rejoin the world decides about unverified steps"},` +
	`"stop_at_unverified":{"type":"integer","minimum":1,"maximum":1024,"description":"stop at the n-th step that cannot be verified; 1 by default"},` +
	`"partial":{"type":"boolean","description":"build although parts cannot be placed"}},` +
	`"required":["blueprint","at"],"additionalProperties":false}`

// arguments are those of build_structure.
type arguments struct {
	Blueprint  effects.Digest    `json:"blueprint"`
	At         effects.Position  `json:"at"`
	Rotate     int               `json:"rotate,omitempty"`
	Mirror     string            `json:"mirror,omitempty"`
	Plot       host.Name         `json:"plot,omitempty"`
	Mission    effects.MissionID `json:"mission,omitzero"`
	Actors     []host.Name       `json:"actors,omitempty"`
	Pipeline   int               `json:"pipeline,omitempty"`
	Rate       *float64          `json:"rate,omitempty"`
	MayReplace []string          `json:"may_replace,omitempty"`
	Reconcile  string            `json:"reconcile,omitempty"`
	Unverified int               `json:"stop_at_unverified,omitempty"`
	Partial    bool              `json:"partial,omitempty"`
}

// parseArguments reads them as the schema says and fills in what was left out.
func parseArguments(data []byte) (arguments, error) {
	var a arguments
	if err := onceEach(data); err != nil {
		return a, refuse("invalid", "%s: %v", BuildStructure, err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, refuse("invalid", "%s: %v", BuildStructure, err)
	}
	if a.Pipeline == 0 {
		a.Pipeline = 1
	}
	if a.Unverified == 0 {
		a.Unverified = 1
	}
	for i, n := range a.MayReplace {
		if !strings.Contains(n, ":") {
			a.MayReplace[i] = "minecraft:" + n
		}
	}
	_, mirror := blueprint.ParseMirror(a.Mirror)
	switch {
	case a.Blueprint == (effects.Digest{}):
		return a, refuse("invalid", "%s: blueprint is missing: the digest of a stored one", BuildStructure)
	case a.Rotate < 0 || a.Rotate > 3:
		return a, refuse("invalid", "rotate %d: quarter turns clockwise, 0 to 3", a.Rotate)
	case mirror != nil:
		return a, refuse("invalid", "%v", mirror)
	case a.Pipeline < 1 || a.Pipeline > mostPipeline:
		return a, refuse("invalid", "pipeline %d: 1 to %d", a.Pipeline, mostPipeline)
	case a.Rate != nil && (math.IsNaN(*a.Rate) || *a.Rate < 0 || *a.Rate > profile.MaxRate || *a.Rate > 0 && *a.Rate < 0.001):
		return a, refuse("invalid", "rate %v: uses per second, 0.001 to %v, or 0 for as fast as the server answers", *a.Rate, profile.MaxRate)
	case a.Reconcile != "" && a.Reconcile != "world":
		return a, refuse("invalid", "reconcile %q: only \"world\" is known", a.Reconcile)
	case a.Unverified < 1 || a.Unverified > host.MaxChildren:
		return a, refuse("invalid", "stop_at_unverified %d: 1 to %d", a.Unverified, host.MaxChildren)
	case len(a.Actors) > mostActors:
		return a, refuse("invalid", "actors: at most %d build one thing together", mostActors)
	case len(a.Actors) > 0 && a.Mission != (effects.MissionID{}):
		return a, refuse("invalid", "actors are named when a mission begins: leave them out with mission")
	case len(a.MayReplace) > mostReplaced:
		return a, refuse("invalid", "may_replace: at most %d blocks", mostReplaced)
	}
	return a, nil
}

// onceEach refuses properties that are missing, doubled or null, and anything after the object.
func onceEach(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	var names []string
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return err
		}
		if slices.Contains(names, name) || string(v) == "null" {
			return fmt.Errorf("property %q is doubled or null", name)
		}
		names = append(names, name)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the object")
	}
	for _, n := range []string{"blueprint", "at"} {
		if !slices.Contains(names, n) {
			return fmt.Errorf("it needs the property %q", n)
		}
	}
	return nil
}

// plotOf is the named plot, the first for none.
func (r *runner) plotOf(id host.Name) (*Plot, error) {
	if id == "" {
		return &r.cfg.Plots[0], nil
	}
	for i := range r.cfg.Plots {
		if r.cfg.Plots[i].ID == id {
			return &r.cfg.Plots[i], nil
		}
	}
	return nil, refuse("unknown_plot", "the actor has no plot %s", id)
}

func corner(p effects.Position) geom.BlockPos { return geom.BlockPos(p) }
