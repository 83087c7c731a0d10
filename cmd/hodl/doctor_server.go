package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hodl"
	"hodl/client"
	"hodl/internal/doctor"
)

// An examiner looks at a server from outside.
type examiner struct {
	*env
	tell func(doctor.Check)
	http *http.Client
}

// examineServer checks the server at --url as its clients meet it.
func (e *env) examineServer(ctx context.Context, tell func(doctor.Check)) error {
	if err := checkURL(e.remote.url); err != nil {
		return err
	}
	const patience = 10 * time.Second
	x := &examiner{e, tell, &http.Client{Timeout: patience}}
	if x.answers(ctx) {
		x.ready(ctx)
		x.published(ctx)
		x.known(ctx)
	}
	return ctx.Err()
}

func (x *examiner) say(name string, status doctor.Status, detail, mend string) {
	x.tell(doctor.Check{Name: name, Status: status, Detail: detail, Mend: mend})
}

// A page is what the server answered.
type page struct {
	status int
	date   string
	body   []byte
}

// get reads a page of the server.
func (x *examiner) get(ctx context.Context, path string) (*page, error) {
	const most = 1 << 20
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(x.remote.url, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := x.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, most))
	return &page{answer.StatusCode, answer.Header.Get("Date"), body}, err
}

// answers checks that a hodl server is there, and its clock.
func (x *examiner) answers(ctx context.Context) bool {
	const mend = "start one with hodl serve, or name another with --url"
	before := x.now()
	answer, err := x.get(ctx, "/healthz")
	if err != nil {
		x.say("server", doctor.Failed, "no answer: "+err.Error(), mend)
		return false
	}
	var health struct{ Status, Release string }
	if json.Unmarshal(answer.body, &health) != nil || health.Status != "ok" {
		x.say("server", doctor.Failed, fmt.Sprintf("what answers at %s (%d) is no hodl server", x.remote.url, answer.status), mend)
		return false
	}
	x.say("server", doctor.OK, x.remote.url+" answers, release "+health.Release, "")
	if theirs, err := http.ParseTime(answer.date); err == nil {
		x.clock(theirs.Sub(before))
	}
	return true
}

// clock judges how far ahead the server's clock is; its header tells whole seconds.
func (x *examiner) clock(ahead time.Duration) {
	if ahead.Abs() > hodl.ClockSkew {
		x.say("clock", doctor.Failed, fmt.Sprintf("the server's and this machine's are %s apart", ahead.Abs().Round(time.Second)), "set both by NTP")
		return
	}
	x.say("clock", doctor.OK, "within seconds of the server's", "")
}

func (x *examiner) ready(ctx context.Context) {
	answer, err := x.get(ctx, "/readyz")
	switch {
	case err != nil:
		x.say("ready", doctor.Failed, "no answer: "+err.Error(), "look at the server's log")
	case answer.status != http.StatusOK:
		x.say("ready", doctor.Failed, fmt.Sprintf("the server says %d", answer.status), "its database does not answer, or it is stopping: look at its log")
	default:
		x.say("ready", doctor.OK, "the server and its database answer", "")
	}
}

// published checks that there is a key to verify tokens with.
func (x *examiner) published(ctx context.Context) {
	answer, err := x.get(ctx, "/.well-known/jwks.json")
	var set struct {
		Keys []struct {
			KID string `json:"kid"`
		} `json:"keys"`
	}
	if err == nil {
		err = json.Unmarshal(answer.body, &set)
	}
	switch {
	case err != nil:
		x.say("signing keys", doctor.Failed, err.Error(), "look at the server's log, and at what stands between")
	case len(set.Keys) == 0:
		x.say("signing keys", doctor.Failed, "none is published", "look at the server's clock and log")
	default:
		x.say("signing keys", doctor.OK, fmt.Sprintf("%d published", len(set.Keys)), "")
	}
}

// known checks the key, if there is one.
func (x *examiner) known(ctx context.Context) {
	key, err := x.secret(x.remote.key)
	if err != nil || key == "" {
		x.say("key", doctor.Warning, "there is none, so rights were not checked", "set HODL_API_KEY, or HODL_API_KEY_FILE")
		return
	}
	me, err := client.New(x.remote.url, key, x.options()...).Me(ctx)
	if err != nil {
		message, advice, _ := x.explain(err)
		x.say("key", doctor.Failed, message, advice)
		return
	}
	x.say("key", doctor.OK, fmt.Sprintf("%s of workspace %s, mode %s", me.User, me.Workspace, me.Mode), "")
}
