package httpapi

import (
	"context"
	"net/http"

	"hodl"
	"hodl/internal/resume"
)

type handOffReply struct {
	Body struct {
		MintedBody
		URL string `json:"handoff_url" doc:"A link for the person: single-use, without the token, and it needs a login"`
	}
}

func (s *server) sessionHandOff(ctx context.Context, in *struct {
	SessionPath
	StepUp string `header:"X-Unihodl-StepUp" doc:"When the person confirmed, in Unix seconds: at most 300 s ago" example:"1795251600"`
	Body   hodl.HandOffDraft
},
) (*handOffReply, error) {
	return answer(ctx, func(t *resume.Minted) *handOffReply {
		out := &handOffReply{}
		out.Body.MintedBody = mintedOf(t)
		out.Body.URL = s.Resume.Issuer() + "/h/" + t.Link
		return out
	})(s.Resume.HandOff(ctx, caller(ctx), hodl.SessionID(in.ID), in.StepUp, in.Body))
}

// handOffLink answers the link of a hand-off. It is for a person who is logged in,
// and there is no login yet: every link gets the same answer, whether or not there
// is such a one.
func handOffLink(w http.ResponseWriter, r *http.Request) {
	err := hodl.Errorf(hodl.MissingCredentials, "this link needs a login, which this server does not have yet").
		WithHint("whoever handed the session off has its resume token: ask them for it; with it an agent calls POST /v1/sessions/{id}/hydrate")
	fault(r.Context(), err)
	writeError(w, err)
}
