package chat_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

const (
	search   = `{"intent":"factual_query","needs_search":true,"search_query":"weather in Oslo"}`
	greeting = `{"intent":"chat","needs_search":false,"search_query":""}`
	rain     = `{"findings":"It rains.","complete":true}`
	reply    = `{"response":"It rains in Oslo. Take an umbrella.","citations":["weather","[a](b)"],"confidence":"high"}`
)

var looks = said{thought: "I must look.", text: "Let me look.", calls: calls(`weather {"city":"Oslo"}`)}

// TestStagedTranscripts is TestTranscripts for turns in stages.
func TestStagedTranscripts(t *testing.T) {
	for _, c := range []struct {
		name    string
		in      chat.Input
		bounds  chat.Bounds
		answers []said
		cause   messages.Code
	}{
		{name: "stages", answers: []said{{text: search}, looks, {text: rain}, {text: "It rains in Oslo."}}},
		{name: "stages-structured", in: chat.Input{Output: "structured"},
			answers: []said{{text: search}, looks, {text: rain}, {text: reply}}},
		{name: "citations", answers: []said{{text: search}, looks, {calls: calls(`sleep {"ms":1}`)}, {text: rain},
			{text: "It rains,[^1] says [weather], not [this](x), `[weather]` or [news]. I slept [sleep]."}}},
		{name: "stages-no-search", answers: []said{{text: greeting}, {thought: "They greet me.", text: "Hello."}}},
		{name: "stages-no-tools", in: chat.Input{Tools: []string{}}, answers: []said{{text: "Hello."}}},
		{name: "stages-bad-json", in: chat.Input{Output: "structured"}, answers: []said{
			{text: "They want the weather."}, {text: `{"intent":"weather","needs_search":true,"search_query":"Oslo"}`}, {text: search},
			looks, {text: "It rains."}, {text: rain},
			{text: `{"response":"It rains.","citations":[],"confidence":"90 %"}`}, {text: reply}}},
		{name: "stages-degraded", in: chat.Input{Output: "structured"}, answers: []said{
			{text: "hm"}, {text: "hm"}, {text: "hm"}, looks, {text: "Rain."}, {text: "Rain."}, {text: "Rain."},
			{text: `{"response":"It rains.","confidence":"high"}`}, {text: "It rains."}}},
		{name: "stages-bound", bounds: chat.Bounds{ToolCalls: 1}, answers: []said{
			{text: search}, looks, {calls: calls(`weather {"city":"Bergen"}`)}, {text: "It rains in Oslo."}}},
		{name: "stages-late", bounds: chat.Bounds{Stage: 10500 * time.Microsecond}, answers: []said{
			{thought: strings.Repeat("hm ", 20), text: search}, {calls: calls("hang")}, {text: "I do not know."}}},
		{name: "stages-debug", in: chat.Input{Output: "structured", Tokens: "debug"},
			answers: []said{{text: greeting}, {text: reply}}},
		{name: "stages-off", in: chat.Input{Tokens: "off"}, answers: []said{{text: greeting}, {text: "Hello to you."}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Message, c.in.System, c.in.Stages = "Hello!", "Be brief.", true
			m := script{answers: c.answers}
			events, state := talk(t, c.in, chat.Config{Stream: m.stream, Tools: tools(t), Bounds: c.bounds}, nil, nil)
			if c.cause == "" && state.Status != messages.Completed || state.End.Cause != c.cause {
				t.Errorf("the run ended as %+v", state.End)
			}
			compare(t, c.name, transcript(t, events, m.requests))
			if n := len(m.requests); n < len(c.answers) {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// The words of a stage never come in the text of another: understand has none, and the answer is no JSON.
func TestAnswerHasNoJSON(t *testing.T) {
	for _, tokens := range []chat.Tokens{"", "debug", "off"} {
		m := script{answers: []said{{text: search}, looks, {text: rain}, {text: reply}}}
		events, state := talk(t, chat.Input{Message: "Go.", Stages: true, Output: "structured", Tokens: tokens},
			chat.Config{Stream: m.stream, Tools: tools(t)}, nil, nil)
		var streamed strings.Builder
		for _, e := range events {
			if d, ok := e.Body.(messages.TextDelta); ok && d.Stream == "answer.1" {
				streamed.WriteString(d.Text)
			}
		}
		want := "It rains in Oslo. Take an umbrella."
		text, _ := state.Stream("answer.1")
		if text.Text() != want || streamed.String() != want && tokens == "" || streamed.String() != "" && tokens != "" {
			t.Errorf("tokens %q: %q streamed, and then %q", tokens, streamed.String(), text.Text())
		}
		for _, s := range state.Streams {
			if !s.Closed || strings.HasPrefix(s.Name, "understand") != (s.Name == "understand.debug") {
				t.Errorf("tokens %q: there is %q, closed %t", tokens, s.Name, s.Closed)
			}
		}
	}
}

func TestStagesInput(t *testing.T) {
	config := chat.Config{Stream: (&script{}).stream}
	for name, in := range map[string]chat.Input{
		"output alone": {Output: "text"}, "tokens alone": {Tokens: "off"}, "form": {Stages: true, Output: "xml"},
		"mode": {Stages: true, Tokens: "on"},
	} {
		in.Message = "Hi"
		if _, err := chat.Job(in, config); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A stage whose request is too long for the model is asked again with a shorter one.
func TestStagesOverflow(t *testing.T) {
	m := &script{answers: []said{{text: strings.Repeat("o", 2700)}, {}, {text: "Short."}, {text: greeting}, {text: reply}}}
	config := chat.Config{Conversations: kept(conversation.NewMemory(1)), Stream: narrow(m), Tools: tools(t)}
	talk(t, chat.Input{Message: "Hello.", Context: "c_1"}, config, nil, nil)
	_, state := talk(t, chat.Input{Message: "Go on.", Context: "c_1", Stages: true, Output: "structured"}, config, nil, nil)
	if state.Status != messages.Completed || state.End.Degraded || len(m.requests) != 5 {
		t.Errorf("%s, %d requests: %+v", state.Status, len(m.requests), state.End)
	}
}

// Findings may be in the thoughts: some servers apply a grammar to them.
func TestFindingsInThoughts(t *testing.T) {
	m := script{answers: []said{{text: search}, looks, {thought: rain}, {text: "It rains."}}}
	_, state := talk(t, chat.Input{Message: "Go.", Stages: true}, chat.Config{Stream: m.stream, Tools: tools(t)}, nil, nil)
	last := m.requests[len(m.requests)-1].Messages
	if n := len(last); state.End.Degraded || n != 5 || last[2].Content != "rain in Oslo" || last[3].Content != "It rains." {
		t.Errorf("respond was sent %+v", last)
	}
}

// Who does not allow a call still gets an answer.
func TestDeniedInStages(t *testing.T) {
	answers := []said{{text: search}, {text: "I pay.", calls: calls(`pay {"sum":7}`)}, {text: "I did not pay."}}
	converse(t, "stages-denied", answers, chat.Config{Tools: bank(t, tool.Tool{})}, func(w *told) {
		run := w.start(chat.Input{Message: "Pay.", Stages: true})
		w.until(run, w.answers(run, `"no"`))
	})
}

// A stage that crashes ends the run, which names it.
func TestStageCrashes(t *testing.T) {
	for at, stage := range []string{"understand", "think", "respond"} {
		m := script{answers: []said{{text: search}, {text: rain}, {text: "It rains."}}}
		stream := func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
			if len(m.requests) == at {
				panic("crash")
			}
			return m.stream(ctx, r)
		}
		_, state := talk(t, chat.Input{Message: "Go.", Stages: true}, chat.Config{Stream: stream, Tools: tools(t)}, nil, nil)
		if state.End.Cause != messages.CausePanic || state.End.Task != stage || state.End.Error.Stack == "" {
			t.Errorf("%s: %+v", stage, state.End)
		}
	}
}

// A conversation keeps the answers of stages, and not the way to them; a turn that fails leaves it free.
func TestStagesRemember(t *testing.T) {
	config := chat.Config{Tools: tools(t), Conversations: kept(conversation.NewMemory(10))}
	answers := []said{{text: search}, {calls: calls(`weather {"city":"Oslo"}`)}, {text: rain}, {text: "It rains."},
		{text: search}, {text: "Wait.", calls: calls("hang")}, {text: greeting}, {text: "You asked for Oslo."}}
	converse(t, "stages-remember", answers, config, func(w *told) {
		w.until(w.start(chat.Input{Context: "c_1", Message: "How is it in Oslo?", Stages: true}), nil)
		w.config.Bounds = chat.Bounds{Time: time.Second, Stage: time.Minute}
		w.until(w.start(chat.Input{Context: "c_1", Message: "Hang.", Stages: true}), nil)
		w.config.Bounds = chat.Bounds{}
		w.until(w.start(chat.Input{Context: "c_1", Message: "What did I ask for?", Stages: true}), nil)
	})
}

// An answer says what it cites, and which of it the turn's tools have read. Seed: "If you reference sources, use inline
// citations like [Source Name]", and "citations": ["source1", "source2"] of JSON.
func TestCitations(t *testing.T) {
	files := fstest.MapFS{"go.mod": {Data: []byte("module garden\n")}, "docs/soil.md": {Data: []byte("garden: loam\n")}}
	set, err := tool.NewSet(nil, tool.Repository(files)...)
	must(t, err)
	m := script{answers: []said{{calls: calls(`read_file {"path":"/go.mod"}`, `search_files {"pattern":"garden"}`, `read_file {"path":"no"}`)},
		{text: "It grows on loam [docs/soil.md:1]. Garden [go.mod] is list [1], or [no]."}}}
	events, state := talk(t, chat.Input{Message: "Go."}, chat.Config{Stream: m.stream, Tools: set}, nil, nil)
	want := `"citations":[{"source":"docs/soil.md","offsets":[17],"verified":true},{"source":"go.mod","offsets":[42],"verified":true},{"source":"no","offsets":[67],"verified":false}]`
	if !strings.Contains(string(state.End.Result), want) {
		t.Errorf("the result is %s", state.End.Result)
	}
	var told strings.Builder
	for _, e := range events {
		switch b := e.Body.(type) {
		case messages.Log:
			told.WriteString(b.Lines[0].Text + ". ")
		case messages.TextDelta:
			told.WriteString(b.Text)
		}
	}
	if want := "or [no].the answer cites docs/soil.md at byte 17. the answer cites go.mod at byte 42. "; !strings.HasSuffix(told.String(), want) {
		t.Errorf("the reader sees %q", told.String())
	}
}
