package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"testing"

	"hodl/client"
	"hodl/hodltest"
)

// TestKilledWhileHolding kills hodl hold with SIGKILL at each step of its request. What
// was to be held is at the server once afterwards, by way of the next command.
func TestKilledWhileHolding(t *testing.T) {
	for _, step := range []string{"before the server has it", "after the server took it"} {
		t.Run(step, func(t *testing.T) {
			server := hodltest.Start(t)
			far := &faraway{kill: make(chan chan struct{}), taken: step == "after the server took it"}
			far.start(t, server)
			environment := append(os.Environ(), "HODL_URL="+far.URL, "HODL_API_KEY="+server.LiveKey, "XDG_STATE_HOME="+t.TempDir())
			hold := exec.Command("hodl", "hold", "--note", "once")
			hold.Env = environment
			if err := hold.Start(); err != nil {
				t.Fatal(err)
			}
			killed := <-far.kill
			if err := hold.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = hold.Wait() // it was killed
			close(killed)

			list := exec.Command("hodl", "list")
			list.Env = environment
			if out, err := list.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if keys := far.sent(); len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
				t.Errorf("sent with the keys %q, want one twice", keys)
			}
			page, err := server.Client().Hodls(t.Context(), client.Page{})
			if err != nil || len(page.Hodls) != 1 {
				t.Errorf("the server has %+v, %v", page, err)
			}
		})
	}
}

// faraway is the way to a server, on which the first capture meets its client's end.
type faraway struct {
	URL   string
	kill  chan chan struct{} // asks the test to kill the client; closed when that is done
	taken bool               // the server gets the capture before its client dies
	mu    sync.Mutex
	keys  []string // the idempotency keys of captures
}

func (f *faraway) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys
}

// first notes a capture and reports whether it is the first.
func (f *faraway) first(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = append(f.keys, key)
	return len(f.keys) == 1
}

func (f *faraway) start(t *testing.T, server *hodltest.Server) {
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !f.first(r.Header.Get("Idempotency-Key")) {
			proxy.ServeHTTP(w, r)
			return
		}
		if f.taken {
			proxy.ServeHTTP(httptest.NewRecorder(), r) // the answer never arrives
		}
		killed := make(chan struct{})
		f.kill <- killed
		<-killed
	}))
	t.Cleanup(s.Close)
	f.URL = s.URL
}
