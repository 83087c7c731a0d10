package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hodl"
	"hodl/hodltest"
)

// TestTerminal looks at what a terminal of 60 columns gets.
func TestTerminal(t *testing.T) {
	server := hodltest.Start(t)
	title := strings.Repeat("long ", 30) + "\x1b[31m"
	if _, err := server.Client().CaptureHodl(t.Context(), hodl.HodlDraft{Title: title}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		env      map[string]string
		colours  bool
		args     []string
		contains string
	}{
		{"a table is cut", nil, true, []string{"list"}, "long…"},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, false, []string{"list"}, "long…"},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, false, []string{"list"}, "long…"},
		{"FORCE_COLOR", map[string]string{"FORCE_COLOR": "1", "TERM": "dumb"}, true, []string{"list"}, "long…"},
		{"NO_COLOR before FORCE_COLOR", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, false, []string{"list"}, "long…"},
		{"JSON", nil, false, []string{"list", "--json"}, `\u001b[31m`},
		{"a failure", nil, true, []string{"session", "show", "ses_nobody"}, "hint:"},
	} {
		got := onTerminal(t, server, tt.env, tt.args)
		if !strings.Contains(got, tt.contains) {
			t.Errorf("%s: no %q in %q", tt.name, tt.contains, got)
		}
		if colours := strings.Contains(got, "\x1b["); colours != tt.colours || strings.Contains(got, "\x1b[31mlong") {
			t.Errorf("%s: colours %t: %q", tt.name, colours, got)
		}
		for _, line := range strings.Split(got, "\r\n") {
			plain := strings.NewReplacer(bold, "", dim, "", reset, "", red, "").Replace(line)
			if len(tt.args) == 1 && columns(plain) > terminalColumns {
				t.Errorf("%s: %d columns: %q", tt.name, columns(plain), plain)
			}
		}
	}
}

const terminalColumns = 60

// onTerminal runs hodl with a pseudo-terminal as its output and returns what the
// terminal saw.
func onTerminal(t *testing.T, server *hodltest.Server, variables map[string]string, args []string) string {
	t.Helper()
	ours, theirs := openTerminal(t)
	e := &env{
		in: strings.NewReader(""), out: theirs, err: theirs, now: time.Now,
		lookup: func(name string) (string, bool) {
			v, ok := variables[name]
			return v, ok
		},
	}
	root := commands(e)
	root.SetArgs(append(args, "--url", server.URL, "--key", server.LiveKey))
	e.report(root.ExecuteContext(t.Context()))
	const end = "\x04end"
	if _, err := theirs.WriteString(end); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	for chunk := make([]byte, 4096); !bytes.HasSuffix(seen.Bytes(), []byte(end)); {
		n, err := ours.Read(chunk)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(chunk[:n])
	}
	return strings.TrimSuffix(seen.String(), end)
}

func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	fd := int(ours.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: terminalColumns})
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, theirs
}
