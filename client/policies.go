package client

import (
	"context"
	"net/url"
	"strconv"

	"hodl"
)

// PolicyPage is a page of a workspace's own redaction policies, with the presets.
// Next is empty at the end of the list.
type PolicyPage struct {
	Policies []hodl.Policy `json:"redaction_policies"`
	Presets  []hodl.Policy `json:"presets"`
	Current  string        `json:"current"`
	Next     string        `json:"next_cursor"`
}

// PolicyVersionPage is a page of a policy's history. Next is empty at its end.
type PolicyVersionPage struct {
	Versions []hodl.Policy `json:"versions"`
	Next     string        `json:"next_cursor"`
}

// Policies lists redaction policies: GET /v1/redaction_policies.
func (c *Client) Policies(ctx context.Context, p Page) (*PolicyPage, error) {
	out := &PolicyPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/redaction_policies", query: p.query()}, out)
}

// Policy gets a version of a redaction policy, the last one when version is 0:
// GET /v1/redaction_policies/{name}.
func (c *Client) Policy(ctx context.Context, name string, version int) (*hodl.Policy, error) {
	q := url.Values{}
	if version != 0 {
		q.Set("version", strconv.Itoa(version))
	}
	return c.policy(ctx, call{method: "GET", path: policyPath(name), query: q})
}

// PutPolicy makes a redaction policy, or its next version; [IfMatch] takes a version:
// PUT /v1/redaction_policies/{name}.
func (c *Client) PutPolicy(ctx context.Context, name string, d hodl.PolicyDocument, options ...CallOption) (*hodl.Policy, error) {
	return c.policy(ctx, call{method: "PUT", path: policyPath(name), in: d, options: options})
}

// PolicyVersions lists the history of a redaction policy:
// GET /v1/redaction_policies/{name}/versions.
func (c *Client) PolicyVersions(ctx context.Context, name string, p Page) (*PolicyVersionPage, error) {
	out := &PolicyVersionPage{}
	return out, c.do(ctx, call{method: "GET", path: policyPath(name) + "/versions", query: p.query()}, out)
}

// RollbackPolicy makes a version that says what an older one said:
// POST /v1/redaction_policies/{name}/rollback.
func (c *Client) RollbackPolicy(ctx context.Context, name string, version int) (*hodl.Policy, error) {
	in := struct {
		Version int `json:"version"`
	}{version}
	return c.policy(ctx, call{method: "POST", path: policyPath(name) + "/rollback", in: in})
}

// UsePolicy makes a redaction policy the current one:
// POST /v1/redaction_policies/{name}/use.
func (c *Client) UsePolicy(ctx context.Context, name string) (*hodl.Policy, error) {
	return c.policy(ctx, call{method: "POST", path: policyPath(name) + "/use"})
}

// DeletePolicy erases a redaction policy and its history:
// DELETE /v1/redaction_policies/{name}.
func (c *Client) DeletePolicy(ctx context.Context, name string) error {
	return c.do(ctx, call{method: "DELETE", path: policyPath(name)}, nil)
}

// PreviewPolicy tells what an agent would receive under a redaction policy:
// POST /v1/redaction_policies/{name}/preview.
func (c *Client) PreviewPolicy(ctx context.Context, name string, d hodl.PreviewDraft) (*hodl.Preview, error) {
	out := &hodl.Preview{}
	return out, c.do(ctx, call{method: "POST", path: policyPath(name) + "/preview", in: d}, out)
}

func (c *Client) policy(ctx context.Context, x call) (*hodl.Policy, error) {
	out := &hodl.Policy{}
	return out, c.do(ctx, x, out)
}

func policyPath(name string) string { return "/v1/redaction_policies/" + segment(name) }
