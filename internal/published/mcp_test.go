package published_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"testing"
)

// An mcp plays @unihodl/mcp-server 0.2.3, which calls through agent-sdk 0.2.3 and
// declares a schema for what it returns: its caller fails what does not fit.
type mcp struct{ *node }

var published = regexp.MustCompile(`^ses_[A-Za-z0-9]+$`)

func (m *mcp) resume(session, format string) (*hydrated, error) {
	m.t.Helper()
	if !published.MatchString(session) {
		return nil, fmt.Errorf("session_id is refused before any call")
	}
	return m.hydrateAs("mcp.unihodl.app", session, "", format)
}

// dateTime is ajv-formats' date-time: RFC 3339 with a zone.
var dateTime = regexp.MustCompile(`^\d\d\d\d-[0-1]\d-[0-3]\d[tT ](?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:[zZ]|[+-]\d\d(?::?\d\d)?)$`)

func (m *mcp) listSessions(limit int, cursor string) ([]any, *string, error) {
	m.t.Helper()
	q := "limit=" + strconv.Itoa(min(max(limit, 1), 50))
	if cursor != "" {
		q += "&cursor=" + url.QueryEscape(cursor)
	}
	o, err := m.get("/v1/sessions?" + q)
	if err != nil {
		return nil, nil, err
	}
	return checkList(o)
}

// checkList holds an answer against the output schema of list_sessions.
func checkList(o object) ([]any, *string, error) {
	sessions, ok := o["sessions"].([]any)
	if !ok {
		return nil, nil, fmt.Errorf("sessions is %v, not an array", o["sessions"])
	}
	for i, x := range sessions {
		item, ok := x.(object)
		if !ok {
			return nil, nil, fmt.Errorf("sessions[%d] is %v", i, x)
		}
		if err := wants(item, map[string]string{"session_id": "s", "title": "s", "captured_at": "s", "summary": "?s", "ai_tags": "a"}); err != nil {
			return nil, nil, fmt.Errorf("sessions[%d]: %w", i, err)
		}
		if at := item["captured_at"].(string); !dateTime.MatchString(at) {
			return nil, nil, fmt.Errorf("sessions[%d].captured_at is %q, no date-time", i, at)
		}
	}
	next, there := o["next_cursor"]
	if !there {
		return nil, nil, fmt.Errorf("next_cursor is required")
	}
	if next == nil {
		return sessions, nil, nil
	}
	cursor, ok := next.(string)
	if !ok {
		return nil, nil, fmt.Errorf("next_cursor is %v", next)
	}
	return sessions, &cursor, nil
}

func TestMCPServerListsPageByPage(t *testing.T) {
	server, base := serving(t)
	m := &mcp{&node{t, base, server.LiveKey, "0.2.3"}}
	for i := range 5 {
		must[object](t)(m.capture(fmt.Sprintf(`{"session_id":"ses_page%d","title":"page %d"}`, i, i)))
	}
	var seen []string
	cursor := ""
	for {
		page, next, err := m.listSessions(2, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range page {
			seen = append(seen, x.(object)["session_id"].(string))
		}
		if next == nil {
			break
		}
		cursor = *next
	}
	if want := "[ses_page4 ses_page3 ses_page2 ses_page1 ses_page0]"; fmt.Sprint(seen) != want {
		t.Errorf("the pages hold %v, want %s", seen, want)
	}
	if _, _, err := m.listSessions(10, "nonsense"); codeOf(err) != "validation_failed" {
		t.Errorf("a malformed cursor: %v", err)
	}
}

func TestMCPServerResumesBothWays(t *testing.T) {
	_, base := serving(t)
	m := &mcp{&node{t, base, demoKey, "0.2.3"}}
	for _, format := range []string{"json", "prompt-ready"} {
		got, err := m.resume("ses_8f3aZ91b", format)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.prompt(); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}
