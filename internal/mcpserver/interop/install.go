package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// bundles has the bundle's own tool judge what make mcpb makes.
func bundles() []step {
	const tool = ".bin/mcpb"
	return []step{{"bundle", func(ctx context.Context, b *bench) error {
		out := filepath.Join(b.cache, "hodl.mcpb")
		root, err := os.Getwd()
		if err != nil {
			return err
		}
		if said, err := b.tool(ctx, tool, "validate", filepath.Join(root, "install", "manifest.json")).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, lines(said, 20))
		}
		if said, err := exec.CommandContext(ctx, "go", "run", "./internal/mcpserver/bundle", "-binary", b.program, "-out", out).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, lines(said, 20))
		}
		if said, err := b.tool(ctx, tool, "info", out).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, lines(said, 20))
		}
		return nil
	}}}
}
