package messages

import (
	"context"
	"encoding/hex"
	"strings"
)

// TraceLabel is the label of a run that holds the W3C traceparent of the request that started it.
const TraceLabel = "traceparent"

type traceKey struct{}

// WithTraceparent returns a context whose calls belong to a trace. The runtime gives it to the tasks of a run that has
// the [TraceLabel].
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceKey{}, traceparent)
}

// Traceparent returns what a call made in the context should send in the header field traceparent, or "".
func Traceparent(ctx context.Context) string {
	text, _ := ctx.Value(traceKey{}).(string)
	return text
}

// RunTraceparent returns the traceparent of the calls that a run makes: its starter's trace, and the run's own span. It
// is "" for a run without a valid [TraceLabel].
func RunTraceparent(id RunID, labels map[string]string) string {
	trace, _, ok := ParseTraceparent(labels[TraceLabel])
	if !ok {
		return ""
	}
	return "00-" + trace + "-" + SpanID(id, "run") + "-01"
}

// SpanID is the id of a part of a run in traces, 16 hexadecimal digits. It follows from its arguments, so that nobody
// needs to keep it.
func SpanID(id RunID, part string) string { return Digest(string(id) + " " + part)[:16] }

// ParseTraceparent reads the trace id, 32 hexadecimal digits, and the span id of a W3C traceparent.
func ParseTraceparent(text string) (trace, span string, ok bool) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || !isHexID(parts[1], 32) || !isHexID(parts[2], 16) {
		return "", "", false
	}
	return parts[1], parts[2], true
}

func isHexID(s string, digits int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == digits && s == strings.ToLower(s) && strings.Trim(s, "0") != ""
}
