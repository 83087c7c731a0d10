package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hodl"
	"hodl/internal/checkout"
)

// locate turns path:line:column, and what is selected there, into a place that is
// found again on another machine. It is nil without a path.
func locate(place, selected string) (*hodl.Location, error) {
	if place == "" {
		if selected != "" {
			return nil, usagef("--select without a file")
		}
		return nil, nil
	}
	file, numbers, err := existing(place)
	if errors.Is(err, os.ErrNotExist) {
		err = nil // it may lie on another machine
	}
	if err != nil {
		return nil, err
	}
	out, err := inCheckout(file)
	if err != nil {
		return nil, err
	}
	out.Line, out.Column = numbers[0], numbers[1]
	if selected != "" {
		return withSelection(out, file, selected)
	}
	return out, nil
}

// existing splits a place into a file and its numbers, line and column, 0 for none.
// A file that is there wins over what its name may look like.
func existing(place string) (file string, numbers [2]int, err error) {
	if info, err := os.Stat(place); err == nil && !info.IsDir() {
		return place, numbers, nil
	}
	file, numbers, err = parsePlace(place)
	if err != nil {
		return file, numbers, err
	}
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		err = hint(usagef("%s is a folder", file), "name a file in it")
	}
	return file, numbers, err
}

// parsePlace reads path:line:column, as compilers print it. Numbers are taken from
// the end, so that a path may hold a colon.
func parsePlace(s string) (file string, numbers [2]int, err error) {
	var found []int
	for file = s; len(found) < 2; {
		i := strings.LastIndexByte(file, ':')
		n, err := strconv.Atoi(file[i+1:])
		if i < 0 || err != nil {
			break
		}
		if n < 1 {
			return s, numbers, hint(usagef("not a place in a file: %s", s), "lines and columns count from 1: main.go:12:3")
		}
		file, found = file[:i], append([]int{n}, found...)
	}
	if file == "" {
		return s, numbers, hint(usagef("not a place in a file: %s", s), "write it as main.go:12:3")
	}
	copy(numbers[:], found)
	return file, numbers, nil
}

// inCheckout returns where file is in its repository. Outside of one, and for a file
// that is not there, it is what was written, or the name alone when that would lead
// out of this folder.
func inCheckout(file string) (*hodl.Location, error) {
	c, err := checkout.Around(filepath.Dir(file))
	if err == nil && c != nil {
		path, err := c.Path(file)
		return &hodl.Location{Repository: c.Repository, File: path, Branch: c.Branch, Commit: c.Commit}, err
	}
	path := filepath.Clean(file)
	if !filepath.IsLocal(path) {
		path = filepath.Base(path)
	}
	return &hodl.Location{File: filepath.ToSlash(path)}, nil
}

// withSelection reads the selected text. Without a line, the place is where the
// selection starts.
func withSelection(l *hodl.Location, file, selected string) (*hodl.Location, error) {
	s, err := parseSelection(selected)
	if err != nil {
		return nil, err
	}
	if s, err = checkout.Select(file, s); err != nil {
		return nil, hint(err, "--select counts lines from 1, and columns in UTF-16 units")
	}
	if len(s.Text) > hodl.MaxSelection {
		return nil, usagef("the selection is %d bytes; at most %d are allowed", len(s.Text), hodl.MaxSelection)
	}
	l.Selection = &s
	if l.Line == 0 {
		l.Line, l.Column = s.StartLine, s.StartColumn
	}
	return l, nil
}

// parseSelection reads 10:1-12:5, or 10-12 for whole lines.
func parseSelection(text string) (hodl.Selection, error) {
	wrong := hint(usagef("not a selection: %s", text), "write it as 10:1-12:5, or 10-12 for whole lines")
	start, end, found := strings.Cut(text, "-")
	var numbers [4]int
	for i, part := range []string{start, end} {
		line, column, hasColumn := strings.Cut(part, ":")
		n, err := strconv.Atoi(line)
		if !found || err != nil || n < 1 {
			return hodl.Selection{}, wrong
		}
		numbers[2*i], numbers[2*i+1] = n, 1-i
		if !hasColumn {
			continue
		}
		if numbers[2*i+1], err = strconv.Atoi(column); err != nil || numbers[2*i+1] < 1 {
			return hodl.Selection{}, wrong
		}
	}
	return hodl.Selection{StartLine: numbers[0], StartColumn: numbers[1], EndLine: numbers[2], EndColumn: numbers[3]}, nil
}
