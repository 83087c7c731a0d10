package resume

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/render"
	"hodl/internal/store"
)

// Preview tells what an agent would receive of a session of the caller's own if the
// policy of that name were the current one. It is no hydration: it uses nothing up,
// and its record is of kind preview. It refuses with [hodl.ValidationFailed],
// [hodl.NotFound], [hodl.NotAcceptable] and [hodl.Forbidden].
func (s *Service) Preview(ctx context.Context, c Caller, name string, d hodl.PreviewDraft) (*hodl.Preview, error) {
	f, err := s.checkPreview(ctx, c, &d)
	if err != nil {
		return nil, err
	}
	at, err := s.store.Session(ctx, c.Workspace, c.Mode, c.User, d.Session)
	if err != nil {
		return nil, err
	}
	policy, err := s.previewed(ctx, c, name, &d)
	if err != nil {
		return nil, err
	}
	body, err := s.store.Version(ctx, c.Workspace, c.Mode, d.Session, at.Fingerprint)
	if err != nil {
		return nil, err
	}
	cleaned, err := s.redacted(policy.At(s.store.Now()), c.Workspace, d.Session, store.SessionState{Fingerprint: at.Fingerprint, CapturedAt: at.CapturedAt}, body)
	if err != nil {
		return nil, err
	}
	fitted, err := render.Context(cleaned, d.Scopes).Fit(render.Options{Format: f, MaxTokens: d.MaxTokens})
	if err != nil {
		return nil, err
	}
	out, err := fitted.Render(noHandle)
	if err != nil {
		return nil, err
	}
	rec := &hodl.Record{
		ID: hodl.RecordID(s.store.NewID("acr")), Kind: hodl.KindPreview, At: s.store.Now(), Actor: string(c.Key), Audience: d.Audience,
		Workspace: c.Workspace, Mode: c.Mode, User: c.User, Session: d.Session, Scopes: hodl.SortScopes(d.Scopes), Fingerprint: at.Fingerprint,
		Policies: cleaned.Policies(), Redactions: cleaned.Uses(), Returned: out.Returned(),
	}
	if err := s.store.Append(ctx, rec, c.Detail); err != nil {
		return nil, err
	}
	return &hodl.Preview{
		ID: rec.ID, Session: d.Session, Fingerprint: at.Fingerprint, Policies: cleaned.Policies(), Format: string(f), ContentType: out.ContentType,
		Body: string(out.Body), Bytes: len(out.Body), Tokens: out.Tokens(), SHA256: out.SHA256, Changes: cleaned.Changes(),
	}, nil
}

// noHandle stands where a hydration has a handle, and is as long: a preview has no
// token to seal one to.
func noHandle(render.Part) string { return strings.Repeat("-", render.HandleSize) }

func (s *Service) checkPreview(ctx context.Context, c Caller, d *hodl.PreviewDraft) (render.Format, error) {
	if err := d.Check(); err != nil {
		return "", err
	}
	if slices.Contains(d.Scopes, hodl.ReadRedacted) && c.Role != hodl.Admin {
		return "", hodl.Errorf(hodl.Forbidden, "the scope %s is an admin's to mint", hodl.ReadRedacted).WithHint("leave the scope out, or ask an admin")
	}
	if d.Audience != "" {
		if _, err := s.mintable(ctx, c.Workspace, c.Mode, d.Audience); err != nil {
			return "", err
		}
	}
	if err := render.CheckTokens(d.MaxTokens); err != nil {
		return "", err
	}
	return render.ParseFormat(d.Format)
}

// previewed is what would redact the agent's use.
func (s *Service) previewed(ctx context.Context, c Caller, name string, d *hodl.PreviewDraft) (*redact.Policy, error) {
	names := []string{name}
	if d.RedactionPolicy != "" {
		names = append(names, d.RedactionPolicy)
	}
	kept, err := s.store.PoliciesNamed(ctx, c.Workspace, c.Mode, names...)
	if err != nil {
		return nil, err
	}
	redactedToo := slices.Contains(d.Scopes, hodl.ReadRedacted)
	var all []*redact.Policy
	for i, name := range names {
		own := kept.ByName[name]
		if i == 0 && d.Document != nil {
			own = &hodl.Policy{Name: name, Document: *d.Document}
		}
		if own == nil && !hodl.IsPreset(name) {
			return nil, noPolicy(i, name)
		}
		p, consents, err := previewedOne(name, own, i == 0 && d.Document != nil)
		switch {
		case err != nil:
			return nil, err
		case redactedToo && i == 0 && !consents:
			return nil, noConsent(name)
		case redactedToo && consents:
			p = p.SecretsOnly()
		}
		all = append(all, p)
	}
	return redact.Join(all...), nil
}

func noPolicy(place int, name string) error {
	if place > 0 {
		return hodl.Invalid("redaction_policy", "names no policy of this workspace")
	}
	return hodl.Errorf(hodl.NotFound, "no redaction policy %.80q", name).WithHint("check the name, or send a document; list yours to see what there is")
}

func previewedOne(name string, own *hodl.Policy, unsaved bool) (*redact.Policy, bool, error) {
	if !unsaved {
		return compiled(name, own)
	}
	p, err := redact.Compile(name, 0, own.Document)
	if bad, ok := errors.AsType[*hodl.Error](err); ok {
		for i := range bad.Fields {
			bad.Fields[i].Path = "document." + bad.Fields[i].Path
		}
	}
	return p, own.Document.ReadRedacted, err
}
