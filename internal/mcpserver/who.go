package mcpserver

import (
	"context"
	"time"

	"hodl"
	"hodl/internal/resume"
)

// who is calling: with a person's key, or with a resume token, which opens one
// session and nothing else.
type who struct {
	call   resume.Call // of a session, once its id is put in
	key    *hodl.Principal
	claims *hodl.Claims
	ends   time.Time // of the credential; zero for never

	credential string // as it came, to be looked up again
	answer     *answer
	end        func() // of what is open
	wants      string // the scope that a refusal missed
}

type whoKey struct{}

// whoOf finds who is calling. It is in the context and not in the request's extras,
// which the SDK leaves out where a listen stream subscribes.
func whoOf(ctx context.Context) *who { return ctx.Value(whoKey{}).(*who) }

// owner is whose data the caller sees.
func (w *who) owner() (hodl.WorkspaceID, hodl.Mode, hodl.UserID) {
	if w.key != nil {
		return w.key.Workspace, w.key.Mode, w.key.User
	}
	ws, user := w.claims.Owner()
	return ws, w.claims.Mode, user
}

// id names the credential.
func (w *who) id() string {
	if w.key != nil {
		return string(w.key.Key)
	}
	return string(w.claims.ID)
}

// on is the call for a session.
func (w *who) on(id hodl.SessionID) resume.Call {
	c := w.call
	c.Session = id
	return c
}

// A right is what a caller must hold for something: a key its scope, a token one of
// the scopes. Without scopes it is not for tokens.
type right struct {
	key    string
	scopes []hodl.Scope
}

var (
	anyone = right{}
	reads  = right{"sessions:read", []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}}
)

func (w *who) has(r right) bool {
	if r.key == "" {
		return true
	}
	if w.key != nil {
		return w.key.May(r.key)
	}
	for _, s := range r.scopes {
		if w.claims.Has(s) {
			return true
		}
	}
	return false
}

// lacks is the refusal of a caller without r.
func (w *who) lacks(r right) error {
	if w.wants = r.key; w.key != nil {
		return hodl.Errorf(hodl.InsufficientScope, "this key does not carry %s", r.key).WithHint("use a key with that scope")
	}
	if len(r.scopes) == 0 {
		return hodl.Errorf(hodl.InsufficientScope, "a resume token opens its session and nothing else").WithHint("use an API key with the scope %s", r.key)
	}
	w.wants = string(r.scopes[0])
	return hodl.Errorf(hodl.InsufficientScope, "this token does not carry %s", r.scopes[0]).WithHint("mint a token with the scope %s", r.scopes[0])
}
