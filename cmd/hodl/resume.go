package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
	"hodl/internal/checkout"
)

// resumeFlags is how a hodl is taken up again.
type resumeFlags struct {
	print  bool
	editor string
}

func resumeCommand(e *env) *cobra.Command {
	var flags resumeFlags
	c := &cobra.Command{
		Use: "resume [ID]", Short: "Open a hodl at its place", Args: atMost(1),
		Long: `Opens the page, or the file in the editor at the line where the work stood: the last
hodl, or the one named. In a checkout of the file's repository, the file opens there;
elsewhere the editor's hodl extension finds it.

Only pages (http, https) and editors are opened, whatever was captured.`,
		Example: `  hodl resume
  hodl resume hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC --editor cursor
  hodl resume --print`,
		ValidArgsFunction: e.completes(1, completeHodls),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(editors, flags.editor) {
				return hint(usagef("no editor called %q", flags.editor), "one of %s", strings.Join(editors, ", "))
			}
			return e.resume(c.Context(), args, flags)
		},
	}
	c.Flags().BoolVar(&flags.print, "print", false, "print the link and open nothing")
	c.Flags().StringVar(&flags.editor, "editor", editors[0], "editor that opens files: "+strings.Join(editors, ", "))
	completeFlag(c, "editor", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return editors, cobra.ShellCompDirectiveNoFileComp
	})
	return e.reaches(c)
}

func (e *env) resume(ctx context.Context, args []string, flags resumeFlags) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	link, id, err := e.destination(ctx, api, args, flags.editor)
	if err != nil {
		return err
	}
	opened := false
	if !flags.print {
		opened = e.open(ctx, link)
	}
	if e.json {
		return e.printJSON(map[string]any{"id": id, "deep_link": link, "opened": opened})
	}
	return e.printLine(link)
}

// destination returns the link to open: to the file itself in a checkout of its
// repository, else the server's. Where things lie on this machine stays here.
func (e *env) destination(ctx context.Context, api *client.Client, args []string, editor string) (string, hodl.HodlID, error) {
	h, err := wanted(ctx, api, args)
	if err != nil {
		return "", "", e.failed(err)
	}
	if file := here(h.Location); file != "" && slices.Contains(fileEditors, editor) {
		return fileLink(editor, file, h.Location), h.ID, nil
	}
	got, err := api.ResumeHodl(ctx, h.ID, client.Opening{Editor: editor})
	if err != nil {
		return "", h.ID, e.failed(err)
	}
	link, err := safeLink(got.DeepLink)
	return link, h.ID, err
}

func wanted(ctx context.Context, api *client.Client, args []string) (*hodl.Hodl, error) {
	if len(args) == 1 {
		return api.Hodl(ctx, hodl.HodlID(args[0]))
	}
	return api.LatestHodl(ctx)
}

// here returns where a place's file is on this machine, if we are in a checkout of
// its repository.
func here(l *hodl.Location) string {
	if l == nil || !filepath.IsLocal(filepath.FromSlash(l.File)) {
		return ""
	}
	c, err := checkout.Around(".")
	if err != nil || c == nil || !checkout.Same(c.Repository, l.Repository) {
		return ""
	}
	file := filepath.Join(c.Root, filepath.FromSlash(l.File))
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return file
}

func placeNumbers(l *hodl.Location) string {
	s := ""
	for _, n := range []int{l.Line, l.Column} {
		if n == 0 {
			break
		}
		s += ":" + strconv.Itoa(n)
	}
	return s
}
