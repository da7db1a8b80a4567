package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// figure is one measured number beside its limit and its goal.
type figure struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Median  float64 `json:"median"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Rounds  int     `json:"rounds"`
	Limit   float64 `json:"limit"`
	LimitIs string  `json:"limit_is"` // what was measured as the limit; empty for a figure without one
	Ratio   float64 `json:"ratio"`    // of the figure's time or size to the limit's; for rates, of rate to limit
	Goal    string  `json:"goal"`     // empty for a figure told for comparison
	Reached bool    `json:"reached"`
	Note    string  `json:"note,omitempty"`
}

var figureHead = fmt.Sprintf("%-44s %-34s %-44s %-8s %s", "figure", "median (smallest..largest)", "limit, same run", "ratio", "goal")

// row is the figure as a line of the table.
func (f figure) row() string {
	limit, ratio := "-", "-"
	if f.LimitIs != "" {
		limit = fmt.Sprintf("%s %s, %s", number(f.Limit), f.Unit, f.LimitIs)
		ratio = fmt.Sprintf("%.2f", f.Ratio)
	}
	goal := "told for comparison"
	if f.Goal != "" {
		goal = f.Goal + ": " + map[bool]string{true: "reached", false: "MISSED"}[f.Reached]
	}
	out := fmt.Sprintf("%-44s %-34s %-44s %-8s %s", f.Name,
		fmt.Sprintf("%s %s (%s..%s)", number(f.Median), f.Unit, number(f.Min), number(f.Max)), limit, ratio, goal)
	if f.Note != "" {
		out += "\n    " + f.Note
	}
	return out
}

// number writes three digits that count.
func number(v float64) string {
	switch {
	case v >= 10000 || v <= -10000:
		s := fmt.Sprintf("%.0f", v)
		var out []string
		for len(s) > 3 {
			out = append([]string{s[len(s)-3:]}, out...)
			s = s[:len(s)-3]
		}
		return strings.Join(append([]string{s}, out...), ",")
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// spread is what several rounds of one thing gave.
type spread []float64

func (s spread) median() float64 {
	c := slices.Sorted(slices.Values(s))
	if len(c) == 0 {
		return 0
	}
	return (c[(len(c)-1)/2] + c[len(c)/2]) / 2
}

// per is the spread of a constant divided by each value: times to rates, and back.
func (s spread) per(n float64) spread {
	out := make(spread, len(s))
	for i, v := range s {
		out[i] = n / v
	}
	return out
}

// over is the spread of the ratios round by round.
func (s spread) over(o spread) spread {
	out := make(spread, min(len(s), len(o)))
	for i := range out {
		out[i] = s[i] / o[i]
	}
	return out
}

// figure begins a figure of this spread.
func (s spread) figure(name, unit string) figure {
	f := figure{Name: name, Unit: unit, Median: s.median(), Rounds: len(s)}
	if len(s) > 0 {
		f.Min, f.Max = slices.Min(s), slices.Max(s)
	}
	return f
}

// beside puts a limit beside a figure; ratios are taken round by round.
func (f figure) beside(own, limit spread, is string) figure {
	f.Limit, f.LimitIs, f.Ratio = limit.median(), is, own.over(limit).median()
	return f
}

// goal says what is to be reached and whether it is.
func (f figure) goal(reached bool, words string) figure {
	f.Goal, f.Reached = words, reached
	return f
}

// sampleTime is how long one sample of one thing takes at least: shorter than the turn that a busy system gives a process, so
// that few samples are torn apart.
const sampleTime = time.Millisecond

// samplesEach is how many samples of each thing a round takes.
const samplesEach = 5

// sideBySide times things in turn in many short samples and returns the nanoseconds of one repetition, by thing and
// sample. Each f repeats its work n times. Medians over the samples are what the table tells: what another process does
// to fewer than half of them shows in the smallest and the largest alone.
func sideBySide(rounds int, fs ...func(n int)) []spread {
	return alternate(samplesEach*rounds, 1, fs...)
}

// alternate is sideBySide by number of samples, each of at least so many repetitions. Every other time it goes through the
// things backwards: a machine that slows down, or speeds up, does so to all alike.
func alternate(samples, least int, fs ...func(n int)) []spread {
	runtime.GC() // what came before is not ours to collect
	counts := make([]int, len(fs))
	for i, f := range fs {
		f(1) // caches, pools
		counts[i] = max(least, repetitions(f))
	}
	out := make([]spread, len(fs))
	for sample := range samples {
		for i := range fs {
			if sample%2 == 1 {
				i = len(fs) - 1 - i
			}
			out[i] = append(out[i], float64(timed(fs[i], counts[i]))/float64(counts[i]))
		}
	}
	return out
}

// repetitions is how often f has to be repeated to take sampleTime.
func repetitions(f func(n int)) int {
	for n := 1; ; n *= 2 {
		if d := timed(f, n); d >= sampleTime/2 || n > 1<<28 {
			return max(1, int(float64(n)*float64(sampleTime)/float64(max(d, 1))))
		}
	}
}

// timed is the processor time that the whole process, its garbage collector with it, takes for f: what others do on the
// machine meanwhile counts as little as can be.
func timed(f func(int), n int) time.Duration {
	began := workTime()
	f(n)
	return workTime() - began
}
