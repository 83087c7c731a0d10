// Package interop holds tests alone: other people's tools judge our log. It is a
// module of its own, so that those stay out of the server's dependencies.
package interop
