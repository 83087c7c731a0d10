package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	prom "github.com/VictoriaMetrics/metrics"
)

// metrics are counted per server, in a set of its own, so that several may run in
// one process. A route's are looked up by its pattern, and made at its first request.
type metrics struct {
	set      *prom.Set
	requests sync.Map // answerKey → *prom.Counter
	seconds  sync.Map // route → *histogram
}

type answerKey struct {
	route  string
	status int
}

// buckets are upper bounds in seconds: a hydration takes about a millisecond.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5}

func newMetrics(s Store) *metrics {
	m := &metrics{set: prom.NewSet()}
	if s != nil {
		m.set.NewGauge("hodl_writes_waiting", func() float64 { waiting, _ := s.Backlog(); return float64(waiting) })
	}
	return m
}

func (m *metrics) observe(pattern string, status int, took time.Duration) {
	route := routeOf(pattern)
	series(&m.requests, answerKey{route, status}, func() *prom.Counter {
		return m.set.GetOrCreateCounter(fmt.Sprintf(`hodl_http_requests_total{route=%q,status=%q}`, route, statusText(status)))
	}).Inc()
	series(&m.seconds, route, func() *histogram {
		return newHistogram(m.set, "hodl_http_request_seconds", fmt.Sprintf("route=%q", route))
	}).observe(took)
}

// A histogram counts, in the manner of Prometheus, what took at most so long.
type histogram struct {
	atMost       []*prom.Counter // for each bucket
	count, total *prom.Counter   // total is that of the bucket without a bound
	sum          *prom.FloatCounter
}

func newHistogram(set *prom.Set, name, labels string) *histogram {
	bucket := func(bound string) *prom.Counter {
		return set.GetOrCreateCounter(fmt.Sprintf(`%s_bucket{%s,le=%q}`, name, labels, bound))
	}
	h := &histogram{
		count: set.GetOrCreateCounter(fmt.Sprintf(`%s_count{%s}`, name, labels)), total: bucket("+Inf"),
		sum: set.GetOrCreateFloatCounter(fmt.Sprintf(`%s_sum{%s}`, name, labels)),
	}
	for _, b := range buckets {
		h.atMost = append(h.atMost, bucket(strconv.FormatFloat(b, 'g', -1, 64)))
	}
	return h
}

func (h *histogram) observe(took time.Duration) {
	for i, b := range slices.Backward(buckets) {
		if took.Seconds() > b {
			break
		}
		h.atMost[i].Inc()
	}
	h.total.Inc()
	h.count.Inc()
	h.sum.Add(took.Seconds())
}

// series returns what all has for k, which is made when it is not there. What is made
// twice at once must be the same.
func series[K comparable, V any](all *sync.Map, k K, make func() V) V {
	if v, ok := all.Load(k); ok {
		return v.(V)
	}
	v := make()
	all.Store(k, v)
	return v
}

func (m *metrics) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.set.WritePrometheus(w)
		prom.WriteProcessMetrics(w)
	})
}
