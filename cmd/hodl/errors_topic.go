package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hodl/docs"
)

func errorsTopic() *cobra.Command {
	return &cobra.Command{Use: "errors", Short: "What the codes of refusals mean", Long: strings.TrimSpace(docs.Errors)}
}
