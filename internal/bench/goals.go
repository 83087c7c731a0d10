package main

// goals are those of docs/performance.md that this program can judge, under their
// numbers there.
var goals = []goal{
	{number: 1, name: "SQLite: hydrate ÷ a transaction each, 32 callers, 100 workspaces", figure: ratio(hydrateName("SQLite", 32), naiveName("SQLite")), atLeast: 5},
	{number: 1, name: "SQLite: the same, one workspace", figure: ratio(hotName("SQLite"), naiveHotName("SQLite")), atLeast: 5},
	{number: 2, name: "SQLite: hydrations for one fdatasync, 32 callers, 100 workspaces", figure: ratio(hydrateName("SQLite", 32), fsyncRate), atLeast: 2.2},
	{number: 2, name: "SQLite: the same, one workspace", figure: ratio(hotName("SQLite"), fsyncRate), atLeast: 2.2},
	{number: 2, name: "SQLite: hydrations for one fdatasync, 256 callers, 100 workspaces", figure: ratio(hydrateName("SQLite", 256), fsyncRate), atLeast: 4},
	{number: 3, name: "PostgreSQL: hydrate ÷ a transaction each, 32 callers, 100 workspaces", figure: ratio(hydrateName("PostgreSQL", 32), naiveName("PostgreSQL")), atLeast: 6},
	{number: 3, name: "PostgreSQL: the same, one workspace", figure: ratio(hotName("PostgreSQL"), naiveHotName("PostgreSQL")), atLeast: 20},
	{number: 4, name: "PostgreSQL: hydrate ÷ pgbench insert, 32 callers", figure: ratio(hydrateName("PostgreSQL", 32), pgbenchInsert), atLeast: 1.3},
	{number: 5, name: "SQLite: capture ÷ a transaction each, 32 callers", figure: ratio(captureName("SQLite", 32), naiveCaptureName("SQLite")), atLeast: 5},
	{number: 5, name: "PostgreSQL: capture ÷ a transaction each, 32 callers", figure: ratio(captureName("PostgreSQL", 32), naiveCaptureName("PostgreSQL")), atLeast: 2.3},
	{number: 5, name: "SQLite over HTTP: capture ÷ no batches, 32 clients", figure: ratio(httpCaptureName("SQLite", 32), httpNaiveCaptureName("SQLite")), atLeast: 5},
	{number: 7, name: "SQLite over HTTP: hydrate ÷ no batches and no cache", figure: ratio(httpHydrateName("SQLite", 32), httpNaiveName("SQLite")), atLeast: 20},
	{number: 7, name: "PostgreSQL over HTTP: hydrate ÷ no batches and no cache", figure: ratio(httpHydrateName("PostgreSQL", 32), httpNaiveName("PostgreSQL")), atLeast: 20},
	{number: 8, name: "SQLite over HTTP: hydrate ÷ an unrecorded read of the same", figure: ratio(httpHydrateName("SQLite", 32), httpPlainName("SQLite")), atLeast: 0.6},
	{number: 8, name: "PostgreSQL over HTTP: hydrate ÷ an unrecorded read of the same", figure: ratio(httpHydrateName("PostgreSQL", 32), httpPlainName("PostgreSQL")), atLeast: 0.6},
	{number: 10, name: "SQLite over HTTP: p99 of hydrate, 32 clients, ms", figure: p99(httpHydrateName("SQLite", 32)), atMost: 15},
	{number: 10, name: "SQLite over HTTP: p99 of capture, 32 clients, ms", figure: p99(httpCaptureName("SQLite", 32)), atMost: 8},
	{number: 11, name: "SQLite over HTTP: p99 ÷ p50 of hydrate, 256 clients", figure: p99OverP50(httpHydrateName("SQLite", 256)), atMost: 3},
	{number: 11, name: "PostgreSQL over HTTP: p99 ÷ p50 of hydrate, 256 clients", figure: p99OverP50(httpHydrateName("PostgreSQL", 256)), atMost: 3},
	{number: 12, name: "cold start, ms", figure: value(coldStart), atMost: 30},
	{number: 12, name: "memory when idle, MB", figure: value(idleMemory), atMost: 25},
	{number: 13, name: "size of the binary, MB", figure: value(binarySize), atMost: 30},
	{number: 19, name: "MCP: CPU of a call ÷ the SDK's hello", figure: ratio(mcpCall, mcpHello), atMost: 1.15},
	{number: 20, name: "MCP: CPU of a resume of 32 KB, µs", figure: value(mcpResume), atMost: 500},
	{number: 16, name: "verify a token ÷ a bare Ed25519 check", figure: ratio(ourVerify, bareVerify), atLeast: 0.90},
	{number: 17, name: "mint a token ÷ a bare Ed25519 signature", figure: ratio(ourSign, bareSign), atLeast: 0.93},
	{number: 21, name: "redact 8 KB with 5 values ÷ the bare pass", figure: slower("8 KB with 5 values"), atMost: 3.5},
	{number: 21, name: "redact 64 KB with 27 values ÷ the bare pass", figure: slower("64 KB with 27 values"), atMost: 3.5},
	{number: 22, name: "redact 1 MB of keywords ÷ the bare pass", figure: slower("1 MB of keywords"), atMost: 20},
	{number: 22, name: "redact one line of 1 MB ÷ the bare pass", figure: slower("one line of 1 MB"), atMost: 20},
	{number: 22, name: "redact 1 MB of nested encodings ÷ the bare pass", figure: slower("1 MB of nested encodings"), atMost: 20},
}

// slower is how many bare passes over a text redacting it takes, by the medians of
// single runs: others on the machine lengthen the rest.
func slower(what string) figure {
	return func(results map[string]result) (float64, bool) {
		bare, ok1 := results[bareName(what)]
		whole, ok2 := results[redactName(what)]
		return float64(whole.p50) / float64(bare.p50), ok1 && ok2
	}
}
