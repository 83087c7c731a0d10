package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hodl/client"
)

func audienceKeygenCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "keygen FILE", Short: "Make the key an audience proves possession of", Args: exactly("FILE"),
		Long: `Makes a private key in FILE, which stays with the agent and nobody else reads, and
prints the public half, which the audience is registered with. Tokens minted for
that audience then work in no other hands.`,
		Example: `  hodl audience keygen agent.key >agent.jwk
  hodl audience add agent.example.com --jwk agent.jwk
  hodl hydrate ses_8f3aZ91b --token "$TOKEN" --dpop-key agent.key`,
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := client.NewProofKey()
			if err != nil {
				return err
			}
			if err := keepProofKey(args[0], key); err != nil {
				return err
			}
			e.note("made %s; it must not leave the agent", args[0])
			return e.printJSON(key.Public())
		},
	}
}

func keepProofKey(file string, key *client.ProofKey) error {
	text, err := key.MarshalJWK()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return hint(errors.New(file+" is already there"), "choose another name: a key in use must not be lost")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

func readProofKey(file string) (*client.ProofKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, hint(errors.New(file+" is not a key in JSON"), "hodl audience keygen makes one")
	}
	key, err := client.ParseProofKey(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return key, nil
}
