module hodl/internal/ledger/interop

go 1.26.0

replace hodl => ../../..

require (
	github.com/transparency-dev/merkle v0.0.2
	hodl v0.0.0-00010101000000-000000000000
)

require golang.org/x/mod v0.42.0 // indirect
