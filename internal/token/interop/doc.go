// Package interop holds tests alone: what this server mints, verified by other
// people's libraries. It is a module of its own, so that those stay out of the
// server's dependencies.
package interop
