package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	driverlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"hodl"
)

// Errors are told apart by code, never by text.

// duplicate reports whether a unique key was already taken.
func duplicate(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505"
	}
	lite, ok := errors.AsType[*driverlite.Error](err)
	return ok && (lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// passing reports whether the same write may go through when tried again: another
// server took the key first, or the database broke a deadlock.
func passing(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "23505" || pg.Code == "40001" || pg.Code == "40P01")
}

// lost turns a database that cannot serve now into [hodl.Unavailable]. What it
// refused, and what our own code decided, stays as it is.
func lost(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) || errors.Is(err, context.Canceled) {
		return err
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		// 57P: the server is stopping or starting; 08 and 53: connections and
		// resources; 25006: it has become a standby; 40: it gave up for another's sake.
		for _, class := range []string{"57P", "08", "53", "25006", "40"} {
			if strings.HasPrefix(pg.Code, class) {
				return unavailable(err, "the database is not ready")
			}
		}
		return err
	}
	if lite, ok := errors.AsType[*driverlite.Error](err); ok {
		switch lite.Code() & 0xff { // the primary code
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
			return unavailable(err, "the database cannot be written now")
		}
		return err
	}
	if broken(err) {
		return unavailable(err, "the database cannot be reached")
	}
	return err
}

// dropped reports whether a connection that had been open was found dead. A
// connection that could not be made, or that fell silent, is none of those.
func dropped(err error) bool {
	if _, unreachable := errors.AsType[*pgconn.ConnectError](err); unreachable {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "57P01" // it said so before it went
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return false
	}
	return broken(err)
}

func broken(err error) bool {
	if _, ok := errors.AsType[*hodl.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, cause := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return pgconn.SafeToRetry(err)
}
