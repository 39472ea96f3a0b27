package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// difference is where a replay differs from its recording: at an event of the recording, or after it.
type difference struct {
	at    messages.Event
	after bool
	err   error
}

func (d *difference) before(o *difference) bool {
	return o == nil || d.at.Seq < o.at.Seq || d.at.Seq == o.at.Seq && !d.after && o.after
}

// compare returns the first difference between the recorded runs and the replay's. Both use the ids of the recorded
// runs.
func (r *replay) compare(ctx context.Context) error {
	if r.refused != nil {
		return r.refused
	}
	var pairs []string // the longer id first, because a sub-run's id begins with its parent's
	then := map[messages.RunID]*run{}
	for _, id := range slices.Backward(slices.SortedFunc(maps.Keys(r.logs), func(a, b messages.RunID) int { return len(a) - len(b) })) {
		if of := r.recorded(ctx, id); of != nil {
			then[id], pairs = of, append(pairs, string(id), string(of.id))
		}
	}
	names := strings.NewReplacer(pairs...)
	var first *difference
	for id, of := range then {
		if d := of.difference(r.logs[id], names); d != nil && (first == nil || d.at.Time.Before(first.at.Time)) {
			first = d
		}
	}
	if first == nil {
		return nil
	}
	return first.err
}

// said is a milestone in the form in which it is compared.
type said struct {
	messages.Event
	text string // its kind and body
}

// difference finds the first milestone of the recording that the log does not repeat. Milestones about the same call,
// text, question, step, artifact, sub-run or task keep their order. Concurrent work may report in any order.
func (r *run) difference(log []messages.Event, names *strings.Replacer) *difference {
	expected := map[string][]said{}
	for _, e := range r.log {
		if s, about := sayingOf(e, strings.NewReplacer()); about != "" {
			expected[about] = append(expected[about], s)
		}
	}
	var first *difference
	at := r.log[0]
	note := func(at messages.Event, after bool, format string, args ...any) {
		if d := (&difference{at, after, fmt.Errorf("run %s: "+format, append([]any{r.id}, args...)...)}); d.before(first) {
			first = d
		}
	}
	for _, e := range log {
		is, about := sayingOf(e, names)
		if about == "" {
			continue
		}
		for len(expected[about]) > 0 && r.optional[expected[about][0].Seq] && expected[about][0].text != is.text {
			expected[about] = expected[about][1:]
		}
		if len(expected[about]) == 0 {
			note(at, true, "it says now\n\t%s\nand did not when it was recorded", clip(is.text, 0))
			continue
		}
		was := expected[about][0]
		expected[about] = expected[about][1:]
		if at = was.Event; was.text != is.text {
			same := prefix(was.text, is.text)
			note(at, false, "event %d was\n\t%s\nand is now\n\t%s", was.Seq, clip(was.text, same), clip(is.text, same))
		}
	}
	for _, rest := range expected {
		for _, was := range rest {
			if !r.optional[was.Seq] {
				note(was.Event, false, "event %d was\n\t%s\nand is missing now", was.Seq, clip(was.text, 0))
			}
		}
	}
	return first
}

// sayingOf returns a milestone without what differs between times, places and versions, and the subject that it is
// about; "" for what is not compared.
func sayingOf(e messages.Event, names *strings.Replacer) (s said, about string) {
	if e.IsDelta() || e.Body == nil {
		return s, ""
	}
	switch b := e.Body.(type) {
	case messages.RunQueued:
		b.Version, e.Body = "", b
	case messages.StepKept:
		if b.Again { // it says that the run may be called again, which older versions did not say
			return s, ""
		}
		b.Input, b.Optional, b.Within = "", false, ""
		e.Body = b
	}
	fields := fieldsOf(e.Body)
	for _, volatile := range []string{"id", "node", "epoch", "evidence", "first_token_ms", "delay_ms", "waited_ms", "since",
		"media_type", "spent"} { // older versions do not say the last two
		delete(fields, volatile)
	}
	if e.Kind() == messages.KindRunQueued {
		delete(fields, "title") // nor this
	}
	if failed, ok := fields["error"].(map[string]any); ok {
		delete(failed, "stack")
	}
	text, _ := json.Marshal(fields) // it was JSON
	s = said{e, string(e.Kind()) + " " + names.Replace(string(text))}
	for _, name := range []string{"call", "request", "step", "child", "stream", "name", "task"} {
		if value, ok := fields[name].(string); ok {
			return s, name + " " + names.Replace(value)
		}
	}
	return s, "run"
}

func fieldsOf(body messages.Body) (fields map[string]any) {
	data, _ := json.Marshal(body)
	_ = json.Unmarshal(data, &fields) // every body is an object
	return fields
}

// prefix returns the length of the common beginning of two texts.
func prefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// clip shortens a text around a position.
func clip(text string, pos int) string {
	const before, after = 200, 300
	kind, body, _ := strings.Cut(text, " ")
	pos = max(pos-len(kind)-1, 0)
	head, tail := max(pos-before, 0), min(pos+after, len(body))
	words := kind + " " + strings.Repeat("…", min(head, 1)) + body[head:tail] + strings.Repeat("…", min(len(body)-tail, 1))
	return strings.ToValidUTF8(words, "")
}
