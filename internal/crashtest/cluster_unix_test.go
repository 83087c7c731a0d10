//go:build unix

package crashtest

import (
	"bufio"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

const postgresVariable = "HODL_TEST_POSTGRES"

// A cluster is a PostgreSQL server of the test's own, with fsync on, to be killed.
// scripts/postgres makes it, and removes it when the pipe to it closes, however the
// test ends.
type cluster struct {
	t         *testing.T
	ctx       context.Context
	url       string // of the superuser
	data      string
	program   string // postgres
	libraries string // LD_LIBRARY_PATH for it
	running   *exec.Cmd
}

// newCluster starts a cluster and names it in the environment of the test.
func newCluster(t *testing.T, ctx context.Context) *cluster {
	t.Helper()
	// It ends with its lifeline, not with ctx: what is cleaned up before it still
	// needs the server.
	script := exec.Command(filepath.Join("..", "..", "scripts", "postgres"), "sh", "-c",
		`printf '%s\n' "$`+postgresVariable+`" "$(command -v postgres)" "${LD_LIBRARY_PATH-}"; cat`)
	script.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, postgresVariable+"=") })
	script.Stderr = os.Stderr
	lifeline, err := script.StdinPipe()
	must(t, err)
	out, err := script.StdoutPipe()
	must(t, err)
	must(t, script.Start())
	t.Cleanup(func() {
		_ = lifeline.Close() // the process may be gone
		_ = script.Wait()    // the keeper removes what is left
	})
	lines := bufio.NewScanner(out)
	read := func() string { lines.Scan(); return lines.Text() }
	c := &cluster{t: t, ctx: ctx, url: read(), program: read(), libraries: read()}
	if c.program == "" {
		t.Fatal("scripts/postgres started no server")
	}
	t.Setenv(postgresVariable, c.url)
	c.adopt()
	return c
}

// adopt stops the server that the script started and runs it as a child of the
// test, which can then see it die.
func (c *cluster) adopt() {
	c.t.Helper()
	conn, err := pgx.Connect(c.ctx, c.url)
	must(c.t, err)
	must(c.t, conn.QueryRow(c.ctx, `show data_directory`).Scan(&c.data))
	must(c.t, conn.Close(c.ctx))
	stop := exec.CommandContext(c.ctx, filepath.Join(filepath.Dir(c.program), "pg_ctl"), "stop", "--silent", "--wait", "--mode=fast", "--pgdata="+c.data)
	c.own(stop)
	if out, err := stop.CombinedOutput(); err != nil {
		c.t.Fatalf("pg_ctl stop: %v\n%s", err, out)
	}
	c.start()
}

// own lets a program run as the owner of the cluster, in a folder it can enter:
// PostgreSQL refuses to run as root.
func (c *cluster) own(p *exec.Cmd) {
	c.t.Helper()
	info, err := os.Stat(c.data)
	must(c.t, err)
	owner := info.Sys().(*syscall.Stat_t)
	p.Dir = c.data
	p.Env = append(os.Environ(), "LD_LIBRARY_PATH="+c.libraries)
	if os.Geteuid() == 0 {
		p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
}

// start runs the server and waits until it takes connections. It refuses to run
// while a process of its predecessor is left, so it is started until it stays.
func (c *cluster) start() {
	c.t.Helper()
	u, err := url.Parse(c.url)
	must(c.t, err)
	ended := make(chan struct{})
	close(ended)
	until(c.ctx, c.t, "start PostgreSQL", func() bool {
		select {
		case <-ended:
			ended = c.run(u.Port())
		default:
		}
		conn, err := pgx.Connect(c.ctx, c.url)
		if err != nil {
			return false
		}
		return conn.Close(c.ctx) == nil
	})
}

// run starts the postmaster and returns what is closed when it has ended.
func (c *cluster) run(port string) chan struct{} {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.data, "..", "log"), os.O_WRONLY|os.O_APPEND, 0)
	must(c.t, err)
	defer func() { must(c.t, log.Close()) }()
	p := exec.Command(c.program, "-D", c.data, "-p", port)
	p.Stdout, p.Stderr = log, log
	c.own(p)
	must(c.t, p.Start())
	c.running = p
	ended := make(chan struct{})
	go func() { _ = p.Wait(); close(ended) }()
	return ended
}

// crash kills the postmaster: with all its processes, as when the machine stops, or
// alone, and then they notice by themselves and end.
func (c *cluster) crash(all bool) {
	pids := []int{c.running.Process.Pid}
	if all {
		pids = append(pids, c.processes()...)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// processes are the backends and helpers of the server.
func (c *cluster) processes() []int {
	conn, err := pgx.Connect(c.ctx, c.url)
	if err != nil {
		c.t.Error(err)
		return nil
	}
	defer func() { _ = conn.Close(c.ctx) }() // it was only read from
	rows, err := conn.Query(c.ctx, `select pid from pg_stat_activity where pid <> pg_backend_pid()`)
	if err != nil {
		c.t.Error(err)
		return nil
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		c.t.Error(err)
	}
	return pids
}
