// Interop holds the MCP door against other people's programs: the conformance suite,
// the Inspector, and four clients that run one script. It installs them itself, from
// npm and PyPI; run it with make mcp-conformance.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

// A step is one thing that must hold.
type step struct {
	name string
	run  func(context.Context, *bench) error
}

func run(ctx context.Context) error {
	cache := flag.String("cache", ".cache/mcp", "`FOLDER` to install into")
	only := flag.String("only", "", "run only steps whose name matches this `pattern`")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	b, err := setUp(ctx, *cache)
	if err != nil {
		return err
	}
	defer b.close()
	var failed []error
	passed := 0
	for _, s := range steps() {
		if !wanted.MatchString(s.name) {
			continue
		}
		if err := s.run(ctx, b); err != nil {
			fmt.Printf("FAIL  %s\n%v\n", s.name, err)
			failed = append(failed, errors.New(s.name))
			continue
		}
		fmt.Printf("ok    %s\n", s.name)
		passed++
	}
	fmt.Printf("%d passed, %d failed\n", passed, len(failed))
	return errors.Join(failed...)
}

func steps() []step {
	all := conformance()
	all = append(all, inspector()...)
	all = append(all, bundles()...)
	return append(all, clients()...)
}
