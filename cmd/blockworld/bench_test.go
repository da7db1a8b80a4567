package main

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// asProgram makes the test binary be the program itself, for what runs in processes of its own.
const asProgram = "BLOCKWORLD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	flag.Set("test.parallel", "4") // they wait for ticks and packets most of the time
	os.Exit(m.Run())
}

// benchNow runs figures with one short round each.
func benchNow(t *testing.T, args ...string) benchReport {
	t.Helper()
	t.Setenv(asProgram, "1")

	var r benchReport
	out := command(t, exitDone, append([]string{"bench", "--rounds", "1", "--idle", "1s", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// withoutLimit are the figures that stand beside their goal alone: nothing but the server and the wire would bound them.
var withoutLimit = []string{"join to spawn", "CPU from start", "memory of one bot", "memory of each further", "CPU of an idle"}

func TestBench(t *testing.T) {
	t.Run("DC-18/bench prints every figure beside its limit", func(t *testing.T) {
		names := groupNames(benchGroups)
		if os.Getenv("BLOCKWORLD_FULL") == "" { // placing takes half a minute
			names = slices.DeleteFunc(names, func(n string) bool { return n == "place" })
		}
		args := []string{"--only", strings.Join(names, ",")}
		if dir := os.Getenv("BLOCKWORLD_TEST_DATA"); dir != "" {
			args = append(args, "--columns", filepath.Join(dir, "chunks"))
		}
		r := benchNow(t, args...)
		if len(r.Figures) < 14 {
			t.Errorf("%d figures", len(r.Figures))
		}
		for _, f := range r.Figures {
			if !(f.Median > 0 || strings.HasPrefix(f.Name, "CPU of an idle")) || math.IsInf(f.Median, 0) || f.Min > f.Median || f.Max < f.Median {
				t.Errorf("%s: %v in %v..%v", f.Name, f.Median, f.Min, f.Max)
			}
			free := slices.ContainsFunc(withoutLimit, func(s string) bool { return strings.HasPrefix(f.Name, s) })
			if !free && (f.LimitIs == "" || f.Limit <= 0 || f.Ratio <= 0) {
				t.Errorf("%s: no limit measured beside it", f.Name)
			}
			if f.Goal == "" && !strings.Contains(f.Name, "world position") {
				t.Errorf("%s: no goal", f.Name)
			}
			t.Log(f.row())
		}
	})
}

// TestBenchControl: the control plane's figures, with the time from a stop to the host's ear.
func TestBenchControl(t *testing.T) {
	t.Run("DC-18/bench prints the control plane's figures and the stop's latency", func(t *testing.T) {
		only := []string{"round", "stop", "policy"}
		if os.Getenv("BLOCKWORLD_FULL") == "1" { // these fill stores with 100,000 operations
			only = groupNames(controlGroups)
		}
		r := benchNow(t, "--control", "--only", strings.Join(only, ","))
		seen := map[string]bool{}
		for _, f := range r.Figures {
			word, _, _ := strings.Cut(f.Name, " ")
			seen[word] = true
			if f.Median <= 0 || f.Min > f.Median || f.Max < f.Median || f.Unit == "" {
				t.Errorf("%s: %v in %v..%v %s", f.Name, f.Median, f.Min, f.Max, f.Unit)
			}
			if f.Goal == "" && f.LimitIs == "" {
				t.Errorf("%s: neither a goal nor a limit beside it", f.Name)
			}
			t.Log(f.row())
		}
		for _, word := range []string{"submit", "emergency", "policy"} {
			if !seen[word] {
				t.Errorf("no figure of %s: %+v", word, r.Figures)
			}
		}
	})
}

func TestBenchUsage(t *testing.T) {
	for _, args := range [][]string{{"--only", "speed"}, {"--rounds", "0"}, {"--idle", "-1s"}, {"--columns", t.TempDir()}, {"extra"}} {
		var out, errs strings.Builder
		if got := run(context.Background(), append([]string{"bench"}, args...), nil, &out, &errs); got != exitUsage {
			t.Errorf("%v: exit code %d: %s", args, got, errs.String())
		}
	}
}

// TestSpread checks the arithmetic of the table.
func TestSpread(t *testing.T) {
	s := spread{4, 1, 3, 2}
	if s.median() != 2.5 || (spread{3, 1, 2}).median() != 2 || (spread{}).median() != 0 {
		t.Error("medians")
	}
	f := s.figure("x", "ns").beside(s, spread{2, 1, 1, 4}, "half")
	if f.Min != 1 || f.Max != 4 || f.Ratio != 1.5 || f.Limit != 1.5 {
		t.Errorf("%+v", f)
	}
	for v, want := range map[float64]string{0.1234: "0.12", 12.34: "12.3", 123.4: "123", 1234567: "1,234,567"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %s", v, got)
		}
	}
}
