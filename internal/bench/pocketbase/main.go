// Pocketbase is PocketBase with its own settings, for the bench to hold the server
// against. It serves a folder on a free port of this machine and prints where, and with
// -furnish, on an empty folder, a person's token as well. It is a module of its own, so
// that PocketBase stays out of the server's dependencies.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

func main() {
	data := flag.String("data", "", "the `folder` to serve")
	furnish := flag.Bool("furnish", false, "make what is served")
	flag.Parse()
	if err := serve(*data, *furnish); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase:", err)
		os.Exit(1)
	}
}

// said is printed as hodl serve --json prints it.
type said struct {
	URL  string `json:"url"`
	Keys []key  `json:"keys,omitempty"`
}

type key struct {
	Key string `json:"key"`
}

func serve(data string, furnish bool) error {
	app := pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: data, HideStartBanner: true})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	var answer said
	if furnish {
		token, err := furnished(app)
		if err != nil {
			return err
		}
		answer.Keys = []key{{token}}
	}
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		e.Listener, e.InstallerFunc = l, nil // nobody is there to install it
		answer.URL = "http://" + l.Addr().String()
		if err := e.Next(); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(answer)
	})
	return apis.Serve(app, apis.ServeConfig{})
}

// furnished makes two collections, for whoever has an account, and an account. It
// returns the token that its owner would sign in for.
func furnished(app core.App) (token string, err error) {
	if err := app.RunAllMigrations(); err != nil {
		return "", err
	}
	signedIn := types.Pointer(`@request.auth.id != ""`)
	for name, fields := range map[string][]core.Field{
		"hodls": {
			&core.TextField{Name: "url"}, &core.TextField{Name: "title"}, &core.TextField{Name: "note"},
			&core.JSONField{Name: "tags"},
		},
		"sessions": {&core.TextField{Name: "title"}, &core.JSONField{Name: "body"}},
	} {
		c := core.NewBaseCollection(name)
		c.Fields.Add(fields...)
		c.ViewRule, c.CreateRule = signedIn, signedIn
		if err := app.Save(c); err != nil {
			return "", err
		}
	}
	users, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return "", err
	}
	person := core.NewRecord(users)
	person.SetEmail("bench@example.org")
	person.SetRandomPassword()
	if err := app.Save(person); err != nil {
		return "", err
	}
	return person.NewAuthToken()
}
