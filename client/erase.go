package client

import (
	"context"

	"hodl"
)

// Erased is what the erasure of a person took, or would take.
type Erased struct {
	User     hodl.UserID `json:"user_id"`
	DryRun   bool        `json:"dry_run"`
	Sessions int64       `json:"sessions"`
	Hodls    int64       `json:"hodls"`
	Details  int64       `json:"details"` // records that lose address, user agent and salt
	Records  int64       `json:"records"` // that stay
	Remains  []string    `json:"remains"` // where else there may still be something
}

// EraseMember erases the content of a person who was removed, and what is personal of
// their access records, as an admin: POST /v1/members/{id}/erase. A dry run tells
// what would go.
func (c *Client) EraseMember(ctx context.Context, id hodl.UserID, dry bool, reason string) (*Erased, error) {
	in := struct {
		DryRun bool   `json:"dry_run"`
		Reason string `json:"reason,omitempty"`
	}{dry, reason}
	out := &Erased{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/members/" + segment(id) + "/erase", in: in}, out)
}
