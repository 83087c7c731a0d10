package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A goTest is a package's test program, built once, whose Go benchmarks are measured.
type goTest struct {
	folder string // of the package, from the root of the repository
	binary string
	build  func() error
}

func newGoTest(ctx context.Context, dir, folder string, tags ...string) (*goTest, error) {
	name := strings.Join(append([]string{strings.ReplaceAll(folder, "/", "-")}, tags...), "-") + ".test"
	binary, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	t := &goTest{folder: folder, binary: binary}
	t.build = sync.OnceValue(func() error {
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-tags", strings.Join(tags, ","), "-o", binary, ".")
		cmd.Dir = folder // it may be a module of its own
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the tests of %s: %w: %s", folder, err, out)
		}
		return nil
	})
	return t, nil
}

// measure runs one benchmark, and takes what it reports in that unit.
func (t *goTest) measure(name, unit, benchmark, reported string) measure {
	figure := regexp.MustCompile(`\s([0-9.e+]+) ` + regexp.QuoteMeta(reported) + `\s`)
	return measure{name, unit, func(ctx context.Context, d time.Duration) (result, error) {
		if err := t.build(); err != nil {
			return result{}, err
		}
		cmd := exec.CommandContext(ctx, t.binary, "-test.run", "^$", "-test.bench", benchmark, "-test.benchtime", d.String())
		cmd.Dir = t.folder
		out, err := cmd.CombinedOutput()
		found := figure.FindSubmatch(out)
		if err != nil || found == nil {
			return result{}, fmt.Errorf("%s in %s: %w\n%s", benchmark, t.folder, err, out)
		}
		v, err := strconv.ParseFloat(string(found[1]), 64)
		return result{value: v}, err
	}}
}
