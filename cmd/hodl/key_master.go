package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"hodl/internal/serve"
)

func keyMasterCommand(e *env) *cobra.Command {
	var add bool
	c := &cobra.Command{
		Use: "master FILE", Short: "Make a master key file, for --master-key-file", Args: exactly("FILE"),
		Long: `Makes the key that all session content of a database is sealed under. Every
server of one PostgreSQL database needs the same file; beside SQLite one is made by
itself. Whoever has it and the database reads everything, and without it nobody can.

With --add it puts a new key above those in a file: the new one seals, the others
still open. Copy the file to every server, then run hodl seal rotate --master.`,
		Example: `  hodl key master /etc/hodl/master.key
  hodl key master --add /etc/hodl/master.key`,
		RunE: func(_ *cobra.Command, args []string) error {
			if add {
				return e.addMaster(args[0])
			}
			return e.makeMaster(args[0])
		},
	}
	c.Flags().BoolVar(&add, "add", false, "put a new key above those in FILE")
	return c
}

func (e *env) makeMaster(file string) error {
	err := serve.CreateMasterKey(file)
	if errors.Is(err, fs.ErrExist) {
		return hint(errors.New(file+" is already there"), "choose another name, or add a key to it with --add: a master key in use must not be lost")
	}
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]string{"master_key_file": file})
	}
	return e.printLine("made " + file + "; keep a copy apart from the database's backups")
}

func (e *env) addMaster(file string) error {
	ids, err := serve.AddMasterKey(file)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"master_key_file": file, "master_keys": ids})
	}
	e.note("copy the file to every server, and a copy apart from the backups; then run hodl seal rotate --master")
	return e.printLine("added " + ids[0] + " to " + file)
}
