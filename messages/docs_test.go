package messages_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// The pages are drawn from the table of kinds and by probing Apply, so that they cannot say anything else.
func TestPages(t *testing.T) {
	golden(t, filepath.Join("..", "docs", "states.md"), []byte(statesPage(t)))
	golden(t, filepath.Join("..", "docs", "wire.md"), []byte(wirePage(t)))
}

// machine is a small world around one thing: where it can stand, and what can happen to it.
type machine struct {
	places []place
	probes []messages.Body
	where  func(messages.State) string
}

type place struct {
	name string
	log  []messages.Event
}

func runMachine() machine {
	queued, started := messages.RunQueued{Job: "generate"}, messages.RunStarted{}
	err := &messages.Error{Code: "error", Message: "it broke"}
	failed := messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Error: err}
	canceled := messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser}
	completed := messages.RunCompleted{By: messages.ByRun}
	canceling := messages.RunCanceling{}
	return machine{
		places: []place{
			{"(none)", nil},
			{"pending", logOf(queued)},
			{"pending, canceling", logOf(queued, canceling)},
			{"processing", logOf(queued, started)},
			{"processing, canceling", logOf(queued, started, canceling)},
			{"completed", logOf(queued, started, completed)},
			{"failed", logOf(queued, started, failed)},
			{"canceled", logOf(queued, started, canceling, canceled)},
		},
		probes: []messages.Body{
			queued, started, messages.RunRecovered{Rewind: &messages.Rewind{}}, canceling, completed, failed, canceled,
			messages.TaskStarted{Task: "t", Attempt: 1}, messages.StepStarted{Step: "s"}, messages.ChildStarted{Child: runID + ".c1"},
			messages.Progress{Done: 1}, lines(1, "x"), messages.TextDelta{Stream: "x", Text: "x"}, textDone("x", "", "x"),
			messages.LLMStarted{Call: "m", Model: "m"}, messages.ToolStarted{Call: "t", Tool: "t"},
			messages.ArtifactWritten{Artifact: messages.Artifact{Name: "f"}}, messages.InputRequired{Request: "q"},
			messages.Notice{Code: "c", Text: "t"}, messages.FaultInjected{Fault: "f"}, messages.Unknown{Type: "kind.of.a.newer.version"},
		},
		where: func(s messages.State) string {
			switch {
			case s.Seq == 0:
				return "(none)"
			case s.Canceling && !s.Status.IsEnded():
				return string(s.Status) + ", canceling"
			}
			return string(s.Status)
		},
	}
}

func taskMachine() machine {
	open := []messages.Body{messages.RunQueued{Job: "generate"}, messages.RunStarted{}}
	err := &messages.Error{Code: "error", Message: "it broke"}
	fail := messages.TaskFailed{Task: "t", Attempt: 1, Cause: messages.CauseError, Error: err}
	retry := fail
	retry.WillRetry = true
	begin := messages.TaskStarted{Task: "t", Attempt: 1}
	done := messages.TaskCompleted{Task: "t", Attempt: 1}
	at := func(more ...messages.Body) []messages.Event { return logOf(slices.Concat(open, more)...) }
	return machine{
		places: []place{
			{"(none)", at()}, {"running", at(begin)}, {"waiting", at(begin, retry)}, {"completed", at(begin, done)}, {"failed", at(begin, fail)},
		},
		probes: []messages.Body{begin, done, retry, fail, messages.RunRecovered{Rewind: &messages.Rewind{}},
			messages.RunRecovered{Restart: true, Rewind: &messages.Rewind{}}, messages.TaskRestarted{Task: "t", Attempt: 2},
			messages.TextDelta{Stream: "x", Task: "t", Text: "x"}, messages.Progress{Task: "t", Done: 1},
			messages.LLMStarted{Call: "m", Task: "t"}, messages.ToolStarted{Call: "t", Task: "t"}},
		where: func(s messages.State) string {
			if task, ok := s.Task("t"); ok {
				return string(task.Status)
			}
			return "(none)"
		},
	}
}

func streamMachine() machine {
	open := []messages.Body{messages.RunQueued{Job: "generate"}, messages.RunStarted{}, messages.TaskStarted{Task: "t", Attempt: 1}}
	delta := messages.TextDelta{Stream: "x", Task: "t", Text: "x"}
	more := messages.TextDelta{Stream: "x", Task: "t", Index: 1, Offset: 1, Text: "y"}
	done := textDone("x", "t", "x")
	rewind := messages.RunRecovered{Rewind: &messages.Rewind{}}
	named := messages.RunRecovered{Rewind: &messages.Rewind{Streams: []messages.StreamMark{{Stream: "x", Bytes: 1, Index: 1}}}}
	at := func(more ...messages.Body) []messages.Event { return logOf(slices.Concat(open, more)...) }
	return machine{
		places: []place{{"(none)", at()}, {"open", at(delta)}, {"closed", at(delta, done)}},
		probes: []messages.Body{delta, more, done, named, rewind},
		where: func(s messages.State) string {
			x, ok := s.Stream("x")
			switch {
			case !ok:
				return "(none)"
			case x.Closed:
				return "closed"
			}
			return "open"
		},
	}
}

// label tells the probes of one kind apart.
func label(b messages.Body) string {
	switch b := b.(type) {
	case messages.TaskFailed:
		return fmt.Sprintf("%s (will_retry %t)", messages.KindOf(b), b.WillRetry)
	case messages.TextDelta:
		if b.Index > 0 {
			return string(messages.KindOf(b)) + " (the next)"
		}
	case messages.RunRecovered:
		switch {
		case b.Restart:
			return string(messages.KindOf(b)) + " (restart)"
		case len(b.Rewind.Streams) > 0:
			return string(messages.KindOf(b)) + " (names it)"
		}
	}
	return string(messages.KindOf(b))
}

// restarted puts a stream's task through another attempt.
func restarted(t *testing.T, s messages.State) messages.State {
	err := &messages.Error{Code: "error", Message: "it broke"}
	for _, b := range []messages.Body{
		messages.TaskFailed{Task: "t", Attempt: 1, Cause: messages.CauseError, Error: err, WillRetry: true},
		messages.TaskRestarted{Task: "t", Attempt: 2},
	} {
		s = fold(t, s, next(s.Seq, b))
	}
	return s
}

// probe applies every probe at every place: where it leads, or the rule that refuses it.
func (m machine) probe(t *testing.T) (table [][]string, arrows []string) {
	for _, b := range m.probes {
		row := []string{"`" + label(b) + "`"}
		for _, p := range m.places {
			s := fold(t, messages.State{}, p.log...)
			if m.where(s) != p.name {
				t.Fatalf("%s is %s", p.name, m.where(s))
			}
			after, err := s.Apply(next(s.Seq, b))
			to := m.where(after)
			switch {
			case err != nil:
				row = append(row, "refused: "+string(ruleOf(err)))
			case to == p.name:
				row = append(row, "stays")
			default:
				row = append(row, "**"+to+"**")
				arrows = append(arrows, fmt.Sprintf("%-22s -- %s --> %s", p.name, label(b), to))
			}
		}
		table = append(table, row)
	}
	slices.SortStableFunc(arrows, func(a, b string) int { return m.rank(a) - m.rank(b) })
	return table, arrows
}

func (m machine) rank(arrow string) int {
	from := strings.TrimSpace(arrow[:22])
	return slices.IndexFunc(m.places, func(p place) bool { return p.name == from })
}

func (m machine) page(t *testing.T, out *strings.Builder) {
	table, arrows := m.probe(t)
	fmt.Fprintf(out, "```\n%s\n```\n\n| event |", strings.Join(arrows, "\n"))
	for _, p := range m.places {
		fmt.Fprintf(out, " %s |", p.name)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(m.places)) + "\n")
	for _, row := range table {
		fmt.Fprintf(out, "| %s |\n", strings.Join(row, " | "))
	}
}

func statesPage(t *testing.T) string {
	var out strings.Builder
	out.WriteString(`# States

` + "`messages.State.Apply`" + ` alone decides which event may come next. To make this page, every event below was applied in
every state; the cell says what came of it, or which rule refused it. Do not edit the page; run
` + "`go test ./messages -run TestPages -update`" + `.

## A run

A run ends once: after run.completed, run.failed or run.canceled nothing follows, not even a kind of a newer version.
After an accepted cancel nothing begins, and only run.canceled ends the run. No run ends before its sub-runs.

`)
	runMachine().page(t, &out)
	out.WriteString(`
## A task

A task is a child of its run. Each attempt ends in task.completed or task.failed. A task waits, and says nothing,
between a failed attempt that will be retried and task.restarted; and after its process died. A run completes only when
no task is running or waiting.

`)
	taskMachine().page(t, &out)
	out.WriteString(`
## A text or a thought

The deltas of a stream have no gaps. Its done event is authoritative and closes it. Recovery cuts an open stream to the
length in its rewind, and drops a stream that the rewind does not name; a closed stream stays.

`)
	streamMachine().page(t, &out)
	out.WriteString("\n`task.restarted` takes back what the earlier attempt said:\n\n")
	m := streamMachine()
	for _, p := range m.places {
		s := restarted(t, fold(t, messages.State{}, p.log...))
		x, _ := s.Stream("x")
		fmt.Fprintf(&out, "- %s: %s, %d bytes\n", p.name, m.where(s), x.Len())
	}
	out.WriteString("\n## The rules\n\n| rule | meaning |\n|---|---|\n")
	for _, r := range ruleDocs(t) {
		fmt.Fprintf(&out, "| %s | %s |\n", r[0], r[1])
	}
	return out.String()
}

func wirePage(t *testing.T) string {
	var out strings.Builder
	out.WriteString(`# The wire form

Version ` + "`" + messages.WireVersion + "`" + `. An event is one JSON object; a log as lines has one event per line. The JSON Schema is
` + "`messages/schema/run-events-1.json`" + `, and Go programs get it from ` + "`messages.Schema()`" + `. Do not edit this page; run
` + "`go test ./messages -run TestPages -update`" + `.

`)
	envelope := eventSchema(t)
	out.WriteString("| field | type | |\n|---|---|---|\n")
	for _, name := range envelope.PropertyOrder {
		p := envelope.Properties[name]
		need := "optional"
		if slices.Contains(envelope.Required, name) {
			need = "required"
		}
		fmt.Fprintf(&out, "| `%s` | %s, %s | %s |\n", name, orAny(p.Type), need, p.Description)
	}
	out.WriteString(`
Milestones are never merged, dropped or reordered. Deltas may arrive merged: one event with ` + "`from`" + ` < ` + "`seq`" + `. For
consecutive events a and b of a run, ` + "`b.from <= a.seq + 1`" + ` and ` + "`b.seq > a.seq`" + `; drop events up to your cursor.
Ignore kinds and fields that you do not know.

An event has at most 32 KiB, unless it has a value that cannot be cut. Only readers that ask for digests get ` + "`omitted`" + ` and
` + "`part`" + `: [http.md](http.md#long-texts) has their rules. Logs never have them.

| kind | level | group | what it says |
|---|---|---|---|
`)
	for _, k := range messages.Kinds() {
		fmt.Fprintf(&out, "| [`%s`](#%s) | %s | %s | %s |\n", k.Kind, anchor(k.Kind), k.Level, k.Group, k.Says)
	}
	docs := fieldDocs(t)
	examples := sampleEvents()
	for i, k := range messages.Kinds() {
		fmt.Fprintf(&out, "\n## %s\n\n%s A %s.\n\n", k.Kind, k.Says, k.Level)
		fieldTable(&out, reflect.TypeOf(k.Zero), docs)
		fmt.Fprintf(&out, "```json\n%s\n```\n", asJSON(t, examples[i]))
	}
	out.WriteString("\n## Shared types\n")
	for _, v := range []any{messages.Error{}, messages.Provider{}, messages.Artifact{}, messages.LogLine{}, messages.Limits{}, messages.Budget{}, messages.Cost{}, messages.Usage{}, messages.Rewind{}, messages.StreamMark{}} {
		fmt.Fprintf(&out, "\n### %s\n\n", reflect.TypeOf(v).Name())
		fieldTable(&out, reflect.TypeOf(v), docs)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func anchor(k messages.Kind) string { return strings.ReplaceAll(string(k), ".", "") }

func orAny(s string) string {
	if s == "" {
		return "any JSON"
	}
	return s
}

func fieldTable(out *strings.Builder, typ reflect.Type, docs map[string]string) {
	if typ == reflect.TypeFor[messages.Merged]() {
		out.WriteString("| field | type | |\n|---|---|---|\n| `parts` | list of `{type, payload}` | One part per stream, in the order of their first appearance. |\n\n")
		return
	}
	out.WriteString("| field | type | |\n|---|---|---|\n")
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		kind := typeName(f.Type)
		if strings.Contains(options, "omit") {
			kind += ", optional"
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", name, kind, docs[owner(typ, f)+"."+f.Name])
	}
	out.WriteString("\n")
}

func typeName(typ reflect.Type) string {
	switch {
	case typ.Name() == "RawMessage":
		return "any JSON"
	case typ.Name() == "Duration":
		return "text such as 90s"
	case typ.Kind() == reflect.Pointer:
		return typeName(typ.Elem())
	case typ.Kind() == reflect.Slice:
		return "list of " + typeName(typ.Elem())
	case typ.Kind() == reflect.Map:
		return "object of " + typeName(typ.Elem())
	case typ.Kind() == reflect.Struct:
		return typ.Name()
	case typ.Kind() == reflect.String && typ.PkgPath() != "":
		return "string (" + typ.Name() + ")"
	case typ.Kind() == reflect.Float64:
		return "number"
	case typ.Kind() == reflect.Bool:
		return "boolean"
	case typ.Kind() == reflect.String:
		return "string"
	}
	return "integer"
}
