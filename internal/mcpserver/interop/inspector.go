package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// inspector has the Inspector look at both doors, with strict schemas: no error and
// no warning. It tells by its exit code that a credential is missing.
func inspector() []step {
	var all []step
	for _, era := range []string{"modern", "legacy"} {
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			all = append(all, step{"inspector " + era + " " + method, func(ctx context.Context, b *bench) error {
				args := []string{
					"--server-url", b.product.url + "/mcp", "--transport", "http", "--protocol-era", era,
					"--header", "Authorization: Bearer " + b.product.key, "--stored-auth-only", "--method", method,
				}
				if method == "tools/list" {
					args = append(args, "--strict")
				}
				return b.inspect(ctx, 0, args...)
			}})
		}
	}
	const needsSignIn, toolFailed = 3, 5
	return append(all,
		step{"inspector stdio", func(ctx context.Context, b *bench) error {
			return b.inspect(ctx, 0, b.program, "mcp", "-e", "HODL_URL="+b.product.url, "-e", "HODL_API_KEY="+b.product.key, "--method", "tools/list", "--strict")
		}},
		step{"inspector without credentials", func(ctx context.Context, b *bench) error {
			return b.inspect(ctx, needsSignIn, "--server-url", b.product.url+"/mcp", "--transport", "http", "--method", "tools/list", "--stored-auth-only")
		}},
		step{"inspector, a tool that refuses", func(ctx context.Context, b *bench) error {
			return b.inspect(ctx, toolFailed, "--server-url", b.product.open, "--transport", "http", "--method", "tools/call", "--tool-name", "resume", "--tool-arg", "session_id=ses_none")
		}})
}

func (b *bench) inspect(ctx context.Context, want int, args ...string) error {
	c := b.tool(ctx, ".bin/mcp-inspector", append(append([]string{"--cli"}, args...), "-q", "--format", "json")...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code, err = exit.ExitCode(), nil
	}
	switch {
	case err != nil:
		return err
	case code != want, want == 0 && said.Len() > 0:
		return fmt.Errorf("exit code %d, want %d\n%s\n%s", code, want, lines(said.Bytes(), 20), lines(out.Bytes(), 20))
	}
	return nil
}
