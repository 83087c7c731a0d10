package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Tell which hodl this is", Args: exactly(),
		Example: `  hodl version
  hodl version --json`,
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if e.json {
				return e.printJSON(map[string]string{"version": release(), "go": runtime.Version(), "platform": platform})
			}
			return e.printLine("hodl " + release() + " " + runtime.Version() + " " + platform)
		},
	}
}

// release is the version the build was stamped with.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
