package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/query"
	"hodl/internal/store"
)

// words returns n words as prose has them: few that come often, many that are rare.
func words(r *rand.Rand, z *rand.Zipf, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%s%d ", string(rune('a'+r.IntN(3))), z.Uint64())
	}
	return b.String()
}

func vocabulary() (*rand.Rand, *rand.Zipf) {
	r := rand.New(rand.NewPCG(1, 2))
	return r, rand.NewZipf(r, 1.1, 8, 20000)
}

func (x *bench) prose(text string) store.HodlWrite {
	now := x.Now()
	return store.HodlWrite{Workspace: x.ws, Mode: hodl.Live, User: x.user, Hodl: hodl.Hodl{
		ID: hodl.HodlID(x.NewID("hdl")), URL: "https://example.com/issues/7", Title: "a page with a title", Note: text, Tags: []string{"cache", "bug"}, Source: "rest",
		CreatedAt: now, UpdatedAt: now,
	}}
}

// BenchmarkCaptureProse saves new hodls of 300 words, about 2 KiB, and indexes them.
func BenchmarkCaptureProse(b *testing.B) {
	r, z := vocabulary()
	texts := make([]string, 512)
	for i := range texts {
		texts[i] = words(r, z, 300)
	}
	onEach(b, func(_ *testing.B, x *bench) func(int) error {
		return func(i int) error { return x.PutHodl(context.Background(), x.prose(texts[i%len(texts)])) }
	})
}

// BenchmarkSearch looks for a rare word, a frequent one and a tag that every hodl
// carries, among ten thousand hodls and among ten times that.
func BenchmarkSearch(b *testing.B) {
	for _, engine := range engines {
		for _, n := range []int{1e4, 1e5} {
			b.Run(fmt.Sprintf("%s/%d", engine.name, n), func(b *testing.B) {
				db := engine.create(b)
				x := open(b, db.Options)
				x.fillShelf(b, n)
				_, err := db.Raw.Exec(`analyze`) // as the database does by itself in time
				must(b, err)
				for _, text := range []string{"needle", "wa1", `"wa1 wb2"`, "tag:cache", "-wa1", "wa1 before:2000"} {
					q, err := query.Parse(text)
					must(b, err)
					b.Run(text, func(b *testing.B) {
						for b.Loop() {
							_, err := x.Hodls(context.Background(), store.HodlFilter{Workspace: x.ws, Mode: hodl.Live, User: x.user, Query: *q, Limit: 20})
							must(b, err)
						}
					})
				}
			})
		}
	}
}

func (x *bench) fillShelf(b *testing.B, n int) {
	b.Helper()
	r, z := vocabulary()
	for left := n; left > 0; {
		step := make([]store.HodlWrite, 0, 1000)
		for range min(left, 1000) {
			step = append(step, x.prose(words(r, z, 40)))
		}
		if left == n {
			step[0] = x.prose("needle")
		}
		left -= len(step)
		for _, err := range x.PutHodls(context.Background(), step) {
			must(b, err)
		}
	}
}
