package client

import "context"

// Tag is a label and how many hodls carry it.
type Tag struct {
	Tag   string `json:"tag"`
	Hodls int64  `json:"hodls"`
}

// TagPage is a page of tags. Next is empty at the end of the list.
type TagPage struct {
	Tags []Tag  `json:"tags"`
	Next string `json:"next_cursor"`
}

// Tags lists the tags that begin with prefix, in the order of their bytes:
// GET /v1/tags. Of p, Since means nothing here.
func (c *Client) Tags(ctx context.Context, prefix string, p Page) (*TagPage, error) {
	q := p.query()
	q.Del("since")
	set(q, "prefix", prefix)
	out := &TagPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/tags", query: q}, out)
}
