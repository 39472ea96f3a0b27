package messages

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"
)

// TraceLabel and TraceStateLabel are the labels of a run that hold the W3C traceparent and tracestate of what started it.
const (
	TraceLabel      = "traceparent"
	TraceStateLabel = "tracestate"
)

// Trace is a place in a trace: the values of the fields traceparent and tracestate (W3C Trace Context). The zero Trace is
// in none.
type Trace struct{ Parent, State string }

// ReadTrace returns the place that the fields name, and the zero Trace where traceparent is not valid. A tracestate that
// is not printable ASCII of at most 512 bytes is left out.
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

// Fields are the fields that name the place.
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

// IDs returns the id of the trace, 32 hexadecimal digits, and that of the span at the place, 16; "" where they are not
// valid.
func (t Trace) IDs() (trace, span string) {
	trace, span, _ = t.parts()
	return trace, span
}

func (t Trace) parts() (trace, span, flags string) {
	p := strings.Split(t.Parent, "-")
	if len(p) < 4 || !isHex(p[0], 2) || !isHex(p[3], 2) || p[0] == "ff" || p[0] == "00" && len(p) > 4 ||
		!isHexID(p[1], 32) || !isHexID(p[2], 16) {
		return "", "", ""
	}
	return p[1], p[2], p[3]
}

// Sampled reports whether the caller keeps the trace.
func (t Trace) Sampled() bool {
	_, _, flags := t.parts()
	bits, _ := strconv.ParseUint(flags, 16, 8)
	return bits&1 != 0
}

// Below returns the place below a span of the trace; it is the zero Trace below the zero Trace.
func (t Trace) Below(span string) Trace {
	trace, _, flags := t.parts()
	if trace == "" {
		return Trace{}
	}
	return Trace{"00-" + trace + "-" + span + "-" + flags, t.State}
}

type traceKey struct{}

// WithTrace returns a context whose runs and calls belong to the trace. The runtime gives it to the tasks of a run that
// has the [TraceLabel].
func WithTrace(ctx context.Context, t Trace) context.Context {
	if t == (Trace{}) {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the place to which runs and calls in the context belong.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

// InSpan returns a context whose calls belong to the span of the run's part, if they belong to a trace.
func InSpan(ctx context.Context, id RunID, part string) context.Context {
	return WithTrace(ctx, TraceOf(ctx).Below(SpanID(id, part)))
}

// SpanID is the id of a part of a run in traces, 16 hexadecimal digits: "run", or the id of a call. It follows from its
// arguments, so that nobody needs to keep it.
func SpanID(id RunID, part string) string { return Digest(string(id) + " " + part)[:16] }

func isHexID(s string, digits int) bool { return isHex(s, digits) && strings.Trim(s, "0") != "" }

func isHex(s string, digits int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == digits && s == strings.ToLower(s)
}
