package httpapi

import (
	"context"

	"hodl"
)

type AudiencePath struct {
	ID hodl.AudienceID `path:"id" doc:"The audience's id"`
}

type audienceReply struct {
	Location string `header:"Location" doc:"Path of a new audience"`
	Body     *hodl.Audience
}

func replyAudience(a *hodl.Audience) *audienceReply { return &audienceReply{Body: a} }

func (s *server) audienceAdd(ctx context.Context, in *struct{ Body hodl.AudienceDraft }) (*audienceReply, error) {
	return answer(ctx, func(a *hodl.Audience) *audienceReply {
		return &audienceReply{Location: "/v1/audiences/" + string(a.ID), Body: a}
	})(s.Resume.AddAudience(ctx, caller(ctx), in.Body))
}

func (s *server) audienceGet(ctx context.Context, in *AudiencePath) (*audienceReply, error) {
	a, err := s.Resume.Audience(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return replyAudience(a), nil
}

type audienceListReply struct {
	Body struct {
		Audiences []*hodl.Audience `json:"audiences" doc:"A page of audiences: registered ones, then the built-in ones"`
		Next      *string          `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) audienceList(ctx context.Context, in *Paging) (*audienceListReply, error) {
	page, err := in.byID()
	if err != nil {
		return nil, err
	}
	list, err := s.Resume.Audiences(ctx, caller(ctx), page)
	out := &audienceListReply{}
	out.Body.Audiences = list
	out.Body.Next = more(list, page.Limit, func(a *hodl.Audience) string { return encodeCursor(string(a.ID)) })
	return out, err
}

func (s *server) audienceChange(ctx context.Context, in *struct {
	AudiencePath
	Body hodl.AudienceChange
},
) (*audienceReply, error) {
	return answer(ctx, replyAudience)(s.Resume.ChangeAudience(ctx, caller(ctx), in.ID, in.Body))
}

func (s *server) audienceDelete(ctx context.Context, in *AudiencePath) (*deletedReply, error) {
	return answer(ctx, replyDeleted(string(in.ID)))(done(s.Resume.DeleteAudience(ctx, caller(ctx), in.ID)))
}
