package main

import (
	"context"
	"fmt"
	"strings"
)

const (
	receiptCheck = "log: check a receipt offline, CPU"
	receiptBare  = "log: crypto/ed25519 verify, CPU"
	receiptSize  = "log: size of a receipt at 10⁹ records"
)

var (
	logBatches = []int{16, 128, 1024}
	logWriters = []int{1, 64, 1024}
)

func loggedName(engine string, batch int) string {
	return fmt.Sprintf("log: records with their log ÷ plain inserts, %s, batches of %d", engine, batch)
}

func ackName(writers int) string {
	return fmt.Sprintf("log: acknowledgements ÷ entries published by Tessera, %d writers", writers)
}

func placedName(writers int) string {
	return fmt.Sprintf("log: acknowledgements ÷ entries placed by Tessera, %d writers", writers)
}

// logMeasures are ratios that the benchmarks of the packages measure themselves, a
// moment of the one and a moment of the other in turn.
func logMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	var all []measure
	none := func() {}
	stores, err := newGoTest(ctx, dir, "internal/store")
	if err != nil {
		return nil, none, err
	}
	for _, engine := range engineNames {
		for _, batch := range logBatches {
			name := fmt.Sprintf("^BenchmarkRecords$/^%s$/^%d$", strings.ReplaceAll(strings.ToLower(engine), "postgresql", "postgres"), batch)
			all = append(all, stores.measure(loggedName(engine, batch), "ratio", name, "logged÷plain"))
		}
	}
	judges, err := newGoTest(ctx, dir, "internal/ledger/interop")
	if err != nil {
		return nil, none, err
	}
	for _, writers := range logWriters {
		benchmark := fmt.Sprintf("^BenchmarkAcks$/^%d$", writers)
		all = append(all,
			judges.measure(ackName(writers), "ratio", benchmark, "ours÷published"),
			judges.measure(placedName(writers), "ratio", benchmark, "ours÷placed"))
	}
	receipts, err := newGoTest(ctx, dir, "receipt")
	if err != nil {
		return nil, none, err
	}
	return append(all,
		receipts.measure(receiptCheck, "µs", "^BenchmarkVerify$/^receipt$", "cpu-µs/op"),
		receipts.measure(receiptBare, "µs", "^BenchmarkVerify$/^ed25519$", "cpu-µs/op"),
		receipts.measure(receiptSize, "bytes", "^BenchmarkVerify$/^receipt$", "bytes"),
	), none, nil
}
