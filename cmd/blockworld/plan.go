package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"path/filepath"

	"github.com/spf13/cobra"

	"blockworld/effects/blueprint"
	"blockworld/effects/blueprint/picture"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func newPlan(g *globals) *cobra.Command {
	f := &place{}
	var version, pngDir string
	var fly bool
	var replace []string
	cmd := &cobra.Command{
		Use: "plan FILE", Short: "steps, materials and what cannot be placed, without a server", Args: cobra.ExactArgs(1),
		Long: "Plans a schematic offline: on flat solid ground, with air everywhere else. Tells the materials, and for every cell that\n" +
			"cannot be placed why. Exit code 2 if nothing of it can be built, as for build.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPlan(cmd.Context(), g.printer(cmd), f, args[0], version, pngDir, fly, replace)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&version, "version", registry.Latest.Name(), "game version to plan for")
	cmd.Flags().StringVar(&pngDir, "png", "", "folder for a picture of the finished building")
	cmd.Flags().BoolVar(&fly, "fly", false, "plan for a bot in creative mode, which may fly")
	cmd.Flags().StringSliceVar(&replace, "may-replace", nil, "replaceable blocks that may be built over")
	return cmd
}

// planReport is the JSON of plan.
type planReport struct {
	*blueprint.Plan
	Format      string        `json:"format"`
	DataVersion int32         `json:"data_version"`
	Size        geom.BlockPos `json:"size"`
	Offset      geom.BlockPos `json:"offset"`
	Digest      string        `json:"digest"`
	Picture     string        `json:"picture,omitempty"`

	// Lists of the plan that are empty are written all the same.
	Present     []geom.BlockPos     `json:"present"`
	Rejected    []blueprint.Refusal `json:"rejected"`
	Unreachable []blueprint.Refusal `json:"unreachable"`
	Standing    []blueprint.Refusal `json:"standing"`
	Notes       []string            `json:"notes"`
}

// errNothing says that a plan has no cells.
var errNothing = errors.New("there is nothing to build: no cell of the file can be placed here")

// list is a list that is never null in JSON.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func runPlan(ctx context.Context, p *printer, f *place, file, version, pngDir string, fly bool, replace []string) error {
	proto, ok := registry.ByVersionName(version)
	if !ok {
		return fail(exitUsage, fmt.Errorf("version %q is not one of %s", version, versionNames()))
	}
	reg, err := registry.Load(proto)
	if err != nil {
		return fail(exitFailed, err)
	}
	bp, err := readBlueprint(file, f.rotate, f.mirror)
	if err != nil {
		return err
	}
	if f.at == "" {
		f.at = "0,0,0"
	}
	corner, plot, err := f.where(bp)
	if err != nil {
		return err
	}
	plan, err := makePlan(ctx, p, reg, bp, corner, blueprint.Options{Build: plot.Build, Click: plot.Click, Walk: plot.Walk, CanFly: fly, MayReplace: replace})
	if err != nil {
		return err
	}
	digest := plan.Digest()
	r := planReport{Plan: plan, Format: bp.Format, DataVersion: bp.DataVersion, Size: bp.Size, Offset: bp.Offset, Digest: fmt.Sprintf("%x", digest),
		Present: list(plan.Present), Rejected: list(plan.Rejected), Unreachable: list(plan.Unreachable), Standing: list(plan.Standing), Notes: list(plan.Notes)}
	plan.Steps, plan.Final, plan.Materials = list(plan.Steps), list(plan.Final), list(plan.Materials)
	p.say("%s, data version %d, %d x %d x %d, offset in the file %v (not used)", bp.Format, bp.DataVersion, bp.Size.X, bp.Size.Y, bp.Size.Z, bp.Offset)
	tellPlan(p, plan, true)
	if len(plan.Final) == 0 {
		return errors.Join(p.result(r), fail(exitUsage, errNothing))
	}
	if pngDir != "" {
		if err := makeFolder(pngDir); err != nil {
			return err
		}
		r.Picture = filepath.Join(pngDir, bp.Name+".png")
		if err := drawPlan(reg, plan, r.Picture); err != nil {
			return fail(exitFailed, err)
		}
		p.say("wrote %s", r.Picture)
	}
	return p.result(r)
}

// makePlan plans with its progress on a terminal, until the person at it gives up.
func makePlan(ctx context.Context, p *printer, reg *registry.Registry, bp *blueprint.Blueprint, corner geom.BlockPos, o blueprint.Options) (*blueprint.Plan, error) {
	bar, total := p.progress(1, "planned"), 0
	o.Progress = func(done, of int) {
		if of != total {
			bar.ChangeMax(of)
			total = of
		}
		_ = bar.Set(done)
	}
	plan, err := blueprint.MakePlan(ctx, reg, bp, corner, o)
	_ = bar.Clear()
	switch {
	case ctx.Err() != nil:
		return nil, fail(exitFailed, err)
	case err != nil:
		return nil, fail(exitUsage, err)
	}
	return plan, nil
}

// drawPlan draws the finished building.
func drawPlan(reg *registry.Registry, plan *blueprint.Plan, path string) error {
	var cells []picture.Cell
	for _, c := range plan.Final {
		cells = append(cells, picture.Cell{Pos: c.Pos, State: c.State})
	}
	return draw(reg, cells, path)
}

func draw(reg *registry.Registry, cells []picture.Cell, path string) error {
	var buf bytes.Buffer
	if err := png.Encode(&buf, picture.Render(reg, cells, picture.Options{Ground: true})); err != nil {
		return err
	}
	return writePrivate(path, buf.Bytes())
}
