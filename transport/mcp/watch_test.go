package mcp_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// eventsIn are the events that progress told.
func eventsIn(t *testing.T, all []message) []messages.Event {
	t.Helper()
	var events []messages.Event
	for _, m := range all {
		if p := m.progress(t); p.Meta.Event != nil {
			events = append(events, *p.Meta.Event)
		}
	}
	return events
}

// A client that cannot ask its user gets the question. Its progress and its later reads together are the whole log, each
// event once.
func TestAQuestionCutsTheStreamOnce(t *testing.T) {
	job := actors.Func("ask", func(ctx context.Context, t *actors.TaskContext, _ any) (any, error) {
		if err := t.AppendText("answer", "Before. "); err != nil {
			return nil, err
		}
		value, err := t.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "Really?"})
		if err != nil {
			return nil, err
		}
		return value, t.AppendText("answer", "After.")
	})
	inEachEra(t, func(t *testing.T, how era) {
		job.Mode = messages.Detached
		s := serving(t, []actors.Definition{job}, mcp.JobTool{Job: "ask"})
		c := dial(t, s, how)
		all := c.callTool("ask", nil, "tok").until()
		r := all[len(all)-1].toolResult(t)
		events := eventsIn(t, all[:len(all)-1])
		if r.IsError || r.Structured.Status != "waiting" || r.Structured.Seq != events[len(events)-1].Seq {
			t.Fatalf("after event %d the result is %s", events[len(events)-1].Seq, all[len(all)-1].Result)
		}
		c.callTool("run_answer", map[string]any{"run_id": r.Structured.RunID, "request": "q", "value": true}, nil).response()
		rest := c.callTool("run_attach", map[string]any{"run_id": r.Structured.RunID, "after": r.Structured.Seq}, "tok").until()
		must(t, testkit.CheckLog(0, append(events, eventsTold(t, rest)...)))
		if r := rest[len(rest)-1].toolResult(t); r.Structured.Status != messages.Completed || string(r.Structured.Result) != "true" {
			t.Errorf("the result is %s", rest[len(rest)-1].Result)
		}
	})
}

func TestProgressIsShort(t *testing.T) {
	job := scripted(faultplan.Script{Fetch: []faultplan.Step{
		{Do: faultplan.Say, Text: strings.Repeat("ü€", 100)}, {Do: faultplan.Emit, Text: "ask", Body: messages.ToolStarted{Call: "c", Tool: "t"}},
		{Do: faultplan.Report, Done: 3, Total: 10}, {Do: faultplan.Emit, Text: "tell", Body: messages.ToolCompleted{Call: "c"}},
		{Do: faultplan.Report, Done: 4}, {Do: faultplan.Emit, Text: "end", Body: messages.ToolStarted{Call: "d", Tool: "t"}},
		{Do: faultplan.Log, Text: "a line"},
	}})
	s := serving(t, []actors.Definition{job}, mcp.JobTool{Job: "script"})
	var said []string
	all := dial(t, s, modernStdio).callTool("script", nil, "tok").until()
	for _, m := range all[:len(all)-1] {
		p := m.progress(t)
		if len(p.Message) > 130 || !utf8.ValidString(p.Message) {
			t.Errorf("the message is %q", p.Message)
		}
		said = append(said, p.Message)
	}
	for _, want := range []string{"ask", "fetch: 3/10 steps", "tell", "fetch: 4 steps", "end", "a line"} {
		if !slices.Contains(said, want) {
			t.Errorf("%q is not among %q", want, said)
		}
	}
	if !slices.ContainsFunc(said, func(m string) bool { return strings.HasPrefix(m, "ü€ü€") && strings.HasSuffix(m, "…") }) {
		t.Errorf("the long text is not among %q", said)
	}
}
