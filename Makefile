# What people and continuous integration run. `make help` lists the targets.

GO        ?= go
# Tests have a server that gives up durability for speed, measurements have one
# that does not.
TESTDB    := scripts/postgres --fast
BENCHDB   := scripts/postgres
# Narrow a run: make test PACKAGES=./internal/store/... TESTFLAGS='-run Quota'
# The packages that take longest begin first, so that none is left over at the end.
PACKAGES  ?= ./internal/crashtest ./internal/store ./internal/httpapi ./...
TESTFLAGS ?=
# A package waits for a disk or a database much of its time, so more are tested at
# once than there are processors.
ATONCE    := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
BENCH     ?= .
BENCHFLAGS ?=
MCPFLAGS  ?=
ROWS      ?= 1000000
FUZZTIME  ?= 30s
# How many calls make fuzz-api makes.
CALLS     ?= 100000
# Of its rounds; another one makes other calls.
SEED      ?= 1
# The binary carries no symbol table and no debug information, about a third of
# its size; stack traces name functions and lines all the same.
LDFLAGS   ?= -s -w
# Tools are pinned in a module of their own: as tool lines of go.mod they would
# bring hundreds of modules into everybody's build list. The path is absolute,
# because it is also used from the folders of nested modules.
TOOL      := $(GO) tool -modfile=$(CURDIR)/tools/go.mod
GOTEST    := $(TOOL) gotestsum --format standard-quiet --
# Tests whose dependencies nobody else should inherit are modules of their own.
NESTED    := $(patsubst %/go.mod,%,$(wildcard internal/*/interop/go.mod))

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run build test check bench bench-growth redaction-score microbench race crash fuzz fuzz-api sdk-interop mcp-conformance mcpb postgres golden tidy clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build and serve on embedded SQLite in ./data
	bin/hodl serve --data ./data

build: ## Build bin/hodl, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='$(LDFLAGS)' -o bin/hodl ./cmd/hodl

# The lines that hodl serve prints are tested as a reader would run them, with curl;
# what hodl finds out of a checkout, on checkouts that git makes.
TOOLS := command -v curl >/dev/null && command -v git >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends curl git; }

test: ## Run every test on both engines, and 10,000 calls of fuzz-api; installs what is missing
	@$(TOOLS)
	$(TESTDB) $(GOTEST) -p $(ATONCE) $(TESTFLAGS) $(PACKAGES)
	@for module in $(NESTED); do (cd $$module && set -x && $(CURDIR)/$(TESTDB) $(GOTEST) ./...); done
	@$(MAKE) --no-print-directory fuzz-api CALLS=10000

check: ## Check format, vet and lint
	@unformatted=$$(gofmt -l .); \
	test -z "$$unformatted" || { printf 'gofmt these:\n%s\n' "$$unformatted" >&2; exit 1; }
	$(GO) vet ./...
	$(TOOL) golangci-lint run

bench: ## Measure the goals of docs/performance.md on both engines; BENCHFLAGS='-only hydrate -rounds 3'
	$(BENCHDB) $(GO) run ./internal/bench $(BENCHFLAGS)

bench-growth: ## Measure how costs grow up to ROWS (1000000) hodls and records; BENCHFLAGS='-only SQLite'
	$(BENCHDB) $(GO) run ./internal/bench -grow $(ROWS) $(BENCHFLAGS)

SCOREFLAGS ?=
redaction-score: ## Score the redaction engine on labelled texts; SCOREFLAGS='-misses 20 -wrong 20 -types'
	$(GO) run ./internal/redact/score $(SCOREFLAGS)

# One package at a time, so that none measures its neighbour.
microbench: ## Run the Go benchmarks of each package; BENCH picks some by pattern
	$(BENCHDB) $(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem $(TESTFLAGS) $(PACKAGES)

race: ## Run every test under the race detector; needs a C compiler
	CGO_ENABLED=1 $(TESTDB) $(GOTEST) -race -timeout 30m $(TESTFLAGS) $(PACKAGES)

REPEATS   ?= 100000
crash: ## Kill servers and databases under load, for long: REPEATS (100000) idempotent writes on each engine
	HODL_REPEATS=$(REPEATS) $(TESTDB) $(GO) test -timeout 60m -v $(TESTFLAGS) ./internal/crashtest

# go test fuzzes one target of one package at a time, and by itself spends most of
# the time on making smaller what it found interesting. A target is pure: it gets
# no database.
fuzz: ## Fuzz each target for FUZZTIME (30s)
	@{ grep -rEo --include='*_test.go' '^func Fuzz\w+' . || echo 'no fuzz targets' >&2; } | sort | \
	while IFS=: read -r file target; do \
		target=$${target#func }; \
		echo "$${file%/*} $$target"; \
		(cd "$${file%/*}" && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x . </dev/null); \
	done

fuzz-api: build ## Hold the API against its document with CALLS (100000) generated calls
	scripts/fuzzapi bin/hodl $(CALLS) $(SEED)

# It installs Node, the suite, the Inspector and the clients into .cache/mcp by itself,
# with npm and pip.
mcp-conformance: ## Hold the MCP door against the official suite, the Inspector and four clients
	$(GO) run ./internal/mcpserver/interop $(MCPFLAGS)

mcpb: build ## Pack bin/hodl.mcpb, which desktop agents install with a click
	$(GO) run ./internal/mcpserver/bundle

sdk-interop: build ## Build the vendors' requests with their SDKs, from PyPI and npm, and run the published client
	scripts/sdk-interop bin/hodl

postgres: ## Serve a private PostgreSQL in the foreground, for development
	scripts/postgres

# Only a package with golden files knows the flag.
golden: ## Rewrite the golden files; review the difference like code
	$(GO) test -run Golden $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r dirname | sort -u) -update

tidy: ## Tidy every module
	$(GO) mod tidy
	@for module in tools internal/bench/pocketbase $(NESTED); do (cd $$module && set -x && $(GO) mod tidy); done

clean: ## Remove what was built and downloaded; keeps ./data
	rm -rf bin .cache
