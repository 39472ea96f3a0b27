package chat_test

import (
	"context"
	"flag"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
)

var update = flag.Bool("update", false, "rewrite the transcripts")

// TestTranscripts compares what scripted conversations say with what they have always said.
func TestTranscripts(t *testing.T) {
	for _, c := range []struct {
		name    string
		bounds  chat.Bounds
		answers []said
		cause   messages.Code
	}{
		{name: "plain", answers: []said{{text: "Hello to you."}}},
		{name: "thoughts-then-answer", answers: []said{{thought: "They greet me.", text: "Hello."}}},
		{name: "one-tool", answers: []said{{thought: "I must look.", text: "Let me look.", calls: calls(`weather {"city":"Oslo"}`)},
			{text: "It rains."}}},
		{name: "five-parallel-last-first", bounds: chat.Bounds{Parallel: 5}, answers: []said{
			{calls: calls(`sleep {"ms":50}`, `sleep {"ms":40}`, `sleep {"ms":30}`, `sleep {"ms":20}`, `sleep {"ms":10}`, `sleep {"ms":5}`)},
			{text: "All slept."}}},
		{name: "tool-error-recovered", answers: []said{{calls: calls("flaky")}, {calls: calls("flaky")}, {text: "It is sunny."}}},
		{name: "bad-arguments", answers: []said{{calls: calls(`weather {"town":"Oslo"}`, `weather {"city":`)},
			{calls: calls(`weather {"city":"Oslo"}`)}, {text: "It rains."}}},
		{name: "unknown-tool", answers: []said{{calls: calls(`news {}`)}, {text: "I cannot know."}}},
		{name: "no-arguments-loop", cause: messages.CauseLimitExceeded, answers: []said{{calls: calls("weather")}}},
		{name: "same-call-loop", cause: messages.CauseLimitExceeded,
			answers: []said{{calls: calls(`weather {"city":"Oslo"}`, `sleep {"ms":1}`)},
				{calls: calls(`sleep { "ms": 1 }`, `weather {"city":"Oslo"}`)}}},
		{name: "iteration-bound", cause: messages.CauseLimitExceeded, bounds: chat.Bounds{Iterations: 2},
			answers: []said{{calls: calls(`sleep {"ms":1}`)}, {calls: calls(`sleep {"ms":2}`)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.bounds.Parallel == 0 {
				c.bounds.Parallel = 1 // calls that end at one time would end in any order
			}
			m := script{answers: c.answers}
			events, state := talk(t, chat.Input{Message: "Hello!", System: "Be brief."},
				chat.Config{Stream: m.stream, Provider: "lmstudio", Tools: tools(t), Bounds: c.bounds}, nil, nil)
			if c.cause == "" && state.Status != messages.Completed || state.End.Cause != c.cause {
				t.Errorf("the run ended as %+v", state.End)
			}
			compare(t, c.name, transcript(t, events, m.requests))
		})
	}
}

// No tool begins before the journal has its start and the answer that calls it.
func TestDurableBeforeTools(t *testing.T) {
	memory := journal.NewMemory()
	journal := &testkit.Journal{Journal: memory, Disturb: func(journal.Block) testkit.Disturbance {
		return testkit.Disturbance{Delay: time.Second}
	}}
	var id atomic.Value
	look := tool.Func(tool.Tool{Name: "look", Access: tool.Read}, func(ctx context.Context, _ struct{}) (string, error) {
		asked, started := 0, 0
		log, err := memory.Read(ctx, id.Load().(messages.RunID), 0)
		for _, e := range log.Events {
			switch body := e.Body.(type) {
			case messages.LLMCompleted:
				asked += len(body.Calls)
			case messages.ToolStarted:
				started++
			}
		}
		if err != nil || asked != 2 || started == 0 {
			t.Errorf("the journal has %d calls and %d starts: %v", asked, started, err)
		}
		return "seen", nil
	})
	set, err := tool.NewSet(nil, look)
	must(t, err)
	m := script{answers: []said{{calls: calls("look", "look")}, {text: "Done."}}}
	_, state := talk(t, chat.Input{Message: "Look."}, chat.Config{Stream: m.stream, Tools: set}, journal,
		func(_ *actors.Run, e messages.Event) { id.Store(e.RunID) })
	if state.Status != messages.Completed || len(state.Calls) != 4 {
		t.Errorf("%+v after %d calls", state.End, len(state.Calls))
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		bounds chat.Bounds
		answer said
		cause  messages.Code
		words  string
	}{
		{"calls of tools", chat.Bounds{ToolCalls: 3}, said{calls: calls(`sleep {"ms":1}`, `sleep {"ms":2}`)},
			messages.CauseLimitExceeded, "called tools more than 3 times"},
		{"calls of the model", chat.Bounds{ModelCalls: 1}, said{calls: calls(`sleep {"ms":1}`)},
			messages.CauseLimitExceeded, "the model was called more than 1 times"},
		{"failures", chat.Bounds{Failures: 1}, said{calls: calls("news")}, messages.CauseLimitExceeded,
			"failed 1 times in a row"},
		{"time", chat.Bounds{Time: 30 * time.Second}, said{calls: calls("hang")}, messages.CauseDeadline,
			"longer than its timeout of 30s"},
	} {
		m := script{answers: []said{c.answer}}
		_, state := talk(t, chat.Input{Message: "Go."}, chat.Config{Stream: m.stream, Tools: tools(t), Bounds: c.bounds}, nil, nil)
		if state.End.Cause != c.cause || state.End.Error == nil || !strings.Contains(state.End.Error.Message, c.words) {
			t.Errorf("%s: %+v, %+v", c.name, state.End, state.End.Error)
		}
	}
}

// A failed call of the model is not made again: its words have been seen.
func TestModelFails(t *testing.T) {
	for _, c := range []struct {
		stages   bool
		words    string
		evidence model.Evidence
		cause    messages.Code
		task     string
	}{
		{false, "", model.Evidence{Failure: &model.Failure{Message: "overloaded"}, Status: 503}, messages.CauseProviderError, "turn"},
		{true, "It rai", model.Evidence{Read: "connection reset", Output: true}, messages.CauseTransportClosed, "respond"},
	} {
		asked := 0
		stream := func(context.Context, model.Request) iter.Seq2[model.Part, error] {
			asked++
			return func(yield func(model.Part, error) bool) {
				v := model.Judge(model.Strict, c.evidence)
				_ = (c.words == "" || yield(model.Text{Text: c.words}, nil)) && yield(model.End{Verdict: v, Evidence: c.evidence}, v.Err())
			}
		}
		_, state := talk(t, chat.Input{Message: "Go.", Stages: c.stages}, chat.Config{Stream: stream}, nil, nil)
		if asked != 1 || state.End.Cause != c.cause || state.End.Task != c.task {
			t.Errorf("%d calls, %+v", asked, state.End)
		}
	}
}

func TestThoughtsGoBack(t *testing.T) {
	m := script{answers: []said{{thought: "I must look.", calls: calls(`sleep {"ms":1}`), opaque: true}, {text: "Done."}}}
	talk(t, chat.Input{Message: "Go."}, chat.Config{Stream: m.stream, Tools: tools(t)}, nil, nil)
	if said := m.requests[1].Messages[1]; said.Thoughts != "I must look." || said.ThoughtsIn != "reasoning" || said.Extra != `{"signature":"x"}` {
		t.Errorf("%+v goes back", said)
	}
}

func TestInput(t *testing.T) {
	config := chat.Config{Stream: (&script{}).stream, Tools: tools(t)}
	for name, c := range map[string]struct {
		in   chat.Input
		code messages.Code
	}{
		"text":         {chat.Input{Message: "Hi"}, ""},
		"tools":        {chat.Input{Message: "Hi", Tools: []string{"weather"}}, ""},
		"no tools":     {chat.Input{Message: "Hi", Tools: []string{}}, ""},
		"nothing":      {chat.Input{Message: " \n"}, "invalid_input"},
		"no UTF-8":     {chat.Input{Message: "Hi", System: "\xff"}, "invalid_input"},
		"unknown tool": {chat.Input{Message: "Hi", Tools: []string{"news"}}, "invalid_input"},
		"too large":    {chat.Input{Message: strings.Repeat("x", 16<<20+1)}, "limit_exceeded"},
	} {
		_, err := chat.Job(c.in, config)
		if messages.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]chat.Config{"no model": {}, "negative": {Stream: config.Stream, Bounds: chat.Bounds{Failures: -1}},
		"parallel": {Stream: config.Stream, Bounds: chat.Bounds{Parallel: 9}}} {
		if _, err := chat.Job(chat.Input{Message: "Hi"}, c); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
