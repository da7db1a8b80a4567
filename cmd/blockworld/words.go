package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"blockworld/effects/blueprint"
)

// readBlueprint reads, mirrors and turns a schematic file.
func readBlueprint(path string, quarters int, mirror string) (*blueprint.Blueprint, error) {
	m, err := blueprint.ParseMirror(mirror)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	if quarters < -3 || quarters > 3 {
		return nil, fail(exitUsage, fmt.Errorf("--rotate %d: it counts quarter turns clockwise, 0 to 3", quarters))
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fail(exitUsage, fmt.Errorf("%s is a directory, a pipe or a device, not a file", path))
	}
	bp, err := blueprint.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, fail(exitUsage, fmt.Errorf("cannot read the schematic: %w", err))
	case err != nil:
		return nil, fail(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	return bp.Transform(quarters, m), nil
}

// fullName gives a block or item name its namespace.
func fullName(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return "minecraft:" + name
}

// mostLines is how many of a list are shown to people; machines get all.
const mostLines = 20

// tellPlan puts a plan into words.
func tellPlan(p *printer, plan *blueprint.Plan, long bool) {
	p.say("%s: %d steps for %s in %v, %s", plan.Name, len(plan.Steps), cells(len(plan.Final)), plan.Bounds, plan.Protocol)
	if n := len(plan.Present); n > 0 {
		p.say("  already as planned: %s", cells(n))
	}
	if l := plan.LeftOut; l.Entities+l.BlockEntities > 0 {
		p.say("  left out: %d entities, contents of %d block entities", l.Entities, l.BlockEntities)
	}
	if n := plan.LeftOut.Standing; n > 0 {
		p.say("  %d blocks stand where the file has air; they stay", n)
	}
	if long && len(plan.Materials) > 0 {
		p.say("  materials:")
		for _, m := range plan.Materials {
			p.say("  %6d  %s", m.Count, m.Item)
		}
	}
	tellRefusals(p, "cannot be placed", plan.Rejected)
	tellRefusals(p, "cannot be reached", plan.Unreachable)
	if len(plan.Unreachable) > 0 && !plan.CanFly {
		p.say("  that is for a bot on foot; one in creative mode flies (plan --fly)")
	}
	if len(plan.Steps) == 0 {
		p.say("  nothing of this can be built here")
	}
	for _, n := range plan.Notes {
		p.say("  note: %s", n)
	}
}

// tellRefusals lists cells that are left out, those with the same block and reason together.
func tellRefusals(p *printer, what string, list []blueprint.Refusal) {
	if len(list) == 0 {
		return
	}
	p.say("  %s %s:", cells(len(list)), what)
	type kind struct{ block, code string }
	counts := map[kind]int{}
	first := map[kind]blueprint.Refusal{}
	var order []kind
	for _, r := range list {
		name, _, _ := strings.Cut(r.Block, "[")
		k := kind{name, string(r.Code)}
		if counts[k]++; counts[k] == 1 {
			first[k], order = r, append(order, k)
		}
	}
	for i, k := range order {
		if i == mostLines {
			p.say("    and %d more kinds (--json lists every cell)", len(order)-i)
			break
		}
		r := first[k]
		p.say("    %5d  %s: %s: %s (first at %v)", counts[k], k.block, k.code, strings.ReplaceAll(r.Detail, r.Block, "this state"), r.Pos)
	}
}

// cells counts cells in words.
func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}
