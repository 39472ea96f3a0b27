package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxSpans is the maximum number of waiting spans, batch the number that is sent at once, and flushInterval the
	// longest time that a span waits.
	maxSpans      = 8192
	batch         = 512         // spans in one request
	flushInterval = time.Second // the longest time that a span waits
	// sendTimeout limits one request to the collector.
	sendTimeout = 10 * time.Second
)

// exporter sends spans to a collector by OTLP over HTTP, as JSON. The exporter of the OpenTelemetry SDK would add 5 MB
// to the binary. It is safe for concurrent use until spans is closed.
type exporter struct {
	config  Config
	client  *http.Client
	spans   chan span
	dropped atomic.Int64 // number of spans that could not be sent
	done    sync.WaitGroup
}

// send queues a span, unless the caller does not sample the trace. If the queue is full, it drops the span and counts
// that.
func (x *exporter) send(s span) {
	if !s.at.Sampled() {
		return
	}
	select {
	case x.spans <- s:
	default:
		x.dropped.Add(1)
	}
}

// run sends the spans in batches until spans is closed.
func (x *exporter) run() {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	var waiting []span
	for {
		select {
		case s, ok := <-x.spans:
			if !ok {
				x.post(waiting)
				return
			}
			if waiting = append(waiting, s); len(waiting) < batch {
				continue
			}
		case <-tick.C:
		}
		x.post(waiting)
		waiting = nil
	}
}

// post sends spans, or counts them as dropped. It does not try again: traces are no reason to take memory.
func (x *exporter) post(list []span) {
	if len(list) > 0 && !x.deliver(list) {
		x.dropped.Add(int64(len(list)))
	}
}

// deliver sends one request to the collector, and reports whether it took the spans.
func (x *exporter) deliver(list []span) bool {
	body, err := json.Marshal(x.request(list))
	if err != nil {
		return false
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, x.config.Collector, bytes.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range x.config.Headers {
		r.Header.Set(name, value)
	}
	response, err := x.client.Do(r)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode < http.StatusMultipleChoices
}

// request returns an ExportTraceServiceRequest.
func (x *exporter) request(list []span) any {
	spans := make([]map[string]any, 0, len(list))
	for _, s := range list {
		trace, id := s.at.IDs()
		one := map[string]any{"traceId": trace, "spanId": id, "name": s.name, "kind": max(s.kind, 1),
			"startTimeUnixNano": nanoseconds(s.began), "endTimeUnixNano": nanoseconds(s.ended), "attributes": s.attributes.list()}
		if s.parent != "" {
			one["parentSpanId"] = s.parent
		}
		if s.at.State != "" {
			one["traceState"] = s.at.State
		}
		if s.failed {
			one["status"] = map[string]any{"code": 2, "message": s.reason}
		}
		spans = append(spans, one)
	}
	service := attributes{"service.name": x.config.Service, "service.version": x.config.Version}
	return map[string]any{"resourceSpans": []any{map[string]any{"resource": map[string]any{"attributes": service.list()},
		"scopeSpans": []any{map[string]any{"scope": map[string]any{"name": "lastword"}, "spans": spans}}}}}
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// attributes are the attributes of a span by name: strings, lists of strings, integers and others.
type attributes map[string]any

// list returns the attributes in the form of OTLP, without empty ones.
func (a attributes) list() []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if a[key] != "" {
			out = append(out, map[string]any{"key": key, "value": anyValue(a[key])})
		}
	}
	return out
}

// anyValue returns a value in OTLP's JSON, where each type has its own member.
func anyValue(v any) map[string]any {
	switch v := v.(type) {
	case []string:
		values := []any{}
		for _, one := range v {
			values = append(values, anyValue(one))
		}
		return map[string]any{"arrayValue": map[string]any{"values": values}}
	case int, int64:
		return map[string]any{"intValue": fmt.Sprint(v)} // OTLP's JSON has 64-bit integers as strings
	case float64:
		return map[string]any{"doubleValue": v}
	}
	return map[string]any{"stringValue": fmt.Sprint(v)}
}
