package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"blockworld/effects"
)

// goldenPin is the first key of the kept journals.
const goldenPin = "SHA256:uNl3uew0Af0pa7zjriDwzp96FlQjI6r4oa6Fj/bmOH0"

// TestKeptJournals opens one real file of every schema version there has been. A new version keeps its own.
func TestKeptJournals(t *testing.T) {
	if order.Uint16([]byte{1, 0}) != binary.LittleEndian.Uint16([]byte{1, 0}) {
		t.Skip("the kept files are little endian, as this machine's journals are not")
	}
	for _, version := range []string{"v1"} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{FileName, KeyFileName} {
				packed, err := os.Open(filepath.Join("testdata", version, name+".gz"))
				if err != nil {
					t.Fatal(err)
				}
				defer packed.Close()
				z, err := gzip.NewReader(packed)
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(z)
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if s, err := Check(dir); err != nil || s.Receipts != 2 || s.Open != 1 || s.Actions != 4 {
				t.Errorf("%+v %v", s, err)
			}
			before, _ := os.ReadFile(filepath.Join(dir, FileName))
			j := openTest(t, dir)
			open, err := j.Unresolved(testMission)
			if err != nil || len(open) != 1 || open[0].Counters.Used(1) != 3 || open[0].Entry != 1 {
				t.Errorf("%+v %v", open, err)
			}
			pin, err := ParseFingerprint(goldenPin)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := Verify(bytes.NewReader(export(t, j)), pin); err != nil || r.Receipts != 2 || r.Rotations != 1 {
				t.Error(r, err)
			}
			if c, err := j.Cursor(testMission); err != nil || c != (effects.Cursor{Count: 2, Hash: 77}) {
				t.Error(c, err)
			}
			j.Close()
			if after, _ := os.ReadFile(filepath.Join(dir, FileName)); !bytes.Equal(before, after) {
				t.Error("reading altered the file")
			}
		})
	}
}
