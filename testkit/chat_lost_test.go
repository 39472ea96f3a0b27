package testkit_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// A turn whose node is lost after any of its events goes on from its last step: no answer that the log has is asked
// for again, and no result. Of a payment that had begun nobody knows the end, and nobody pays again.
func TestChatLost(t *testing.T) {
	for name, open := range map[string]func(*testing.T) actors.Journal{
		"memory": func(*testing.T) actors.Journal { return journal.NewMemory() },
		"sqlite": func(t *testing.T) actors.Journal {
			j, err := sqlite.Open(t.TempDir())
			must(t, err)
			t.Cleanup(func() { _ = j.Close() })
			return j
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log []messages.Event
			var whole messages.State
			synctest.Test(t, func(t *testing.T) { log, whole = (&shop{}).visit(t, open(t), nil) })
			if whole.Status != messages.Completed || len(whole.Calls) != 6 {
				t.Fatalf("%+v", whole.End)
			}
			var again []messages.Event
			for i := range len(log) - 1 {
				synctest.Test(t, func(t *testing.T) {
					if events := lostTurn(t, open(t), log[:i+1], whole); i == len(log)/2 {
						again = events
					}
				})
			}
			for i := len(log) / 2; i < len(again)-1; i++ {
				synctest.Test(t, func(t *testing.T) { lostTurn(t, open(t), again[:i+1], whole) })
			}
		})
	}
}

func lostTurn(t *testing.T, journal actors.Journal, before []messages.Event, whole messages.State) []messages.Event {
	what := fmt.Sprintf("after %d, %s", len(before), before[len(before)-1].Kind())
	asked, paid, paying := 0, 0, ""
	for _, e := range before {
		switch b := e.Body.(type) {
		case messages.LLMCompleted:
			if b.Error == nil {
				asked++
			}
		case messages.ToolStarted:
			if b.Tool == "pay" {
				paid, paying = 1, b.Call
			}
		case messages.ToolCompleted:
			if b.Call == paying {
				paying = ""
			}
		}
	}
	var s shop
	events, state := s.visit(t, journal, before)
	if paying != "" {
		if state.End.Cause != messages.CauseNodeLost || !strings.Contains(state.End.Error.Message, paying+" of pay") {
			t.Errorf("%s: %+v", what, state.End)
		}
		return events
	}
	var got, want chat.Result
	_, _ = json.Unmarshal(whole.End.Result, &want), json.Unmarshal(state.End.Result, &got)
	if state.Status != messages.Completed || got.Text != want.Text || !reflect.DeepEqual(got.Usage, want.Usage) {
		t.Errorf("%s: %+v", what, state.End)
	}
	if len(s.requests) != 3-asked || s.paid+paid != 1 {
		t.Errorf("%s: %d of 3 answers were there, %d were asked for; %d of 1 payments were, %d more", what, asked,
			len(s.requests), paid, s.paid)
	}
	for _, stream := range whole.Streams {
		if again, _ := state.Stream(stream.Name); again.Text() != stream.Text() || !again.Closed {
			t.Errorf("%s: %s says %q", what, stream.Name, again.Text())
		}
	}
	for _, c := range state.Calls {
		if !c.Ended {
			t.Errorf("%s: nobody knows how %s ended", what, c.ID)
		}
	}
	if len(s.requests) > 0 {
		said := s.requests[len(s.requests)-1].Messages
		if n := slices.IndexFunc(said, func(m model.Message) bool { return m.Content == "paid" }); n != 2 || len(said) != 6 {
			t.Errorf("%s: the model was sent %+v", what, said)
		}
	}
	return events
}

// A turn in stages goes on likewise, wherever its node is lost, and pays once.
func TestStagesLost(t *testing.T) {
	for _, form := range []string{"", `,"tokens":"off"`, `,"tokens":"debug"`, `,"output":"structured"`} {
		input := `{"message":"Buy.","tools":["pay","look"],"stages":true` + form + `}`
		var log []messages.Event
		synctest.Test(t, func(t *testing.T) { log, _ = (&shop{input: input}).visit(t, journal.NewMemory(), nil) })
		for i := range len(log) - 1 {
			synctest.Test(t, func(t *testing.T) { lostInStages(t, input, log[:i+1]) })
		}
	}
}

func lostInStages(t *testing.T, input string, before []messages.Event) {
	s, paying := shop{input: input}, ""
	for _, e := range before {
		switch b := e.Body.(type) {
		case messages.ToolStarted:
			if b.Tool == "pay" {
				s.paid, paying = 1, b.Call
			}
		case messages.ToolCompleted:
			if b.Call == paying {
				paying = ""
			}
		}
	}
	what := fmt.Sprintf("%s after %d, %s", input, len(before), before[len(before)-1].Kind())
	_, state := s.visit(t, journal.NewMemory(), before)
	for _, c := range state.Calls {
		if !c.Ended {
			t.Errorf("%s: nobody knows how %s ended", what, c.ID)
		}
	}
	if paying != "" {
		if state.End.Cause != messages.CauseNodeLost {
			t.Errorf("%s: %+v", what, state.End)
		}
		return
	}
	text, _ := state.Stream("answer.1")
	if state.Status != messages.Completed || state.End.Degraded || s.paid != 1 || text.Text() != "It is yours." {
		t.Errorf("%s: %+v, %d payments, %q", what, state.End, s.paid, text.Text())
	}
}

// shop is a model and its tools: it looks and pays, looks again, and answers.
type shop struct {
	input    string
	requests []model.Request
	paid     int
}

// visit runs the turn, or continues the run that the node "gone" has left with the events.
func (s *shop) visit(t *testing.T, store actors.Journal, before []messages.Event) (events []messages.Event, state messages.State) {
	type what struct {
		Number int `json:"number"`
	}
	set, err := tool.NewSet(nil,
		tool.Func(tool.Tool{Name: "pay", Access: tool.Write}, func(context.Context, struct{}) (string, error) {
			s.paid++
			return "paid", nil
		}),
		tool.Func(tool.Tool{Name: "look", Access: tool.Read, Idempotent: true}, func(_ context.Context, in what) (string, error) {
			return fmt.Sprint("seen ", in.Number), nil
		}))
	must(t, err)
	job := chat.Define(func(chat.Input) (chat.Config, error) { return chat.Config{Stream: s.answer, Tools: set}, nil })
	if len(before) > 0 {
		b := journal.Block{Run: before[0].RunID, ID: journal.BlockID{1}, Writer: "gone", Events: before}
		for _, e := range before {
			switch e.Kind() {
			case messages.KindRunStarted, messages.KindRunRecovered:
				b.Epoch++
			}
		}
		landed := make(chan error, 1)
		store.Append(b, func(err error) { landed <- err })
		must(t, <-landed)
	}
	node := faultplan.Open(t, actors.Config{Journal: store, Jobs: []actors.Definition{job}})
	var id messages.RunID
	if len(before) > 0 {
		id = before[0].RunID
	} else if id, err = node.Submit(t.Context(), messages.Request{Job: chat.Name,
		Input: json.RawMessage(cmp.Or(s.input, `{"message":"Buy.","tools":["pay","look"]}`))}); err != nil {
		t.Fatal(err)
	}
	for e, err := range node.Events(t.Context(), id, 0) {
		must(t, err)
		events = append(events, e)
	}
	must(t, testkit.CheckLog(0, events))
	state, err = node.State(t.Context(), id)
	must(t, err)
	return events, state
}

// answer is the model. What it says depends on the conversation alone.
func (s *shop) answer(_ context.Context, r model.Request) iter.Seq2[model.Part, error] {
	s.requests = append(s.requests, r)
	return func(yield func(model.Part, error) bool) {
		e := model.Evidence{Done: true, Output: true, Finish: "tool_calls"}
		end := model.End{Evidence: e, Model: "m", Usage: &messages.Usage{PromptTokens: new(int64(10)), CompletionTokens: new(int64(1))}}
		say := func(p model.Part) { yield(p, nil); time.Sleep(time.Millisecond) }
		last := r.Messages[len(r.Messages)-1].Content
		switch {
		case strings.Contains(last, "The tools:"):
			say(model.Text{Text: `{"intent":"task","needs_search":true,"search_query":""}`})
		case strings.Contains(last, "The intent:") || last == "Buy.":
			say(model.Thought{Text: "I pay. "})
			say(model.ThoughtDone{Text: "I pay. ", Source: model.Field})
			end.Calls = []model.ToolCall{{ID: "a", Name: "pay", Arguments: "{}"}, {ID: "b", Name: "look", Arguments: `{"number":1}`}}
		case strings.Contains(last, "The response is"):
			say(model.Text{Text: `{"response":"It is yours.","citations":[],"confidence":"high"}`})
		case last == "seen 2" && s.input != "":
			say(model.Text{Text: `{"findings":"It is there.","complete":true}`})
		case last == "seen 1":
			say(model.Text{Text: "Let me "})
			say(model.Text{Text: "look."})
			end.Calls = []model.ToolCall{{ID: "a", Name: "look", Arguments: `{"number":2}`}}
		default:
			say(model.Text{Text: "It is "})
			say(model.Text{Text: "yours."})
			end.Evidence.Finish = "stop"
		}
		end.Verdict = model.Judge(model.Strict, end.Evidence)
		yield(end, nil)
	}
}
