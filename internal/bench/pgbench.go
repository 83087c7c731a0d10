package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

const pgbenchInsert = "pgbench: durable insert of 2 KB, 32 clients"

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

// pgbenchMeasures is PostgreSQL's own limit: one prepared insert of 2 KB a
// transaction.
func pgbenchMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	p, err := newPlace("PostgreSQL", dir)
	if err != nil {
		return nil, nil, err
	}
	script := filepath.Join(p.options.Dir, "insert.sql")
	if err := os.WriteFile(script, []byte("insert into bench (body) values (repeat('x', 2048));\n"), 0o600); err != nil {
		return nil, nil, err
	}
	create := exec.CommandContext(ctx, "psql", "-q", p.options.Admin, "-c", "create table bench (id bigserial primary key, body text not null)")
	if out, err := create.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("psql: %w: %s", err, out)
	}
	run := func(ctx context.Context, d time.Duration) (result, error) {
		seconds := strconv.Itoa(max(1, int(d.Seconds())))
		out, err := exec.CommandContext(ctx, "pgbench", "-n", "-M", "prepared", "-c", "32", "-j", "2", "-T", seconds, "-f", script, p.options.Admin).CombinedOutput()
		found := tps.FindSubmatch(out)
		if err != nil || found == nil {
			return result{}, fmt.Errorf("pgbench: %w: %s", err, bytes.TrimSpace(out))
		}
		v, err := strconv.ParseFloat(string(found[1]), 64)
		return result{value: v}, err
	}
	return []measure{{pgbenchInsert, "/s", run}}, p.drop, nil
}
