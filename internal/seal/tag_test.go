package seal_test

import (
	"os"
	"path/filepath"
	"testing"

	"hodl/internal/seal"
)

// A tag is good for its purpose and message, under the key it was made with, as long
// as the file holds that one.
func TestTag(t *testing.T) {
	dir := t.TempDir()
	old, err := seal.CreateMaster(filepath.Join(dir, "old"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := seal.CreateMaster(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	var both []byte
	for _, name := range []string{"other", "old"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, text...)
	}
	if err := os.WriteFile(filepath.Join(dir, "both"), both, 0o600); err != nil {
		t.Fatal(err)
	}
	rotated, err := seal.LoadMaster(filepath.Join(dir, "both"))
	if err != nil {
		t.Fatal(err)
	}
	tag := old.Tag("nonce", []byte("message"))
	for _, c := range []struct {
		name    string
		by      *seal.Master
		purpose seal.Purpose
		message string
		tag     []byte
		want    bool
	}{
		{"its own", old, "nonce", "message", tag, true},
		{"half of it", old, "nonce", "message", tag[:16], true},
		{"too little of it", old, "nonce", "message", tag[:15], false},
		{"nothing", old, "nonce", "message", nil, false},
		{"too much", old, "nonce", "message", append(append([]byte{}, tag...), 0), false},
		{"changed", old, "nonce", "message", append([]byte{tag[0] ^ 1}, tag[1:]...), false},
		{"another message", old, "nonce", "massage", tag, false},
		{"another purpose", old, "once", "message", tag, false},
		{"another key", other, "nonce", "message", tag, false},
		{"a file that holds it below", rotated, "nonce", "message", tag, true},
		{"what that file makes, before", old, "nonce", "message", rotated.Tag("nonce", []byte("message")), false},
	} {
		if got := c.by.Tagged(c.purpose, []byte(c.message), c.tag); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
