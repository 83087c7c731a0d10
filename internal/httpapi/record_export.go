package httpapi

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"hodl"
	"hodl/internal/ledger"
	"hodl/internal/store"
)

// recordExportReply streams a log: its checkpoint, then every record under it.
type recordExportReply struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition" doc:"A name for the file"`
	Body        func(huma.Context)
}

func (*recordExportReply) describe(r huma.Registry) map[string]*huma.MediaType {
	r.Schema(reflect.TypeFor[hodl.Record](), true, "")
	return map[string]*huma.MediaType{ndjson: {Schema: &huma.Schema{Type: huma.TypeString, Description: "The log's name and checkpoint as JSON on the first line, a record with its commitment and salt on each line after it, by their places"}}}
}

// exportHead is the first line of an export.
type exportHead struct {
	Format     string           `json:"format"` // what the file is
	Workspace  hodl.WorkspaceID `json:"workspace_id"`
	Mode       hodl.Mode        `json:"mode"`
	Origin     string           `json:"origin"`
	Size       int64            `json:"size"`
	Checkpoint string           `json:"checkpoint"`
}

// exportFormat is raised when older programs cannot read an export any more.
const exportFormat = "hodl-access-log/1"

// exportLine is a record. Of those that are not the caller's there is the commitment
// alone: enough to prove that none is missing.
type exportLine struct {
	Seq        int64          `json:"seq"`
	Commitment []byte         `json:"commitment"`
	Salt       []byte         `json:"salt,omitzero"`     // absent also when it was erased
	Record     jsontext.Value `json:"record,omitzero"`   // canonical (RFC 8785): what the commitment is of
	Misfiled   string         `json:"misfiled,omitzero"` // the column of the database that says otherwise than the record
}

func (s *server) recordExport(ctx context.Context, in *struct {
	User string `query:"user" doc:"With an admin's key: whose records to show, or all; your own when absent. Of the others there are commitments"`
},
) (*recordExportReply, error) {
	p := principal(ctx)
	user, err := whose(p, in.User)
	if err != nil {
		return nil, err
	}
	head, err := s.Store.LogHead(ctx, p.Workspace, p.Mode)
	if err != nil {
		return nil, err // as long as nothing is sent, a fault can be told
	}
	return &recordExportReply{ndjson, `attachment; filename="access-log.ndjson"`, func(out huma.Context) {
		if err := s.exportLog(out, p, user, head); err != nil {
			fault(ctx, err)
			panic(http.ErrAbortHandler) // half an export must not look like a whole one
		}
	}}, nil
}

func (s *server) exportLog(out huma.Context, p *hodl.Principal, user hodl.UserID, head *store.LogHead) error {
	err := writeLines(out, exportHead{exportFormat, p.Workspace, p.Mode, head.Origin, head.Size, head.Text()})
	const page = 256
	for from := int64(0); err == nil && from < head.Size; from += page {
		var rows []store.LogRow
		rows, err = s.Store.LogRows(out.Context(), p.Workspace, p.Mode, user, ledger.Span{From: from, To: min(from+page, head.Size)})
		if err != nil {
			break
		}
		err = writeLines(out, exportLines(rows)...)
	}
	if err != nil {
		return err
	}
	// What is there and should not be is shown to whoever verifies.
	strays, err := s.Store.StrayLogRows(out.Context(), p.Workspace, p.Mode, user)
	if err != nil {
		return err
	}
	return writeLines(out, exportLines(strays)...)
}

func exportLines(rows []store.LogRow) []any {
	lines := make([]any, len(rows))
	for i, r := range rows {
		line := exportLine{Seq: r.Seq, Commitment: r.Commitment, Salt: r.Salt, Misfiled: r.Misfiled}
		if r.Body != "" {
			line.Record = jsontext.Value(r.Body)
		}
		if r.Body != "" && !line.Record.IsValid() {
			line.Record = jsontext.Value(`"no JSON"`) // it was changed, and whoever verifies shall hear of it
		}
		lines[i] = line
	}
	return lines
}
