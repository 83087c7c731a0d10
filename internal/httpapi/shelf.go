package httpapi

import (
	"context"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/address"
	"hodl/internal/capture"
	"hodl/internal/decode"
	"hodl/internal/store"
)

// hodlResult is what became of one hodl of a batch.
type hodlResult struct {
	Status int          `json:"status" doc:"201 when it was captured, else the status it would have got by itself"`
	Hodl   *hodl.Hodl   `json:"hodl,omitempty" doc:"The hodl as it was captured"`
	Error  *errorDetail `json:"error,omitempty" doc:"Why it was not"`
}

type hodlBatchReply struct {
	Body struct {
		Results []hodlResult `json:"results" doc:"One for each hodl, in the order sent"`
	}
}

// A draftOrFault is a hodl of a batch. What is wrong with its form is its own fault
// and not the batch's.
type draftOrFault struct {
	draft hodl.HodlDraft
	err   error
}

// UnmarshalJSON is asked by the format.
func (d *draftOrFault) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &d.draft, json.RejectUnknownMembers(true)); err != nil {
		d.err = decode.Fault(err)
	}
	return nil
}

// Schema is asked by huma for the OpenAPI document.
func (*draftOrFault) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[hodl.HodlDraft](), true, ""), {Description: "Anything else is refused by itself, in its own result"},
	}}
}

type hodlBatchBody struct {
	Hodls []draftOrFault `json:"hodls" doc:"The hodls; at most 1,000"`
}

// isLenient keeps huma from refusing the whole for one hodl's sake.
func (*hodlBatchBody) isLenient() {}

// UnmarshalJSON is asked by the format.
func (b *hodlBatchBody) UnmarshalJSON(data []byte) error {
	type plain hodlBatchBody
	return json.Unmarshal(data, (*plain)(b), json.RejectUnknownMembers(true))
}

func (s *server) hodlBatch(ctx context.Context, in *struct{ Body hodlBatchBody }) (*hodlBatchReply, error) {
	all := in.Body.Hodls
	if err := hodl.CheckBatch("hodls", len(all)); err != nil {
		return nil, err
	}
	out := &hodlBatchReply{}
	out.Body.Results = make([]hodlResult, len(all))
	sound, places := make([]hodl.HodlDraft, 0, len(all)), make([]int, 0, len(all))
	for i, d := range all {
		if d.err != nil {
			out.Body.Results[i] = refused(ctx, d.err)
			continue
		}
		sound, places = append(sound, d.draft), append(places, i)
	}
	for n, r := range s.Capture.Hodls(ctx, principal(ctx), sound) {
		out.Body.Results[places[n]] = hodlResult{Status: created, Hodl: r.Hodl}
		if r.Err != nil {
			out.Body.Results[places[n]] = refused(ctx, r.Err)
		}
	}
	return out, nil
}

// refused is the result of a hodl that was not captured.
func refused(ctx context.Context, err error) hodlResult {
	fault(ctx, err) // of several, the log tells the last
	refusal := toWire(err)
	return hodlResult{Status: refusal.status, Error: &refusal.Err}
}

type hodlCheckReply struct {
	Body struct {
		Known bool         `json:"known" doc:"Whether a hodl leads to the same page"`
		URL   string       `json:"url" doc:"The form of the address that was compared"`
		Hodls []*hodl.Hodl `json:"hodls" doc:"Those hodls, newest first, at most 20"`
	}
}

func (s *server) hodlCheck(ctx context.Context, in *struct {
	URL string `query:"url" required:"true" doc:"The address of the page; at most 8 KiB"`
},
) (*hodlCheckReply, error) {
	if err := hodl.CheckAddress("url", in.URL); err != nil {
		return nil, err
	}
	p := principal(ctx)
	list, err := s.Store.KnownHodls(ctx, p.Workspace, p.Mode, p.User, in.URL, hodl.DefaultOnPage)
	if err != nil {
		return nil, err
	}
	out := &hodlCheckReply{}
	out.Body.Known, out.Body.URL, out.Body.Hodls = len(list) > 0, address.Normal(in.URL), withLinks(list)
	return out, nil
}

type tagListReply struct {
	Body struct {
		Tags []store.Tag `json:"tags" doc:"A page of tags"`
		Next *string     `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) tagList(ctx context.Context, in *struct {
	Limit  int    `query:"limit" doc:"How many, 1 to 100; 20 when absent. More or less is brought within"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Prefix string `query:"prefix" doc:"Only tags that begin so"`
},
) (*tagListReply, error) {
	after := ""
	if in.Cursor != "" {
		parts, err := decodeCursor(in.Cursor, 1)
		if err != nil {
			return nil, err
		}
		after = parts[0]
	}
	p := principal(ctx)
	limit := (&Paging{Limit: in.Limit}).limit()
	list, err := s.Store.Tags(ctx, p.Workspace, p.Mode, p.User, in.Prefix, after, limit)
	if err != nil {
		return nil, err
	}
	out := &tagListReply{}
	out.Body.Tags = list
	out.Body.Next = more(list, limit, func(t store.Tag) string { return encodeCursor(t.Tag) })
	return out, nil
}

// opening is how a person wants a hodl to be opened. An empty body is none.
type opening struct {
	Editor string `json:"editor,omitempty" enum:"vscode,vscode-insiders,vscodium,cursor,windsurf,zed,clion,goland,idea,jetbrains,phpstorm,pycharm,rider,rubymine,webstorm" doc:"The editor that opens a place in a file; vscode when absent"`
	Root   string `json:"root,omitempty" doc:"The folder of the repository on this machine; with it, an editor of the family of VS Code needs no extension"`
}

type hodlResumeReply struct {
	Body struct {
		DeepLink string    `json:"deep_link" doc:"Opens the work item at the exact place; empty when it has none"`
		Hodl     hodl.Hodl `json:"hodl" doc:"The hodl"`
	}
}

func (s *server) hodlResume(ctx context.Context, in *struct {
	HodlPath
	Body *opening `required:"false"`
},
) (*hodlResumeReply, error) {
	o := capture.Opening{}
	if in.Body != nil {
		o = capture.Opening(*in.Body)
	}
	if err := hodl.CheckPath("root", o.Root); err != nil {
		return nil, err
	}
	p := principal(ctx)
	h, err := s.Store.Hodl(ctx, p.Workspace, p.Mode, p.User, in.ID)
	if err != nil {
		return nil, err
	}
	out := &hodlResumeReply{}
	if out.Body.DeepLink, err = capture.LinkFor(h, o); err != nil {
		return nil, err
	}
	out.Body.Hodl = *withLinks([]*hodl.Hodl{h})[0]
	return out, nil
}
