package hosting_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/klauspost/compress/gzip"

	"blockworld/effects/blueprint"
	"blockworld/sentinel/journal"
)

// storedMaterials reads the materials of a stored build.
func storedMaterials(t *testing.T, m journal.Mission) map[string]int32 {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(m.Options))
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Plan *blueprint.Plan }
	if err := json.NewDecoder(z).Decode(&kept); err != nil {
		t.Fatal(err)
	}
	out := map[string]int32{}
	for _, m := range kept.Plan.Materials {
		out[m.Item] += int32(m.Count)
	}
	return out
}
