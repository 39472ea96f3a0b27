package chat_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/messages"
)

// saying says something at some events of a run: a steer while a tool runs, an interrupt of an answer by an agent, and
// another steer while the model says its last word.
func saying(t *testing.T, run *actors.Run) func(messages.Event) {
	said := map[string]messages.Said{
		"tool.started answer.1": {Message: "s1", Content: "And in Bergen?"},
		"text.delta answer.2":   {Message: "s2", Content: "Stop it.", Mode: messages.Interrupt, Agent: true},
		"text.delta answer.3":   {Message: "s3", Content: "Thanks."},
	}
	return func(e messages.Event) {
		at := ""
		switch b := e.Body.(type) {
		case messages.ToolStarted:
			at = messages.LabelOf(b.Call)
		case messages.TextDelta:
			at = b.Stream
		case messages.LLMCompleted:
			at = messages.LabelOf(b.Call)
		}
		for when, one := range said {
			if kind, label, _ := strings.Cut(when, " "); kind == string(e.Kind()) && strings.HasPrefix(at, label) {
				delete(said, when)
				if _, err := run.Send(context.Background(), one); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

var sayingAnswers = []said{{text: "Let me look.", calls: calls(`sleep {"ms":5}`)}, {text: "It rains in Oslo and in Bergen."},
	{text: "Well."}, {text: "You are welcome."}}

// "Steer is seen at the next call after the tools of this batch; interrupt ends the stream first, and its text stays,
// marked; the next turn of the conversation has all of it."
func TestMessagesToATurn(t *testing.T) {
	config := chat.Config{Tools: tools(t), Conversations: kept(conversation.NewMemory(10))}
	converse(t, "messages", sayingAnswers, config, func(w *told) {
		run := w.start(chat.Input{Context: "c_1", Message: "How is it in Oslo?"})
		state := w.until(run, saying(t, run))
		for _, m := range state.Messages {
			if m.At == "" || !m.Seen {
				t.Errorf("at the end %+v", m)
			}
		}
		w.until(w.start(chat.Input{Context: "c_1", Message: "And now?"}), nil)
	})
}

// "Wherever the process dies, a message is delivered once, in order, and each later request has it."
func TestMessagesOutliveTheProcess(t *testing.T) {
	var log []messages.Event
	converse(t, "", sayingAnswers, chat.Config{Tools: tools(t)}, func(w *told) {
		run := w.start(chat.Input{Message: "How is it in Oslo?"})
		say := saying(t, run)
		w.until(run, func(e messages.Event) { log = append(log, e); say(e) })
	})
	for cut := 3; cut < len(log); cut++ {
		synctest.Test(t, func(t *testing.T) {
			store := journal.NewMemory()
			store.Append(journal.Block{Run: log[0].RunID, Epoch: 1, Events: log[:cut]}, func(err error) { must(t, err) })
			m := &script{answers: []said{{text: "Again."}}}
			second := node(t, store, chat.Config{Stream: m.stream, Tools: tools(t)})
			defer second.Close(context.Background())
			whole(t, second, log[0].RunID)
			state, err := second.State(t.Context(), log[0].RunID)
			must(t, err)
			if end := state.End.Error; end != nil && strings.Contains(end.Message, "must not be made twice") {
				return // a tool was under way
			}
			var want, got []string
			for _, said := range state.Messages {
				if want = append(want, said.Content); said.At == "" {
					t.Errorf("cut at %d: %+v", cut, said)
				}
			}
			if state.Status != messages.Completed {
				t.Fatalf("cut at %d: %+v", cut, state.End)
			}
			if len(m.requests) == 0 { // all answers are in the log
				return
			}
			for _, one := range m.requests[len(m.requests)-1].Messages {
				for _, content := range want {
					if n := strings.Count(one.Content, content); n > 0 {
						got = append(got, strings.Split(strings.Repeat(content+"\x00", n), "\x00")[:n]...)
					}
				}
			}
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("cut at %d, after %s: the model was sent %q, not %q", cut, log[cut-1].Kind(), got, want)
			}
		})
	}
}
