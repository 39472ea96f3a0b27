package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit/internal/replay"
)

// trip asks a model, a tool and a person, makes a step and has a result. What changed names does it another way.
func trip(changed string) func(*world) actors.Definition {
	now := func(part, as, was string) string {
		if changed == part {
			return as
		}
		return was
	}
	return func(w *world) actors.Definition {
		tools := w.tools()
		return actors.Func("trip", func(ctx context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
			r := model.Request{Messages: []model.Message{{Role: model.User, Content: now("prompt", "Where to?", "Where?")}}}
			a, err := call.Respond(ctx, t, w.stream, r, call.Label{})
			if err != nil {
				return "", err
			}
			if changed == "tool left out" {
				return a.Text, nil
			}
			arguments := []byte(now("tool call", `{"city":"Oslo"}`, `{"city":"Rome"}`))
			if err := t.Emit(messages.ToolStarted{Call: "w", Tool: "weather", Arguments: arguments}, ""); err != nil {
				return "", err
			}
			got := tools.Call(ctx, "weather", tool.Call{ID: "w", Arguments: arguments, Task: t})
			if err := t.Conclude(messages.ToolCompleted{Call: "w", Result: []byte(`"` + got.Text + `"`)}, ""); err != nil {
				return "", err
			}
			booked, err := actors.Do(ctx, t, now("step", "reserve", "book"), func(context.Context) (string, error) {
				w.touch("for a ticket")
				return "a seat", nil
			})
			if err != nil {
				return "", err
			}
			question := messages.InputRequired{Request: "go", Prompt: now("question", "Really?", "Go?")}
			if _, err := t.Ask(ctx, question); err != nil {
				return "", err
			}
			return booked + now("result", ".", "!"), nil
		})
	}
}

// The first difference is named: where it was, what was said there and what is said now.
func TestDifferences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trip.jsonl")
	recording := scenario{define: trip(""), answers: []said{{text: "To Rome."}}, people: []string{`"yes"`}}.record(t, "trip")
	must(t, os.WriteFile(file, recording, 0o600))
	for changed, want := range map[string][]string{
		"":              nil,
		"prompt":        {"event 4 was\n\tllm.started ", `"sha256":"`, "and is now\n\tllm.started "},
		"tool call":     {"tool.started ", `"city":"Rome"`, `"city":"Oslo"`},
		"tool left out": {"tool.started ", "and is missing now"},
		"step":          {"step.kept ", `"step":"book"`, "and is missing now"},
		"question":      {"input.required ", `"prompt":"Go?"`, `"prompt":"Really?"`},
		"result":        {"run.completed ", `"result":"a seat!"`, `"result":"a seat."`},
	} {
		t.Run(changed, func(t *testing.T) { differs(t, file, trip(changed)(&world{t: t}), want...) })
	}
	differs(t, file, (&world{t: t}).prompt(), "the run is one of the job trip, and the definition is of prompt")
}

// A file that the run has read is there, and as it was; and a recording is whole.
func TestBrokenRecordings(t *testing.T) {
	data, err := os.ReadFile("testdata/generate.jsonl")
	must(t, err)
	file := filepath.Join(t.TempDir(), "generate.jsonl")
	write := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(filepath.Dir(file), name), []byte(text), 0o600))
	}
	d := (&world{t: t}).generate()
	write("generate.jsonl", string(data))
	differs(t, file, d, "the run read garden.txtar with the sha256 ", "and it is not beside the recording")
	write("garden.txtar", "-- README.md --\n# Field\n")
	differs(t, file, d, "garden.txtar is not what the run read")
	lines := strings.SplitAfter(string(data), "\n")
	write("generate.jsonl", strings.Join(lines[:4], ""))
	differs(t, file, d, "the recording has no run that has ended")
	write("generate.jsonl", strings.Join(lines[1:], ""))
	differs(t, file, d, "line 1: ")
	differs(t, filepath.Join(t.TempDir(), "none.jsonl"), d, "none.jsonl")
}

func differs(t *testing.T, file string, d actors.Definition, want ...string) {
	t.Helper()
	err := replay.Difference(t, file, d)
	if (err == nil) != (want == nil) {
		t.Fatalf("the difference is %v, want %q", err, want)
	}
	for _, words := range want {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the difference is %v, which does not say %q", err, words)
		}
	}
}
