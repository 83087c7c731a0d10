package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hodl"
	"hodl/internal/mcpserver"
	"hodl/internal/seal"
	"hodl/internal/store"
)

// Config is everything an operator can set. The zero value serves on embedded
// SQLite in ./data.
type Config struct {
	// Listen is the address to serve on; "127.0.0.1:8484" when empty. Port 0 takes a
	// free one. Anything but a loopback address is open to the network: put TLS in
	// front.
	Listen string
	// PublicURL is how clients reach the server, such as https://hodl.example.com;
	// "http://" and the listening address when empty. It is fixed at first start: the
	// tokens already minted name it.
	PublicURL string
	// Data is the folder of the SQLite database and its master key; "./data" when
	// empty. Whoever reads it reads everything.
	Data string
	// Database is the PostgreSQL URL of the role the server works as. Empty for SQLite.
	Database string
	// DatabaseAdmin is the PostgreSQL URL of the role that owns the tables and runs
	// migrations; Database when empty.
	DatabaseAdmin string
	// MasterKeyFile holds the key that wraps the data keys; made beside SQLite when
	// empty, required with Database. Lose it and every session is lost.
	MasterKeyFile string
	// Demo seeds a public sandbox key and session in a workspace of their own.
	Demo bool
	// TrustedProxies are the addresses, or CIDR ranges, of proxies whose
	// X-Forwarded-For is believed; none when empty. A range too wide lets its
	// strangers choose the address they seem to come from.
	TrustedProxies []string
	// KeyRotation is how long a signing key signs; 30 days when zero, 2 hours at least.
	KeyRotation time.Duration
	// MaxBatch is how many writes one transaction takes; 512 when zero. 1 turns
	// batching off, which only benchmarks want.
	MaxBatch int
	// CacheBytes bounds the renderings kept in memory; 64 MiB when zero. Negative keeps
	// none, which only benchmarks want.
	CacheBytes int
	// Fixtures are what the MCP conformance suite asks for; nil but in its tests.
	Fixtures *mcpserver.Fixtures
	// Release is the version of the program, shown by /healthz.
	Release string
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// Log takes the request lines and everything else; discarded when nil.
	Log *slog.Logger
}

// Effective returns c as a server takes it, or what is wrong with it.
func (c Config) Effective() (Config, error) {
	c = c.withDefaults()
	err := c.check()
	if c.Database == "" {
		c.MasterKeyFile = c.masterFile()
	}
	if c.PublicURL == "" {
		c.PublicURL = "http://" + c.Listen
	}
	return c, err
}

func (c Config) withDefaults() Config {
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:8484")
	c.Data = cmp.Or(c.Data, "./data")
	c.KeyRotation = cmp.Or(c.KeyRotation, 30*24*time.Hour)
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) check() error {
	if c.Database != "" && c.MasterKeyFile == "" {
		return errors.New("--database needs --master-key-file: a file that every server of this database shares, made once with: hodl key master FILE")
	}
	if c.KeyRotation < 2*time.Hour {
		return errors.New("--key-rotation is at least 2h: a new key is published an hour before it signs")
	}
	if _, err := c.proxies(); err != nil {
		return err
	}
	if c.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("--public-url is %q; it must be an address such as https://hodl.example.com", c.PublicURL)
	}
	return nil
}

func (c Config) proxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range c.TrustedProxies {
		p, err := hodl.ParseAddresses(s)
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxy is %q; give an address or a range such as 10.0.0.0/8", s)
		}
		out = append(out, p)
	}
	return out, nil
}

// OpenStore opens the database of c, for the server and for the commands that work
// without one.
func OpenStore(ctx context.Context, c Config) (*store.Store, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Database == "" {
		if err := os.MkdirAll(c.Data, 0o700); err != nil {
			return nil, fmt.Errorf("make the data folder: %w", err)
		}
	}
	master, err := c.master()
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, c.options(master))
}

func (c Config) options(master *seal.Master) store.Options {
	return store.Options{
		Dir: c.Data, Database: c.Database, Admin: c.DatabaseAdmin, Master: master, Now: c.Now, Log: c.Log, MaxBatch: c.MaxBatch,
	}
}

// Absent is that of the store.
func (c Config) Absent() bool { return c.options(nil).Absent() }

// master loads the master key. Beside SQLite it is made at first start, but never
// for a database that is already there: its data would be sealed under another.
func (c Config) master() (*seal.Master, error) {
	file := c.masterFile()
	m, err := seal.LoadMaster(file)
	if !errors.Is(err, os.ErrNotExist) || c.Database != "" || c.MasterKeyFile != "" {
		return m, err
	}
	if !c.Absent() {
		return nil, fmt.Errorf("%s is gone, and without it the sessions in %s cannot be read: put it back from a backup", file, c.Data)
	}
	m, err = seal.CreateMaster(file)
	if errors.Is(err, os.ErrExist) {
		return seal.LoadMaster(file) // another process was first
	}
	return m, err
}

// existingMaster loads the master key and makes none.
func (c Config) existingMaster() (*seal.Master, error) { return seal.LoadMaster(c.masterFile()) }

func (c Config) masterFile() string {
	if c.MasterKeyFile != "" {
		return c.MasterKeyFile
	}
	return filepath.Join(c.Data, "master.key")
}

// resource is this server's MCP address, as an audience.
func resource(publicURL string) string { return publicURL + "/mcp" }

// A Credential is a key as it is shown, once.
type Credential struct {
	Workspace *hodl.Workspace
	Key       string
	Stored    hodl.APIKey
}
