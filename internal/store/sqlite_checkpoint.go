package store

import (
	"context"
	"database/sql"

	driver "modernc.org/sqlite"
)

// A checkpoint copies the pages of SQLite's log into the database file. One of 4,000
// pages takes as long as twenty commits, so the writer leaves it to another
// connection, which copies while the writer goes on. The writer itself copies, between
// two batches, what came meanwhile: the log begins anew only when nothing in it is
// left to copy.
const (
	checkpointAt   = 4000  // pages in the log
	checkpointRest = 200   // pages the writer may copy
	checkpointPass = 4     // however fast the writer is
	checkpointLate = 16000 // pages at which SQLite would make it a part of a commit
)

// checkpointer is the writer's, but for its goroutine.
type checkpointer struct {
	conn    *sql.Conn     // the one that writes
	db      *sql.DB       // connects when there is something to copy
	copying bool          // from full to rest
	full    chan struct{} // closed at the end
	rest    chan struct{}
	ended   chan struct{}
}

func newCheckpointer(file string, conn *sql.Conn) (*checkpointer, error) {
	db, err := sql.Open("sqlite", sqliteURL(file, "synchronous(FULL)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c := &checkpointer{conn: conn, db: db, full: make(chan struct{}, 1), rest: make(chan struct{}, 1), ended: make(chan struct{})}
	go c.run()
	return c, nil
}

func (c *checkpointer) close() error {
	close(c.full)
	<-c.ended
	return c.db.Close()
}

func (c *checkpointer) run() {
	defer close(c.ended)
	for range c.full {
		before := 0
		for range checkpointPass {
			copied, err := checkpoint(c.db)
			if err != nil || copied-before < checkpointRest {
				break
			}
			before = copied
		}
		c.rest <- struct{}{}
	}
}

// between is called between two batches. A checkpoint that fails leaves the log as it
// is, for the next one.
func (c *checkpointer) between() {
	if c.copying {
		select {
		case <-c.rest:
			_, _ = checkpoint(c.conn)
			c.written(true)
			c.copying = false
		default:
		}
		return
	}
	if c.written(false) >= checkpointAt {
		c.copying = true
		c.full <- struct{}{}
	}
}

// written tells how many pages the writer has written since it was last asked to
// count anew.
func (c *checkpointer) written(anew bool) (pages int) {
	_ = c.conn.Raw(func(x any) (err error) {
		pages, _, err = x.(driver.DBStatus).Status(driver.DBStatusCacheWrite, anew)
		return err
	})
	return pages
}

// checkpoint copies what no reader still needs the file without, and waits for nobody.
// It tells how much of the log has been copied.
func checkpoint(q querier) (copied int, err error) {
	var busy, pages int
	err = q.QueryRowContext(context.Background(), `pragma wal_checkpoint(passive)`).Scan(&busy, &pages, &copied)
	return copied, err
}
