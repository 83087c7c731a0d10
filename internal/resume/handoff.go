package resume

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"hodl"
)

// stepUpFor is how old a confirmation may be.
const stepUpFor = 300 * time.Second

// HandOff mints a token by which the person gives a session of their own to another
// principal. confirmed is when the person said so, in Unix seconds, as the caller
// tells: at most 300 s ago, give or take [hodl.ClockSkew], else it refuses with
// [hodl.StepUpRequired]. It refuses as [Service.Mint] does, too.
func (s *Service) HandOff(ctx context.Context, c Caller, id hodl.SessionID, confirmed string, d hodl.HandOffDraft) (*Minted, error) {
	up, err := stepUp(confirmed, s.store.Now())
	if err != nil {
		return nil, err
	}
	if d.Delegator != "" && d.Delegator != c.User {
		return nil, hodl.Invalid("delegator_user_id", "must be the key's own user "+string(c.User)+", or left out")
	}
	draft := hodl.TokenDraft{Session: id, Audience: d.Audience, Scopes: d.Scopes, TTLSeconds: d.TTLSeconds}
	confirm, err := s.checkDraft(ctx, c, &draft)
	if err != nil {
		return nil, err
	}
	g := s.grant(c, draft, confirm)
	g.link = rand.Text()
	digest := sha256.Sum256([]byte(g.link))
	g.delegator, g.token.Link = c.User, hex.EncodeToString(digest[:])
	return s.mint(ctx, c, g, hodl.KindHandOff, up)
}

// stepUp reads a confirmation by the person, for the record.
func stepUp(confirmed string, now time.Time) (*hodl.StepUp, error) {
	seconds, err := strconv.ParseInt(confirmed, 10, 64)
	at := time.Unix(seconds, 0).UTC()
	why := ""
	switch {
	case confirmed == "":
		why = "a hand-off needs the person's confirmation"
	case err != nil:
		why = "the person's confirmation is not a time in Unix seconds"
	case now.Sub(at) > stepUpFor+hodl.ClockSkew:
		why = "the person's confirmation is older than 300 seconds"
	case at.Sub(now) > hodl.ClockSkew:
		why = "the person's confirmation lies in the future"
	default:
		return &hodl.StepUp{At: at, Method: "self_asserted"}, nil
	}
	return nil, hodl.Errorf(hodl.StepUpRequired, "%s", why).
		WithHint("ask the person, and send the Unix time of the answer in X-Unihodl-StepUp")
}
