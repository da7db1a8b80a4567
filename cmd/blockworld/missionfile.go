package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/mission"
	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate/registry"
)

// missionFile is what the program keeps of a mission in the journal, beside what the journal itself knows.
type missionFile struct {
	Server     string          `json:"server"` // address as typed
	Username   string          `json:"username"`
	Pipeline   int             `json:"pipeline"`
	Rate       float64         `json:"rate"`
	MayReplace []string        `json:"may_replace,omitempty"`
	Profile    profile.Profile `json:"profile"`
	Plan       *blueprint.Plan `json:"plan"`
}

// maxMissionFile bounds what a stored mission unpacks to, in bytes.
const maxMissionFile = 1 << 30

func (m *missionFile) encode() ([]byte, error) {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if err := errors.Join(json.NewEncoder(z).Encode(m), z.Close()); err != nil {
		return nil, fmt.Errorf("store mission: %w", err)
	}
	return buf.Bytes(), nil
}

func decodeMissionFile(data []byte) (*missionFile, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("stored mission: %w", err)
	}
	var m missionFile
	if err := json.NewDecoder(io.LimitReader(z, maxMissionFile)).Decode(&m); err != nil {
		return nil, fmt.Errorf("stored mission: %w", err)
	}
	if m.Plan == nil {
		return nil, errors.New("stored mission: it holds no plan")
	}
	return &m, nil
}

// terms are what a profile says as far as building needs it.
func terms(p *profile.Profile) (builder.Terms, error) {
	g, err := p.Generation()
	if err != nil {
		return builder.Terms{}, err
	}
	t := builder.Terms{
		Offered: p.Capabilities(), Fence: p.Found.Fence == profile.FindingYes, Slots: p.Found.Inventory == profile.FindingNo, Used: p.Used.Trust(), Policy: sentinel.Pin(g),
	}
	if o, ok := p.Offer(effects.PlaceBlock); ok {
		t.Least = effects.Grade(o.Least)
	}
	return t, nil
}

// uses and missionPlan turn a plan into what the builder works with.
func uses(p *blueprint.Plan) []placement.Use {
	out := make([]placement.Use, len(p.Steps))
	for i := range p.Steps {
		out[i] = p.Steps[i].Use
	}
	return out
}

func missionPlan(p *blueprint.Plan) mission.Plan {
	var out mission.Plan
	for i := range p.Steps {
		s := &p.Steps[i]
		m := mission.Step{Item: s.Use.Item, Clicked: s.Use.Click.Pos, Stand: s.Stand}
		for _, c := range s.Use.Cells {
			m.Cells = append(m.Cells, effects.Cell{Pos: c.Pos, From: c.From, To: c.To, Masked: c.Masked})
		}
		out.Steps = append(out.Steps, m)
	}
	for _, f := range p.Final {
		out.Final = append(out.Final, mission.FinalCell{Pos: f.Pos, State: f.State, Masked: f.Masked})
	}
	return out
}

// budgets allow every step once, some more uses for steps that a server refuses at first, and the walking between them.
func budgets(steps int) effects.Budgets {
	spare := max(16, steps/2)
	return effects.Budgets{Uses: int32(steps + spare), Quantity: int32(steps + spare), Distance: int32(4096 + 256*steps)}
}

// newSite puts a stored mission together.
func newSite(j *journal.Journal, rec journal.Mission, m *missionFile, reg *registry.Registry) (*builder.Site, error) {
	t, err := terms(&m.Profile)
	if err != nil {
		return nil, err
	}
	s := &builder.Site{
		Journal: j, Record: rec, Uses: uses(m.Plan), Plan: missionPlan(m.Plan), Terms: t,
		Options: builder.Options{Pipeline: m.Pipeline, Rate: m.Rate, MayReplace: m.MayReplace},
		States:  effects.RegistryStates{Registry: reg}, Now: time.Now,
	}
	return s, nil
}
