package messages

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"
)

// TraceLabel and TraceStateLabel are the labels with the W3C traceparent and tracestate of a run's caller.
const (
	TraceLabel      = "traceparent"
	TraceStateLabel = "tracestate"
)

// Trace is a position in a distributed trace: the values of traceparent and tracestate (W3C Trace Context). The zero
// Trace is in no trace.
type Trace struct{ Parent, State string }

// ReadTrace returns the position that the header fields name, or the zero Trace if traceparent is not valid. It drops
// a tracestate that is not printable ASCII of at most 512 bytes.
func ReadTrace(field func(name string) string) Trace {
	t := Trace{field(TraceLabel), field(TraceStateLabel)}
	if trace, _ := t.IDs(); trace == "" {
		return Trace{}
	}
	strange := func(r rune) bool { return r < ' ' || r > '~' }
	if len(t.State) > 512 || strings.ContainsFunc(t.State, strange) {
		t.State = ""
	}
	return t
}

// Fields returns the position as header fields.
func (t Trace) Fields() map[string]string {
	fields := map[string]string{}
	if t.Parent != "" {
		fields[TraceLabel] = t.Parent
	}
	if t.State != "" {
		fields[TraceStateLabel] = t.State
	}
	return fields
}

// IDs returns the trace id, 32 hexadecimal digits, and the span id, 16 digits; "" where they are not valid.
func (t Trace) IDs() (trace, span string) {
	trace, span, _ = t.parts()
	return trace, span
}

// parts returns the fields of traceparent, or "" if it is not valid.
func (t Trace) parts() (trace, span, flags string) {
	p := strings.Split(t.Parent, "-")
	if len(p) < 4 || !isHex(p[0], 2) || !isHex(p[3], 2) || p[0] == "ff" || p[0] == "00" && len(p) > 4 ||
		!isHexID(p[1], 32) || !isHexID(p[2], 16) {
		return "", "", ""
	}
	return p[1], p[2], p[3]
}

// Sampled reports whether the caller records the trace.
func (t Trace) Sampled() bool {
	_, _, flags := t.parts()
	bits, _ := strconv.ParseUint(flags, 16, 8)
	return bits&1 != 0
}

// Below returns the position below a span of the trace. Below the zero Trace it is the zero Trace.
func (t Trace) Below(span string) Trace {
	trace, _, flags := t.parts()
	if trace == "" {
		return Trace{}
	}
	return Trace{"00-" + trace + "-" + span + "-" + flags, t.State}
}

// traceKey is the key of a Trace in a context.
type traceKey struct{}

// WithTrace returns a context whose runs and calls belong to the trace. The runtime gives one to the tasks of a run
// with the [TraceLabel].
func WithTrace(ctx context.Context, t Trace) context.Context {
	if t == (Trace{}) {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the context's position in a trace.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

// InSpan returns a context whose calls belong to the span of a part of the run, if there is a trace.
func InSpan(ctx context.Context, id RunID, part string) context.Context {
	return WithTrace(ctx, TraceOf(ctx).Below(SpanID(id, part)))
}

// SpanID returns the span id of a part of a run, 16 hexadecimal digits. The part is "run" or the id of a call. Equal
// arguments give equal ids, so nobody needs to store them.
func SpanID(id RunID, part string) string { return Digest(string(id) + " " + part)[:16] }

func isHexID(s string, digits int) bool { return isHex(s, digits) && strings.Trim(s, "0") != "" }

func isHex(s string, digits int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == digits && s == strings.ToLower(s)
}
