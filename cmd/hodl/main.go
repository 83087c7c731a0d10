// Command hodl serves the hodl API and speaks to it: `hodl help` lists its
// commands.
package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	e := &env{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		lookup: os.LookupEnv, now: time.Now,
	}
	root := commands(e)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err != nil && !e.started {
		err = usage(err)
	}
	e.report(err)
	return exitCode(err)
}

// commands is every command there is. Each has a file of its own.
func commands(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "hodl",
		Short: "Hand your working session to an agent, and get it back",
		Long: `hodl keeps what you were working on (pages, places in files, notes, a reasoning
thread) and hands it to an AI agent with a resume token: short-lived, scoped,
recorded.`,
		Example: `  hodl serve                                    serve on SQLite in ./data
  hodl hold main.go:42 --note 'off by one?'     capture a place in a file
  hodl session push session.json                capture a session
  hodl token mint --session ses_8f3aZ91b --audience claude.anthropic.com --scope read:context`,
		SilenceErrors: true, SilenceUsage: true, // report does both
		PersistentPreRunE: e.start,
		Args:              cobra.ArbitraryArgs,
		RunE:              helpOrLost,
	}
	root.PersistentFlags().BoolVar(&e.json, "json", false, "print one JSON value")
	root.AddCommand(
		serveCommand(e),
		group("key", "Make, list, rotate and revoke API keys",
			keyCreateCommand(e), keyListCommand(e), keyRotateCommand(e), keyRevokeCommand(e), keyMasterCommand(e)),
		holdCommand(e),
		listCommand(e),
		searchCommand(e),
		showCommand(e),
		resumeCommand(e),
		editCommand(e),
		deleteCommand(e),
		tagsCommand(e),
		checkCommand(e),
		importCommand(e),
		exportCommand(e),
		group("queue", "Show and send what was held while no server answered",
			queueListCommand(e), queueSendCommand(e), queueDropCommand(e)),
		group("session", "Capture, show and hand off sessions",
			append(sessionMoveCommands(e), sessionPushCommand(e), sessionShowCommand(e), sessionListCommand(e), sessionForkCommand(e), sessionDiffCommand(e),
				sessionResumeCommand(e), sessionHandOffCommand(e), sessionDeleteCommand(e))...),
		group("token", "Mint, list, revoke and inspect resume tokens",
			tokenMintCommand(e), tokenListCommand(e), tokenRevokeCommand(e), tokenExchangeCommand(e), tokenInspectCommand(e), tokenIntrospectCommand(e)),
		hydrateCommand(e),
		mcpCommand(e),
		group("audience", "Register, list, change and delete audiences; make their keys",
			audienceAddCommand(e), audienceListCommand(e), audienceShowCommand(e), audienceChangeCommand(e), audienceDeleteCommand(e),
			audienceKeygenCommand(e)),
		group("policy", "Make, use, test and preview redaction policies",
			policyListCommand(e), policyShowCommand(e), policySetCommand(e), policyUseCommand(e), policyRollbackCommand(e), policyDeleteCommand(e),
			policyDiffCommand(e), policyTestCommand(e), policyPreviewCommand(e)),
		usageCommand(e),
		meCommand(e),
		group("member", "Invite, list and remove the members of a workspace",
			memberAddCommand(e), memberJoinCommand(e), memberListCommand(e), memberRoleCommand(e), memberRemoveCommand(e)),
		group("user", "Erase a person", userEraseCommand(e)),
		group("workspace", "Make, list, show and change workspaces",
			workspaceCreateCommand(e), workspaceListCommand(e), workspaceShowCommand(e), workspaceSetCommand(e)),
		group("audit", "Verify, export and watch the access log",
			auditKeysCommand(e), auditVerifyCommand(e), auditExportCommand(e), auditWatchCommand(e)),
		witnessCommand(e),
		completionCommand(e),
		doctorCommand(e),
		group("seal", "Replace the keys that everything is sealed under", sealRotateCommand(e)),
		backupCommand(e),
		restoreCommand(e),
		configCommand(e),
		redactCommand(e),
		versionCommand(e),
		exitCodesTopic(), environmentTopic(), errorsTopic(),
	)
	root.SetFlagErrorFunc(misgiven)
	root.CompletionOptions.DisableDefaultCmd = true // ours has examples
	mirror(root)
	sortInto(root)
	return root
}
