package audit

import (
	"context"
	"io"

	"hodl"
	"hodl/client"
	"hodl/internal/ledger"
)

// Served verifies the log of a key's workspace as the server shows it: the records,
// the tiles over them and every head in the server's own log. An admin's key has
// everybody's records checked. Without verifiers the server is believed which keys
// are its own.
func Served(ctx context.Context, api *client.Client, verifiers ...ledger.Verifier) (*Report, error) {
	me, err := api.Me(ctx)
	if err != nil {
		return nil, err
	}
	log := api.WorkspaceLog(me.Workspace, me.Mode)
	if len(verifiers) == 0 {
		if verifiers, err = Verifiers(ctx, log); err != nil {
			return nil, err
		}
	}
	anchors, err := anchorsOf(ctx, log, api.ServerLog())
	if err != nil {
		return nil, err
	}
	user := ""
	if me.Role == hodl.Admin {
		user = "all"
	}
	read, write := io.Pipe()
	go func() { _ = write.CloseWithError(api.ExportRecords(ctx, user, write)) }()
	report, err := Export(read, Log{Tiles: Tiles(ctx, log), Anchors: anchors}, verifiers...)
	_ = read.Close() // the export ends when nobody reads it
	return report, err
}

// Tiles reads a log's tiles over HTTP.
func Tiles(ctx context.Context, l *client.Log) ledger.Tiles {
	return func(list []ledger.Tile) ([][]byte, error) {
		out := make([][]byte, len(list))
		for i, t := range list {
			var err error
			if out[i], err = l.Tile(ctx, t.Path()); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// Verifiers are the keys of a log, as its server tells them.
func Verifiers(ctx context.Context, l *client.Log) ([]ledger.Verifier, error) {
	k, err := l.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var out []ledger.Verifier
	for _, one := range k.Keys {
		v, err := ledger.ParseVerifier(one.Verifier)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// anchorsOf reads what the server says of a log's entries in its own. It comes before
// the records: they may only be more by then.
func anchorsOf(ctx context.Context, log, server *client.Log) (*Anchors, error) {
	out := &Anchors{Listed: map[int64]Anchored{}, Tiles: Tiles(ctx, server)}
	text, err := server.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	verifiers, err := Verifiers(ctx, server)
	if err != nil {
		return nil, err
	}
	if out.Head, err = ledger.OpenCheckpoint(text, verifiers...); err != nil {
		return nil, fault(-1, "", "the server's log: %v", err)
	}
	for from := int64(0); ; {
		page, err := log.Anchors(ctx, from)
		if err != nil {
			return nil, err
		}
		out.Key = page.Key
		for _, a := range page.Anchors {
			if a.Place < out.Head.Size && len(a.Root) == len(ledger.Hash{}) {
				out.Listed[a.Place] = Anchored{Size: a.Size, Root: ledger.Hash(a.Root)}
			}
		}
		if page.Next == nil {
			return out, nil
		}
		from = *page.Next
	}
}
