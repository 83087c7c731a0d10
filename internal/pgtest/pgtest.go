// Package pgtest gives a test a PostgreSQL database of its own.
//
// The server is the one that HODL_TEST_POSTGRES names, as the URL of a
// superuser; scripts/postgres starts such a server and make test uses it.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const variable = "HODL_TEST_POSTGRES"

// timeout bounds making and removing one database. A server shared by many
// tests may need seconds for what takes it 50 ms alone.
const timeout = time.Minute

// Available reports whether there is a server to test with. Only what adds a
// second engine to a run asks; a test that needs PostgreSQL calls [Open].
func Available() bool { return os.Getenv(variable) != "" }

// Open makes an empty database for t and returns two URLs for it, as an
// operator is told to set it up: adminURL is the role that owns the database
// and runs migrations, appURL the role the server works as, which may connect
// and owns nothing. Neither is a superuser and neither bypasses row-level
// security. When t ends, the database and both roles are dropped and whoever is
// still connected is cut off.
//
// Without a server Open fails the test rather than skip it: a run that left out
// an engine must not be green.
func Open(t testing.TB) (adminURL, appURL string) {
	t.Helper()
	if !Available() {
		t.Fatal(variable + " is empty: run `make test`, or `scripts/postgres go test ./...`")
	}
	d, err := Create()
	t.Cleanup(func() {
		if err := d.Drop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return d.AdminURL, d.AppURL
}

// Superuser returns the URL of the database that address names for the server's
// superuser, whom row-level security does not bind.
func Superuser(address string) (string, error) {
	database, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(os.Getenv(variable))
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", variable, err)
	}
	u.Path = database.Path
	return u.String(), nil
}

// A Database is what [Open] gives a test, for a program that is none.
type Database struct {
	AdminURL, AppURL string

	name       string
	owner, app role
}

// Create makes an empty database and its two roles. Drop it, even after an error.
func Create() (*Database, error) {
	name := "hodl_test_" + strings.ToLower(rand.Text())[:12]
	d := &Database{name: name, owner: newRole(name + "_owner"), app: newRole(name + "_app")}
	err := execute(
		d.owner.create(),
		d.app.create(),
		"create database "+name+" owner "+d.owner.name+" template template0",
	)
	if err != nil {
		return d, err
	}
	if d.AdminURL, err = d.owner.url(name); err == nil {
		d.AppURL, err = d.app.url(name)
	}
	return d, err
}

// Drop removes the database and its roles and cuts off whoever is connected.
func (d *Database) Drop() error {
	return execute(
		"drop database if exists "+d.name+" with (force)",
		"drop role if exists "+d.app.name,
		"drop role if exists "+d.owner.name,
	)
}

// A role is a plain login. Its name and password are letters and digits, so
// they need no quoting in SQL and no escaping in a URL.
type role struct{ name, password string }

func newRole(name string) role { return role{name, rand.Text()} }

func (r role) create() string {
	return "create role " + r.name + " login nosuperuser nobypassrls password '" + r.password + "'"
}

func (r role) url(database string) (string, error) {
	u, err := url.Parse(os.Getenv(variable))
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", variable, err)
	}
	u.User = url.UserPassword(r.name, r.password)
	u.Path = "/" + database
	return u.String(), nil
}

// execute runs statements one by one, for a database cannot be made or dropped
// inside a transaction. A statement that fails does not keep the next from
// running, so that cleaning up goes as far as it can.
func execute(statements ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, os.Getenv(variable))
	if err != nil {
		return fmt.Errorf("connect to %s: %w", variable, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var failed []error
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
