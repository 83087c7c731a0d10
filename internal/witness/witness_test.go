package witness_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"hodl/internal/ledger"
	"hodl/internal/witness"
)

// A log is a tree that grows, and the key that signs it.
type log struct {
	t      *testing.T
	key    ed25519.PrivateKey
	hashes []tlog.Hash
	size   int64
}

const origin = "log.example.com/test"

func newLog(t *testing.T, salt byte) *log {
	l := &log{t: t, key: ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", 32)))}
	l.grow(salt, 3)
	return l
}

func (l *log) ReadHashes(at []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(at))
	for i, x := range at {
		out[i] = l.hashes[x]
	}
	return out, nil
}

func (l *log) grow(salt byte, n int) {
	for range n {
		hashes, err := tlog.StoredHashes(l.size, []byte{salt, byte(l.size)}, l)
		l.must(err)
		l.hashes = append(l.hashes, hashes...)
		l.size++
	}
}

func (l *log) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *log) vkey() string {
	return ledger.VerifierKey(origin, l.key.Public().(ed25519.PublicKey))
}

func (l *log) checkpoint() (ledger.Checkpoint, string) {
	root, err := tlog.TreeHash(l.size, l)
	l.must(err)
	c := ledger.Checkpoint{Origin: origin, Size: l.size, Root: root}
	return c, c.Note(c.Sign(l.key))
}

// request is what add-checkpoint is sent.
func (l *log) request(old int64) string {
	_, signed := l.checkpoint()
	text := "old " + strconv.FormatInt(old, 10) + "\n"
	if old > 0 && old < l.size {
		proof, err := tlog.ProveTree(l.size, old, l)
		l.must(err)
		for _, h := range proof {
			text += base64.StdEncoding.EncodeToString(h[:]) + "\n"
		}
	}
	return text + "\n" + signed
}

func post(t *testing.T, url, body string) (int, string, string) {
	t.Helper()
	r, err := http.Post(url+"/add-checkpoint", "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	out, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header.Get("Content-Type"), string(out)
}

// A witness cosigns a log that grows, and after a restart it knows where it was.
func TestAddCheckpoint(t *testing.T) {
	l, dir := newLog(t, 'a'), t.TempDir()
	open := func() (*witness.Witness, string) {
		w, err := witness.Open(dir, "witness.example.com", []string{l.vkey()}, func() time.Time { return time.Unix(1_800_000_000, 0) })
		l.must(err)
		server := httptest.NewServer(w)
		t.Cleanup(server.Close)
		return w, server.URL
	}
	w, url := open()
	signs := func(url string, old int64) {
		t.Helper()
		status, _, line := post(t, url, l.request(old))
		if status != http.StatusOK || !strings.HasPrefix(line, "— witness.example.com ") {
			t.Fatalf("%d %s", status, line)
		}
		verifier, err := ledger.ParseVerifier(w.VerifierKey())
		l.must(err)
		theirs, err := ledger.ParseVerifier(l.vkey())
		l.must(err)
		want, signed := l.checkpoint()
		got, err := ledger.OpenCheckpoint(signed+line, theirs, verifier)
		if err != nil || got != want {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	signs(url, 0)
	signs(url, 3) // the same once more
	l.grow('a', 300)
	signs(url, 3)
	if _, err := witness.Open(dir, "witness.example.com", []string{l.vkey()}, time.Now); !errors.Is(err, witness.ErrTaken) {
		t.Errorf("two witnesses in one folder: %v", err)
	}
	l.must(w.Close())
	again, url := open()
	if again.VerifierKey() != w.VerifierKey() {
		t.Error("the key did not last")
	}
	status, kind, size := post(t, url, l.request(3))
	if status != http.StatusConflict || kind != "text/x.tlog.size" || size != "303\n" {
		t.Errorf("behind: %d %s %q", status, kind, size)
	}
	l.grow('a', 1)
	signs(url, 303)
}

// What is not the log, grown, is not cosigned, and does not move the witness.
func TestRefusals(t *testing.T) {
	l := newLog(t, 'a')
	w, err := witness.Open(t.TempDir(), "witness.example.com", []string{l.vkey()}, time.Now)
	l.must(err)
	server := httptest.NewServer(w)
	defer server.Close()
	if status, _, _ := post(t, server.URL, l.request(0)); status != http.StatusOK {
		t.Fatal(status)
	}
	fork := newLog(t, 'b')
	sameSize := fork.request(3)
	fork.grow('b', 4)
	stranger := newLog(t, 'a')
	stranger.key = ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", 32)))
	l.grow('a', 4)
	good := l.request(3)
	hash := base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n"
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"another history":            {fork.request(3), 422},
		"another of the same size":   {sameSize, 409},
		"signed by a stranger":       {stranger.request(3), 403},
		"a log it does not know":     {strings.ReplaceAll(good, origin, "other.example.com"), 404},
		"smaller than old":           {strings.Replace(good, "old 3", "old 9", 1), 400},
		"no old":                     {strings.TrimPrefix(good, "old "), 400},
		"old with a sign":            {strings.Replace(good, "old 3", "old +3", 1), 400},
		"a proof that is none":       {strings.Replace(good, "old 3\n", "old 3\nx\n", 1), 400},
		"a proof with a hash more":   {strings.Replace(good, "old 3\n", "old 3\n"+hash, 1), 422},
		"a proof longer than any is": {"old 3\n" + strings.Repeat(hash, 64) + good[5:], 400},
		"nothing":                    {"", 400},
		"too much":                   {strings.Repeat("x", 20<<10), 400},
	} {
		if status, _, text := post(t, server.URL, c.body); status != c.status {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, _, text := post(t, server.URL, good); status != http.StatusOK {
		t.Errorf("the log itself: %d %s", status, text)
	}
}
