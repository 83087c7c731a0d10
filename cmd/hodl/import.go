package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func importCommand(e *env) *cobra.Command {
	var form string
	var dry bool
	c := &cobra.Command{
		Use: "import FILE|-", Short: "Import hodls or bookmarks", Args: exactly("FILE"),
		Long: `Imports what hodl export wrote, or the bookmarks that a browser exports as HTML, up
to 64 MiB at a time. What is there already is skipped and never changed, so a file may
be imported again, as after it broke off. With --dry-run the file is read and nothing
is sent.`,
		Example: `  hodl import hodls.ndjson
  hodl import bookmarks.html --dry-run
  gunzip -c hodls.ndjson.gz | hodl import -`,
		RunE: func(c *cobra.Command, args []string) error {
			in, name, size, err := e.input(args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			return e.importFrom(c.Context(), in, name, size, form, dry)
		},
	}
	c.Flags().StringVar(&form, "format", "", "ndjson or netscape (bookmarks); told from the file without it")
	c.Flags().BoolVar(&dry, "dry-run", false, "read the file, tell what is wrong with it, send nothing")
	return e.reaches(c)
}

// input opens a file, or standard input for -. The size is 0 when it is not known.
func (e *env) input(name string) (io.ReadCloser, string, int64, error) {
	if name == "-" {
		if e.remote.key == "-" {
			return nil, "", 0, usagef("standard input cannot be the file and the key")
		}
		return io.NopCloser(e.in), "standard input", 0, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, "", 0, errors.Join(err, f.Close())
	}
	return f, name, info.Size(), nil
}

func (e *env) importFrom(ctx context.Context, in io.Reader, name string, size int64, form string, dry bool) error {
	file := bufio.NewReaderSize(in, 64<<10)
	media, err := formOf(file, form)
	if err != nil {
		return hint(fmt.Errorf("%s: %w", name, err), "give --format ndjson or --format netscape")
	}
	if dry {
		return e.rehearse(file, media)
	}
	api, err := e.client()
	if err != nil {
		return err
	}
	show, finish := e.progress()
	got, err := api.ImportHodls(ctx, &byteCounter{from: file, size: size, show: show}, media)
	finish()
	if err != nil {
		return e.failed(err)
	}
	return e.showImported(got)
}

type byteCounter struct {
	from  io.Reader
	bytes int64
	size  int64
	show  func(stage string, done, total int64)
}

func (b *byteCounter) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.bytes += int64(n)
	b.show("bytes sent", b.bytes, b.size)
	return n, err
}

// formOf tells what a file is by how it begins.
func formOf(file *bufio.Reader, named string) (string, error) {
	switch named {
	case "ndjson":
		return client.Export, nil
	case "netscape":
		return client.Bookmarks, nil
	case "":
	default:
		return "", usagef("--format is ndjson or netscape, not %q", named)
	}
	start, err := file.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	switch text := strings.TrimSpace(strings.TrimPrefix(string(start), "\ufeff")); {
	case text == "":
		return "", errors.New("there is nothing in it")
	case text[0] == '{':
		return client.Export, nil
	case text[0] == '<':
		return client.Bookmarks, nil
	}
	return "", errors.New("neither an export of hodls nor a file of bookmarks")
}

func (e *env) showImported(got *client.Imported) error {
	if !e.json {
		for _, x := range got.Errors {
			e.note("line %d: %s", x.Line, x.Message)
		}
	}
	err := e.show(nil, func() error {
		return e.printLine(fmt.Sprintf("imported %d, skipped %d that were there, failed %d", got.Imported, got.Skipped, got.Failed))
	})
	if err == nil && got.Failed > 0 {
		return &told{answer(hodl.Errorf(hodl.ValidationFailed, "some lines were not imported"))}
	}
	return err
}
