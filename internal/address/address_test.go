package address_test

import (
	"testing"

	"hodl/internal/address"
)

func TestNormal(t *testing.T) {
	for want, all := range map[string][]string{
		"example.com/a/b": {
			"https://example.com/a/b", "http://example.com/a/b", "HTTPS://WWW.Example.COM:443/a/b/", "https://example.com/a/./c/../b#part",
			"https://me:pw@example.com/a/b?utm_source=x&gclid=y", "https://example.com//a//b", " https://example.com/a/b ", "https://example.com/a/b?",
			"https://example.com/a/b#:~:text=word",
		},
		"example.com":              {"https://example.com", "https://example.com/", "http://www.example.com:80/?fbclid=1"},
		"example.com/a?b=1&c=2":    {"https://example.com/a?c=2&b=1", "https://example.com/a/?b=1&utm_medium=m&c=2"},
		"example.com:8080/a":       {"http://example.com:8080/a"},
		"example.com/%C3%BC":       {"https://example.com/ü", "https://example.com/%c3%bc"},
		"example.com/a%2Fb":        {"https://example.com/a%2Fb"},
		"example.com#/inbox":       {"https://example.com/#/inbox", "https://example.com/#/inbox/"},
		"example.com#!x":           {"https://example.com#!x:~:text=y"},
		"[::1]:9/x":                {"http://[::1]:9/x"},
		"file:///home/a%20b#x":     {"file:///home/a%20b#x"},
		"chrome://settings/?a=b":   {"CHROME://Settings/?a=b"},
		"mailto:someone@a.example": {"mailto:someone@a.example"},
		"no address":               {"no address"},
		"http://[":                 {"http://["},
	} {
		for _, s := range all {
			if got := address.Normal(s); got != want {
				t.Errorf("%s: %s, want %s", s, got, want)
			}
		}
	}
}

// Nothing is lost but what is named: different pages stay apart.
func TestNormalKeepsApart(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{
		"https://example.com/a", "https://example.com/A", "https://example.com/a?b=1", "https://example.com/a?b=2", "https://example.com/a?b",
		"https://a.example.com/a", "https://example.com:81/a", "https://example.com/a#/x", "https://example.com/a#/y", "ftp://example.com/a",
	} {
		n := address.Normal(s)
		if seen[n] != "" {
			t.Errorf("%s and %s are both %s", seen[n], s, n)
		}
		seen[n] = s
	}
}

func FuzzNormal(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b=c#d", "HTTP://www.x:80/../%2f//", "a:b", "http://[::1]/%zz", "//x"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) { address.Normal(s) })
}
