//go:build gore2regex

package interop_test

const engine = "gitleaks with RE2"
