// Package interop holds tests alone: the engine beside gitleaks as a library, on the
// same texts in the same run. It is a module of its own, so that gitleaks stays
// out of the server's dependencies.
package interop
