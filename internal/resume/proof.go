package resume

import (
	"context"

	"hodl"
	"hodl/internal/dpop"
	"hodl/internal/store"
)

// A Presentation is how a token came: under which scheme, with which proof, for
// which request. The address is put together from what clients were told, never
// from a header.
type Presentation struct {
	DPoP   bool   // the scheme was DPoP, not Bearer
	Proof  string // what stood in the DPoP header
	Method string
	Path   string // as it was requested, escaped
}

// purposeNonce separates the tags of nonces from all others.
const purposeNonce = "dpop-nonce"

func noncesOf(s Store) dpop.Nonces {
	return dpop.Nonces{
		Tag:    func(message []byte) []byte { return s.Tag(purposeNonce, message) },
		Tagged: func(message, tag []byte) bool { return s.Tagged(purposeNonce, message, tag) },
	}
}

// checkProof holds a use against the key its token is bound to and the one its
// audience has now, and notes the proof it was made with for the commit, which
// accepts a proof once.
func (s *Service) checkProof(u *use, a *hodl.Audience) error {
	bound := u.claims.Confirm
	switch {
	case bound == nil && a.JKT != "":
		return hodl.Errorf(hodl.ProofRequired, "%s proves possession of its key, and this token is from before it had one", a.Name).WithHint("mint a new token")
	case bound == nil && u.DPoP:
		return hodl.Errorf(hodl.InvalidProof, "this token is bound to no key, so there is nothing to prove").WithHint("send it as Authorization: Bearer")
	case bound == nil:
		return nil
	case a.JKT != "" && a.JKT != bound.JKT:
		return hodl.Errorf(hodl.InvalidProof, "this token is bound to another key than %s has now", a.Name).WithHint("mint a new token")
	case !u.DPoP || u.Proof == "":
		return hodl.Errorf(hodl.ProofRequired, "this token is bound to a key, and the request proves possession of none").
			WithHint("send Authorization: DPoP with the token, and a proof (RFC 9449) in the header DPoP")
	}
	proof, err := dpop.Parse(u.Proof)
	if err == nil {
		err = proof.Check(dpop.Use{JKT: bound.JKT, Method: u.Method, URLs: s.addresses(u.Path), Token: u.Token, Now: u.rows.At})
	}
	if err != nil {
		return err
	}
	if !s.nonces.Fresh(proof.Nonce, u.rows.At) {
		e := hodl.Errorf(hodl.InvalidProof, "the proof carries no fresh nonce of this server").WithHint("make another with the nonce in the header DPoP-Nonce of this answer")
		e.NeedsNonce = true
		return e
	}
	u.rows.Proof = &store.Proof{Digest: proof.Digest(), ExpiresAt: proof.ExpiresAt()}
	return nil
}

// spend uses up the proof of a use that commits nothing else.
func (s *Service) spend(ctx context.Context, u *use) error {
	if u.rows.Proof == nil {
		return nil
	}
	return s.store.Spend(ctx, u.rows)
}

// Nonce is what the next proof must carry. A caller who uses the scheme DPoP is given
// one with every answer.
func (s *Service) Nonce() string { return s.nonces.New(s.store.Now()) }

// addresses is what a path of ours may be called: the published clients know it
// under /api as well.
func (s *Service) addresses(path string) []string {
	const alias = "/api"
	return []string{s.options.Issuer + path, s.options.Issuer + alias + path}
}
