// Package hodl names what the product is made of: hodls, sessions, resume
// tokens, resume contexts, access records, and the rules each of them keeps.
//
// It holds no way in and no way out: nothing here knows HTTP, SQL, a clock or
// a file. How a thing is stored, signed, rendered or served lives in one
// package each under internal/; ARCHITECTURE.md is the map. The words are
// defined in docs/glossary.md and the protocol in docs/spec.md.
package hodl
