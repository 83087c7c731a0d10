package main

// goals are those of docs/performance.md that this program can judge.
var goals = []goal{
	{name: "minting against bare Ed25519", over: ourSign, under: bareSign, atLeast: 0.93},
	{name: "verifying against bare Ed25519", over: ourVerify, under: bareVerify, atLeast: 0.90},

	{name: "SQLite: hydrate, batched against a transaction each, 32 callers", over: hydrateName("SQLite", 32), under: naiveName("SQLite"), atLeast: 5},
	{name: "SQLite: hydrations for one fdatasync, 32 callers", over: hydrateName("SQLite", 32), under: fsyncRate, atLeast: 2.2},
	{name: "SQLite: hydrations for one fdatasync, 256 callers", over: hydrateName("SQLite", 256), under: fsyncRate, atLeast: 4},
	{name: "PostgreSQL: hydrate, batched against a transaction each, 100 workspaces", over: hydrateName("PostgreSQL", 32), under: naiveName("PostgreSQL"), atLeast: 6},
	{name: "PostgreSQL: the same, one workspace", over: hotName("PostgreSQL"), under: naiveHotName("PostgreSQL"), atLeast: 20},
	{name: "PostgreSQL: hydrate against pgbench's insert", over: hydrateName("PostgreSQL", 32), under: pgbenchInsert, atLeast: 1.3},
	{name: "SQLite: capture, batched against a transaction each, 32 callers", over: captureName("SQLite", 32), under: naiveCaptureName("SQLite"), atLeast: 5},
	{name: "PostgreSQL: capture, batched against a transaction each, 32 callers", over: captureName("PostgreSQL", 32), under: naiveCaptureName("PostgreSQL"), atLeast: 1.5},

	{name: "SQLite: HTTP hydrate against no batches and no cache", over: httpHydrateName("SQLite", 32), under: httpNaiveName("SQLite"), atLeast: 2},
	{name: "SQLite: HTTP hydrate against an unaudited read of the same", over: httpHydrateName("SQLite", 32), under: httpPlainName("SQLite"), atLeast: 0.6},
	{name: "SQLite: HTTP capture against no batches", over: httpCaptureName("SQLite", 32), under: httpNaiveCaptureName("SQLite"), atLeast: 2},
}
