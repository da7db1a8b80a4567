package sentinel

import (
	"errors"
	"fmt"

	"blockworld/worldstate/geom"
)

// How far the default click and walk boxes reach beyond the build box, in cells.
const (
	DefaultClickMargin = 1
	DefaultWalkMargin  = 6
)

// ErrPlot is wrapped by every complaint about the shape of a plot.
var ErrPlot = errors.New("plot is not usable")

// Plot is the room of a mission: three boxes of whole cells in one dimension.
// Invariant of a valid plot: Build lies in Click and Build lies in Walk.
type Plot struct {
	Build geom.BlockBox // cells that may change
	Click geom.BlockBox // cells that may be clicked; those outside Build never change
	Walk  geom.BlockBox // cells the bot's feet may be in
}

// PlotOf returns the default plot around a build box.
func PlotOf(build geom.BlockBox) Plot {
	return Plot{Build: build, Click: build.Grow(DefaultClickMargin), Walk: build.Grow(DefaultWalkMargin)}
}

// Validate says what is wrong with the plot; errors wrap ErrPlot.
func (p Plot) Validate() error {
	for _, b := range []struct {
		name string
		box  geom.BlockBox
	}{{"build", p.Build}, {"click", p.Click}, {"walk", p.Walk}} {
		if b.box.Min.X > b.box.Max.X || b.box.Min.Y > b.box.Max.Y || b.box.Min.Z > b.box.Max.Z {
			return fmt.Errorf("%w: the %s box has its corners the wrong way round (%v, %v)", ErrPlot, b.name, b.box.Min, b.box.Max)
		}
	}
	if !p.Click.ContainsBox(p.Build) {
		return fmt.Errorf("%w: the click box must hold the whole build box; widen it", ErrPlot)
	}
	if !p.Walk.ContainsBox(p.Build) {
		return fmt.Errorf("%w: the walk box must hold the whole build box; widen it", ErrPlot)
	}
	return nil
}
