package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/testkit/internal/replay"
)

var update = flag.Bool("update", false, "record the runs that differ anew")

// world is what a definition asks. In a replay it is dead: whoever asks it fails.
type world struct {
	t       *testing.T
	live    bool
	answers []said
}

// said is an answer of the model.
type said struct {
	thought, text string
	calls         []string // NAME ARGUMENTS
	status        int      // of an error
}

func (w *world) touch(what string) {
	if !w.live {
		w.t.Errorf("the replay asks %s", what)
	}
}

// stream takes a second for each part.
func (w *world) stream(ctx context.Context, _ model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		w.touch("the model")
		if len(w.answers) == 0 {
			return
		}
		a := w.answers[0]
		w.answers = w.answers[1:]
		e := model.Evidence{Done: true, Output: true, Finish: "stop"}
		var calls []model.ToolCall
		for i, c := range a.calls {
			name, arguments, _ := strings.Cut(c, " ")
			calls = append(calls, model.ToolCall{ID: fmt.Sprintf("call_%d%d", len(w.answers), i), Name: name, Arguments: arguments})
		}
		if a.thought != "" {
			yield(model.Thought{Text: a.thought}, nil)
			yield(model.ThoughtDone{Text: a.thought, Source: model.Field}, nil)
		}
		for piece := range strings.SplitAfterSeq(a.text, " ") {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				e = model.Evidence{Output: true, Stopped: messages.CodeOf(context.Cause(ctx))}
			}
			if piece != "" && ctx.Err() == nil && !yield(model.Text{Text: piece}, nil) {
				return
			}
		}
		if a.status > 0 {
			e = model.Evidence{Status: a.status, Failure: &model.Failure{Message: "the model fell over"}}
		}
		v := model.Judge(model.Strict, e)
		yield(model.End{Verdict: v, Evidence: e, Model: "tiny", Calls: calls, FirstToken: time.Millisecond,
			Usage: &messages.Usage{PromptTokens: new(int64(100)), CompletionTokens: new(int64(10))}}, v.Err())
	}
}

// tools are a look at the weather, a note that needs the user's word, a question, and files.
func (w *world) tools() *tool.Set {
	type where struct {
		City string `json:"city"`
	}
	folder, err := os.OpenRoot(w.t.TempDir())
	must(w.t, err)
	w.t.Cleanup(func() { folder.Close() })
	list, err := tool.Artifacts(folder, false)
	must(w.t, err)
	act := func(what string) func(context.Context, where) (string, error) {
		return func(ctx context.Context, in where) (string, error) {
			w.touch("the tool " + what)
			select {
			case <-time.After(time.Duration(len(in.City)) * time.Second):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			if in.City == "Atlantis" {
				return "", errors.New("it is under water")
			}
			return what + " in " + in.City, nil
		}
	}
	list = append(list, tool.AskUser(), tool.Func(tool.Tool{Name: "weather", Access: tool.Read}, act("rain")),
		tool.Func(tool.Tool{Name: "note", Access: tool.Write}, act("noted")))
	set, err := tool.NewSet(nil, list...)
	must(w.t, err)
	return set
}

func (w *world) prompt() actors.Definition {
	return prompt.Define(func() (prompt.Config, error) { return prompt.Config{Stream: w.stream, Model: "tiny"}, nil })
}

func (w *world) chat() actors.Definition {
	tools := w.tools()
	return chat.Define(func(chat.Input) (chat.Config, error) {
		return chat.Config{Stream: w.stream, Model: "tiny", Tools: tools}, nil
	})
}

func (w *world) generate() actors.Definition {
	out := w.t.TempDir()
	return generate.Define(generate.Config{
		Folder: func(string, string) (string, error) { return out, nil },
		Model: func(context.Context, string) (*generate.Model, error) {
			return &generate.Model{Stream: w.stream, Name: "tiny", Context: 8192}, nil
		},
		Open: func(context.Context, source.Address) (*source.Repository, error) {
			return &source.Repository{Remote: "https://github.com/acme/garden", Commit: "0123456789abcdef",
				Read: func(context.Context, func(done, total int64)) (fs.FS, error) {
					archive, err := txtar.ParseFile("testdata/garden.txtar")
					if err != nil {
						return nil, err
					}
					return txtar.FS(archive)
				}}, nil
		},
	})
}

func (w *world) command() actors.Definition {
	d, err := command.Define(command.Command{Name: "count", Command: []string{"sh", "-c", `echo "$1"; echo 1/2 >&2`, "sh", "{word}"},
		Input: map[string]json.RawMessage{"word": json.RawMessage(`{"type":"string"}`)}, Confirm: "Count {word}?"}, command.Config{})
	must(w.t, err)
	return d
}

func (w *world) plan() actors.Definition {
	return plan.Define(plan.Config{Jobs: []actors.Definition{w.prompt(), w.pay()}})
}

// pay makes steps: its first attempt fails between two of them.
func (w *world) pay() actors.Definition {
	return actors.Func("pay", func(ctx context.Context, t *actors.TaskContext, amount int) (string, error) {
		price, err := actors.Do(ctx, t, "price", func(context.Context) (int, error) {
			w.touch("for the price")
			time.Sleep(time.Second)
			return amount * 2, nil
		})
		if err != nil {
			return "", err
		}
		receipt, err := actors.DoOnce(ctx, t, "charge", func(context.Context) (string, error) {
			w.touch("for a charge")
			if t.Attempt() == 1 {
				return "", &messages.Error{Code: "busy", Message: "the bank is busy", Retryable: true}
			}
			return fmt.Sprint("receipt for ", price), nil
		})
		return receipt, err
	})
}

const understanding = `{"purpose":"Garden grows things.",` +
	`"notes":[{"path":"docs/guide.md","note":"How to grow things."}]}`

// scenario is a run to record.
type scenario struct {
	define  func(*world) actors.Definition
	input   string
	answers []said
	people  []string      // answers, in the order of the questions
	cancel  time.Duration // after the start
	file    string        // that the run reads
}

// corpus are the runs that are replayed.
var corpus = map[string]scenario{
	"prompt":        {define: (*world).prompt, input: `{"text":"Why?","seed":7}`, answers: []said{{thought: "Hm.", text: "Because it is so."}}},
	"prompt-failed": {define: (*world).prompt, input: `{"text":"Why?"}`, answers: []said{{text: "Because ", status: 500}}},
	"prompt-canceled": {define: (*world).prompt, input: `{"text":"Why?"}`, answers: []said{{text: "Because it is so."}},
		cancel: 2500 * time.Millisecond},
	"chat": {define: (*world).chat, input: `{"message":"Is it raining?","tools":["weather"]}`, answers: []said{
		{thought: "Look twice.", calls: []string{`weather {"city":"Rome"}`, `weather {"city":"Oslo!"}`}},
		{calls: []string{`weather {"city":"Atlantis"}`, `radar {}`}}, {text: "In both."}}},
	"chat-questions": {define: (*world).chat, input: `{"message":"Note the weather.","asks":true}`, answers: []said{
		{calls: []string{`ask_user {"question":"Where?","options":["Rome","Oslo"]}`}},
		{calls: []string{`note {"city":"Rome"}`}}, {text: "Noted."}}, people: []string{`"Rome"`, `"yes, once"`}},
	"chat-denied": {define: (*world).chat, input: `{"message":"Note the weather.","asks":true}`, answers: []said{
		{calls: []string{`note {"city":"Rome"}`}}, {text: "Then not."}}, people: []string{`"no"`}},
	"chat-canceled": {define: (*world).chat, input: `{"message":"Is it raining?","tools":["weather"]}`, answers: []said{
		{calls: []string{`weather {"city":"Llanfairpwllgwyngyll"}`, `weather {"city":"Rome"}`}}}, cancel: 10 * time.Second},
	"chat-files": {define: (*world).chat, input: `{"message":"Write it down.","tools":["write_artifact","append_artifact"]}`, answers: []said{
		{calls: []string{`write_artifact {"name":"a.md","text":"one"}`, `append_artifact {"name":"a.md","text":" two","last":true}`}},
		{text: "It is in a.md."}}},
	"chat-whole": {define: (*world).chat, input: `{"message":"Hi.","tools":[],"stages":true,"tokens":"debug"}`, answers: []said{{text: "Hello there."}}},
	"chat-stages": {define: (*world).chat, input: `{"message":"Is it raining?","tools":["weather"],"stages":true,"output":"structured"}`,
		answers: []said{{text: `{"intent":"rain"}`},
			{calls: []string{`answer {"intent":"question","needs_search":true,"search_query":"rain"}`}},
			{calls: []string{`weather {"city":"Rome"}`}}, {text: `{"findings":"rain","complete":true}`}, {text: `{"response":"It rains.","citations":["weather"],"confidence":"high"}`}}},
	"generate":       {define: (*world).generate, input: `{"repository":"acme/garden"}`, file: "garden.txtar"},
	"generate-model": {define: (*world).generate, input: `{"repository":"acme/garden","model":"tiny"}`, file: "garden.txtar", answers: []said{{text: understanding}}},
	"steps":          {define: (*world).pay, input: `{"input":21}`},
	"plan": {define: (*world).plan, input: `{"plan":{"steps":[{"name":"why","job":"prompt","input":{"text":"Why?"}},` +
		`{"name":"pay","job":"pay","input":{"input":4}},{"name":"sure","ask":{"prompt":"Publish?"},"needs":["why","pay"]}],` +
		`"result":"${steps.why.result.text}"}}`,
		answers: []said{{text: "Because."}}, people: []string{"true"}},
	"command": {define: (*world).command, input: `{"word":"hello"}`, people: []string{"true"}},
}

// The jobs of this module agree with the runs that were recorded of them.
func TestCorpus(t *testing.T) {
	for name, c := range corpus {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".jsonl")
			if *update && replay.Difference(t, file, c.define(&world{t: t, live: true})) != nil {
				must(t, os.WriteFile(file, c.record(t, name), 0o644))
			}
			testkit.Replay(t, file, c.define(&world{t: t}))
		})
	}
}

// record makes the run and returns its recording. The name makes the ids of the runs.
func (c scenario) record(t *testing.T, name string) []byte {
	var out bytes.Buffer
	root := messages.RunID("")
	synctest.Test(t, func(t *testing.T) {
		d := c.define(&world{t: t, live: true, answers: c.answers})
		s := faultplan.Open(t, actors.Config{Jobs: []actors.Definition{d}})
		var err error
		root, err = s.Submit(t.Context(), messages.Request{Job: d.Name, Input: json.RawMessage(c.input), Principal: "ada"})
		must(t, err)
		if c.cancel > 0 {
			time.AfterFunc(c.cancel, func() { _ = s.Cancel(context.Background(), root, "ada", "enough") })
		}
		asked, lines := 0, json.NewEncoder(&out)
		for batch, err := range s.Follow(t.Context(), root, messages.FollowOptions{Tree: true}) {
			must(t, err)
			for _, e := range batch {
				must(t, lines.Encode(e))
				if b, ok := e.Body.(messages.InputRequired); ok && asked < len(c.people) {
					value := json.RawMessage(c.people[asked])
					asked++
					time.AfterFunc(time.Minute, func() { _ = s.Answer(context.Background(), e.RunID, b.Request, value, "ada") })
				}
			}
		}
		if c.file != "" {
			data, err := os.ReadFile(filepath.Join("testdata", c.file))
			must(t, err)
			_ = lines.Encode(messages.RecordInput(c.file, data))
		}
	})
	return bytes.ReplaceAll(out.Bytes(), []byte(root), []byte("r_"+messages.Digest(name)[:26]))
}

var must = fatal.IfError

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
