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

// newSite puts a stored mission together.
func newSite(j *journal.Journal, rec journal.Mission, m *missionFile, reg *registry.Registry) (*builder.Site, error) {
	t, err := builder.TermsOf(&m.Profile)
	if err != nil {
		return nil, err
	}
	s := &builder.Site{
		Journal: j, Record: rec, Uses: builder.UsesOf(m.Plan), Plan: builder.MissionOf(m.Plan), Terms: t,
		Options: builder.Options{Pipeline: m.Pipeline, Rate: m.Rate, MayReplace: m.MayReplace, Ahead: 2*m.Pipeline + 2},
		States:  effects.RegistryStates{Registry: reg}, Now: time.Now,
	}
	return s, nil
}
