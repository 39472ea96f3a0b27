package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

var update = flag.Bool("update", false, "rewrite the golden files, the schema and the generated pages")

const runID = messages.RunID("r_4kqxv2m5zj7ay3hd6tnwbfeu2c")

var epoch = time.Date(2026, 11, 20, 20, 0, 0, 123456000, time.UTC)

// tester is what the helpers need of *testing.T and *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// next is the event that says body after the event numbered seq; what recovery says spans its reserve.
func next(seq uint64, body messages.Body) messages.Event {
	e := messages.Event{RunID: runID, Seq: seq + 1, From: seq + 1, Body: body}
	if rewinds(body) {
		e.Seq += messages.Reserve
	}
	e.Time = epoch.Add(time.Duration(e.Seq) * time.Millisecond)
	return e
}

func rewinds(body messages.Body) bool {
	switch b := body.(type) {
	case messages.RunRecovered:
		return true
	case messages.RunFailed:
		return b.Rewind != nil
	case messages.RunCanceled:
		return b.Rewind != nil
	}
	return false
}

// logOf numbers the bodies into a log.
func logOf(bodies ...messages.Body) []messages.Event { return extended(nil, bodies...) }

// extended appends the bodies to the log, in new memory.
func extended(log []messages.Event, bodies ...messages.Body) []messages.Event {
	out := append([]messages.Event(nil), log...)
	seq := uint64(0)
	if len(out) > 0 {
		seq = out[len(out)-1].Seq
	}
	for _, b := range bodies {
		out = append(out, next(seq, b))
		seq = out[len(out)-1].Seq
	}
	return out
}

// fold applies the events to the state, which must take them.
func fold(t tester, s messages.State, log ...messages.Event) messages.State {
	t.Helper()
	for _, e := range log {
		var err error
		if s, err = s.Apply(e); err != nil {
			t.Fatalf("%v\nevent %s\nstate %s", err, asJSON(t, e), asJSON(t, s))
		}
	}
	return s
}

// states returns the state after every event; states[0] is the one before the first.
func states(t tester, log []messages.Event) []messages.State {
	t.Helper()
	out := make([]messages.State, 1, len(log)+1)
	for i, e := range log {
		out = append(out, fold(t, out[i], e))
	}
	return out
}

func asJSON(t tester, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(data)
}

func same(t tester, what string, got, want any) {
	t.Helper()
	if g, w := asJSON(t, got), asJSON(t, want); g != w {
		t.Fatalf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func ruleOf(err error) messages.Rule {
	if r, ok := errors.AsType[*messages.Refusal](err); ok {
		return r.Rule
	}
	return ""
}

// golden compares got with the file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		must(t, os.WriteFile(path, got, 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says: run make update, and read git diff", path)
	}
}

func textDone(stream, task, text string) messages.TextDone {
	return messages.TextDone{Stream: stream, Task: task, Text: text, SHA256: messages.Digest(text)}
}

func lines(first uint64, texts ...string) messages.Log {
	var l messages.Log
	for i, s := range texts {
		l.Lines = append(l.Lines, messages.LogLine{Number: first + uint64(i), Level: messages.LogInfo, Text: s})
	}
	return l
}

// samples returns a well-filled body of every kind, in the order of the table. They make no legal log.
func samples() []messages.Body {
	crash := &messages.Error{Code: "panic", Message: "nil map", Stack: "goroutine 7 [running]:"}
	closed := &messages.Error{Code: "transport_closed", Message: "the connection closed after 12 tokens", Retryable: true}
	file := messages.Artifact{Name: "llms.txt", Path: "out/llms.txt", Bytes: 6710, SHA256: messages.Digest("llms"), Partial: false}
	part := messages.Artifact{Name: "llms.txt", Path: "out/llms.txt.part", Bytes: 512, SHA256: messages.Digest("ll"), Partial: true}
	rewind := &messages.Rewind{
		Streams:  []messages.StreamMark{{Stream: "answer", Bytes: 3, Index: 1}},
		Progress: []messages.Progress{{Task: "analyze", Done: 3, Total: 9, Unit: "files"}},
		Tools:    []messages.ToolProgress{{Call: "t1", Done: 10, Total: 20, Unit: "bytes"}},
		Log:      lines(4, "read 3 files").Lines,
	}
	return []messages.Body{
		messages.RunQueued{Job: "generate", Input: json.RawMessage(`{"repository":"https://example.com/r.git"}`),
			Principal: "ada", Mode: messages.Detached, Labels: map[string]string{"context_id": "c1"}, Parent: "r_parent", After: "r_before",
			Limits: messages.Limits{WallClockMS: 1800000, StallMS: 300000, Bytes: 16 << 20, OnBudget: messages.BudgetAsk,
				Budget: messages.Budget{Tokens: 50_000, ToolCalls: 20, Cost: messages.Cost{Amount: 2.5, Currency: "USD"}, Time: messages.Duration(90 * time.Second)}}},
		messages.RunHeld{After: "r_before"}, messages.RunReleased{ID: "cmd_3", By: "ada"},
		messages.RunMoved{By: "ada", After: "r_before", Place: "2026-11-20T20:00:00.000000001Z"},
		messages.RunStarted{Node: "n1", Epoch: 7},
		messages.RunRecovered{Node: "n2", Epoch: 8, Rewind: rewind},
		messages.RunCanceling{ID: "cmd_1", By: "ada", Reason: "changed my mind"},
		messages.RunCompleted{By: messages.ByRun, Result: json.RawMessage(`{"files":2}`), Degraded: true, Artifacts: []messages.Artifact{file}},
		messages.RunFailed{By: messages.ByRecovery, Cause: messages.CauseNodeLost, Task: "analyze", Error: closed,
			Artifacts: []messages.Artifact{file, part}, Rewind: rewind},
		messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser, Artifacts: []messages.Artifact{part}},
		messages.TaskStarted{Task: "analyze", Attempt: 1},
		messages.TaskCompleted{Task: "analyze", Attempt: 1},
		messages.TaskFailed{Task: "analyze", Attempt: 1, Cause: messages.CausePanic, Error: crash, WillRetry: true, DelayMS: 250},
		messages.TaskRestarted{Task: "analyze", Attempt: 2},
		messages.Progress{Task: "analyze", Done: 3, Total: 9, Unit: "files"},
		messages.Log{Lines: []messages.LogLine{{Number: 4, Level: messages.LogWarn, Task: "analyze", Text: "skipped a <binary> file"}}},
		messages.Merged{Parts: []messages.Body{
			messages.TextDelta{Stream: "answer", Task: "analyze", Index: 1, Count: 33, Offset: 3, Text: "lo, merged"},
			messages.ThoughtDelta{Stream: "mind", Task: "analyze", Index: 0, Offset: 0, Text: "hm"},
			messages.Progress{Task: "analyze", Done: 4}, messages.ToolProgress{Call: "t1", Done: 20}, lines(5, "read", "done")}},
		messages.TextDelta{Stream: "answer", Task: "analyze", Index: 1, Count: 33, Offset: 3, Text: "lo, merged for a slow reader"},
		textDone("answer", "analyze", "Hello, wörld"),
		messages.TextClosed{Stream: "stdout", Task: "test", Bytes: 5, SHA256: messages.Digest("done\n"), Dropped: true},
		messages.ThoughtDelta{Stream: "mind", Task: "analyze", Index: 0, Offset: 0, Text: "first, "},
		messages.ThoughtDone{Stream: "mind", Task: "analyze", Text: "first, look", SHA256: messages.Digest("first, look"),
			ThoughtType: "planning", Confidence: new(0.75), Source: "think-tag"},
		messages.LLMStarted{Call: "m1", Task: "analyze", Model: "qwen3-8b", Provider: "lmstudio", SHA256: messages.Digest("a request")},
		messages.LLMCompleted{Call: "m1", Task: "analyze", Model: "qwen3-8b",
			Usage:        &messages.Usage{PromptTokens: new(int64(900)), CompletionTokens: new(int64(120)), ReasoningTokens: new(int64(20))},
			FirstTokenMS: 180, FinishReason: "stop", Evidence: "eof", Verdict: "failed", Error: closed,
			Calls: []messages.ToolCall{{Call: "t1", Tool: "read_file", Arguments: `{"path":"go.mod"}`}}, Seen: []string{"m1"}, Text: `{"purpose":"x"}`},
		messages.ToolStarted{Call: "t1", Task: "analyze", Tool: "read_file", Arguments: json.RawMessage(`{"path":"go.mod"}`)},
		messages.ToolProgress{Call: "t1", Done: 10, Total: 20, Unit: "bytes"},
		messages.ToolCompleted{Call: "t1", Task: "analyze", Result: json.RawMessage(`"module x"`), Error: crash},
		messages.ArtifactPartial{Artifact: part, Task: "write"},
		messages.ArtifactWritten{Artifact: file, Task: "write"},
		messages.InputRequired{Request: "q1", Task: "analyze", Prompt: "Which branch?", Schema: json.RawMessage(`{"type":"string"}`),
			InputKind: messages.InputSelection, TimeoutMS: 60_000},
		messages.InputReceived{Request: "q1", ID: "cmd_2", Task: "analyze", Value: json.RawMessage(`"main"`), Principal: "ada"},
		messages.MessageQueued{Said: messages.Said{Message: "m1", Mode: messages.Steer, Content: "look at <main> too", Principal: "ada", Door: "page", Agent: true}},
		messages.MessageDelivered{Message: "m1", Task: "analyze", At: "answer.2"},
		messages.MessageDropped{Message: "m2", Reason: messages.DropEnded},
		messages.StepKept{Step: "charge", Task: "analyze", Result: json.RawMessage(`{"receipt":"r7"}`), Error: closed, Begun: true, Again: true,
			Input: "ab12", Optional: true, Within: "order", Since: 61},
		messages.UsageReported{Task: "analyze", By: "agent", Model: "qwen3-8b", ToolCalls: 3, ModelCalls: 2,
			Usage: messages.Usage{PromptTokens: new(int64(900)), CompletionTokens: new(int64(120)), Cost: &messages.Cost{Amount: 0.02, Currency: "USD"}, Estimated: true}},
		messages.BudgetWarning{Unit: "tokens", Used: 40_120, Limit: 50_000},
		messages.BudgetGranted{Child: runID + ".c1", Grant: messages.Budget{Tokens: 4096}},
		messages.ChildStarted{Child: runID + ".c1", Job: "prompt", Grant: messages.Budget{Tokens: 25_000}},
		messages.ChildEnded{Child: runID + ".c1", Status: messages.Failed, Cause: messages.CauseStalled, Spent: messages.Budget{Tokens: 900, Input: 900}},
		messages.StepStarted{Step: "outline", Task: "plan"},
		messages.StepEnded{Step: "outline", Task: "plan", Outcome: "ok", Next: "draft", Reason: "the outline holds"},
		messages.FaultInjected{Fault: "panic", Task: "analyze", Point: "llm.before"},
		messages.Notice{Task: "analyze", Code: messages.NoticeModelSwapped, Text: "qwen3-4b answered, not qwen3-8b"},
	}
}

// sampleEvents gives the samples their own numbers, and spans to those that may have one.
func sampleEvents() []messages.Event {
	var out []messages.Event
	for i, b := range samples() {
		e := next(uint64(i+40), b)
		e.Message = "a sentence for people"
		if messages.KindOf(b) == messages.KindTextDelta || messages.KindOf(b) == messages.KindMerged {
			e.From -= 34
		}
		out = append(out, e)
	}
	return out
}

var must = fatal.IfError
