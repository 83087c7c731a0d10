// Package docs holds the pages that the program shows without a network.
package docs

import _ "embed"

// Errors says of each code what happened and what to do: a Markdown heading a code.
//
//go:embed errors.md
var Errors string
