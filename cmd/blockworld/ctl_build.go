package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/effects/host"
)

func (k *ctl) blueprint() *cobra.Command {
	cmd := group(&cobra.Command{Use: "blueprint", Short: "stored schematics: put, list"})
	var as string
	put := k.asking(&cobra.Command{Use: "put FILE", Short: "store a .schem, .litematic or .nbt file for build_structure"}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			b, err := putBlueprint(ctx, c, args[0], as)
			if err != nil {
				return err
			}
			p.say("%s: %d bytes, digest %s", b.Name, b.Size, b.Digest)
			return p.result(b)
		})
	put.Flags().StringVar(&as, "name", "", "its name; the file's by default")
	list := k.asking(&cobra.Command{Use: "list", Short: "the stored blueprints"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			all, err := c.Blueprints(ctx)
			if err != nil {
				return err
			}
			for _, b := range all {
				p.say("%-24s %9d bytes  %s", b.Name, b.Size, b.Digest)
			}
			return p.result(map[string]any{"blueprints": all})
		})
	cmd.AddCommand(put, list)
	return cmd
}

// putBlueprint reads a file, makes sure that it is a schematic, and stores it.
func putBlueprint(ctx context.Context, c *client.Client, path, as string) (controlplane.BlueprintView, error) {
	if _, err := readBlueprint(path, 0, ""); err != nil {
		return controlplane.BlueprintView{}, err
	}
	data, err := readInput(path, controlplane.MaxBlueprint)
	if err != nil {
		return controlplane.BlueprintView{}, fail(exitUsage, err)
	}
	if as == "" {
		as = nameOfFile(path)
	}
	n, err := name("blueprint's name", as)
	if err != nil {
		return controlplane.BlueprintView{}, err
	}
	return c.PutBlueprint(ctx, n, data)
}

// nameOfFile makes a name of a file's.
func nameOfFile(path string) string {
	base := strings.ToLower(filepath.Base(path))
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, base)
	out = strings.TrimLeft(out, ".-_")
	return out[:min(len(out), host.MaxName)]
}

var _ = fmt.Sprint
