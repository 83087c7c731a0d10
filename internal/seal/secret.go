package seal

import (
	"fmt"
	"io"
	"log/slog"
)

// A secret, embedded, keeps a key from being printed or logged, whatever the
// verb and however deep it is looked into.
type secret struct{}

const hidden = "[key]"

func (secret) String() string { return hidden }

// Format prints the same for every verb: %d and %x would look past String.
func (secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

func (secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText keeps JSON and its like from looking inside.
func (secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
