package chatui

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// story tells a turn the events of a run, a second after each other.
type story struct {
	t    *testing.T
	turn *turn
	seq  uint64
	at   map[string]int
	up   strings.Builder
}

var dawn = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func tell(t *testing.T) *story {
	s := &story{t: t, turn: newTurn(same, 60), at: map[string]int{}}
	s.event(messages.RunQueued{Job: "chat", Mode: messages.Attached}, "")
	s.event(messages.RunStarted{Node: "n", Epoch: 1}, "")
	s.event(messages.TaskStarted{Task: "turn", Attempt: 1}, "")
	return s
}

func (s *story) now() time.Time { return dawn.Add(time.Duration(s.seq) * time.Second) }

func (s *story) event(body messages.Body, message string) {
	s.t.Helper()
	s.seq++
	e := messages.Event{RunID: "r_1", Seq: s.seq, From: s.seq, Time: s.now(), Body: body, Message: message}
	fatal.IfError(s.t, s.turn.see(e))
	s.up.WriteString(shown(s.turn.up))
	s.turn.up = nil
}

func (s *story) say(stream, text string) {
	s.event(messages.TextDelta{Stream: stream, Task: "turn", Offset: s.at[stream], Index: uint64(s.at[stream+"#"]), Text: text}, "")
	s.at[stream] += len(text)
	s.at[stream+"#"]++
}

func (s *story) said(stream, text string) {
	s.event(messages.TextDone{Stream: stream, Task: "turn", Text: text, SHA256: messages.Digest(text)}, "")
}

func (s *story) above(want string) {
	s.t.Helper()
	if got := s.up.String(); got != want {
		s.t.Errorf("above stands\n%s\nwant\n%s", got, want)
	}
}

func (s *story) live(want string) {
	s.t.Helper()
	if got := shown(s.turn.live(s.now(), 10, "*")); got != want {
		s.t.Errorf("below stands\n%s\nwant\n%s", got, want)
	}
}

//go:embed testdata/turn.txt
var gone string

// A turn with thoughts, tools and two answers, as it goes up.
func TestTurn(t *testing.T) {
	s := tell(t)
	s.event(messages.LLMStarted{Call: "a1", Task: "turn", Model: "qwen"}, "asking qwen")
	s.live("\n* asking qwen · 0.0 s\n")
	s.event(messages.ThoughtDelta{Stream: "why", Task: "turn", Text: "Hm."}, "")
	s.live("\nHm.\n\n* thinking · 0.0 s\n")
	s.event(messages.ThoughtDone{Stream: "why", Task: "turn", Text: "Hm.", SHA256: messages.Digest("Hm.")}, "")
	s.say("answer.1", "# Look\n\nLet me ")
	s.live("\nLet me\n")
	s.event(messages.LLMCompleted{Call: "a1", Task: "turn", Model: "qwen", Evidence: "done", Verdict: "completed"}, "")
	s.said("answer.1", "# Look\n\nLet me look.")
	for call, arguments := range map[string]string{"t1": `{"path":"go.mod"}`} {
		s.event(messages.ToolStarted{Call: call, Task: "turn", Tool: "read_file", Arguments: json.RawMessage(arguments)}, "")
	}
	s.event(messages.ToolStarted{Call: "t2", Task: "turn", Tool: "grow"}, "")
	s.event(messages.ToolProgress{Call: "t2", Done: 2, Total: 3, Unit: "roses"}, "")
	s.live("\n* read_file go.mod · 2.0 s\n* grow · 1.0 s · 2 of 3 roses\n")
	s.event(messages.ToolCompleted{Call: "t1", Task: "turn", Result: json.RawMessage(`"module"`)}, "")
	s.event(messages.ToolCompleted{Call: "t2", Task: "turn", Error: messages.Errorf("error", "no\x1b[2J sun")}, "")
	s.say("answer.2", "It is a garden.")
	s.said("answer.2", "It is a garden.")
	s.event(messages.TaskCompleted{Task: "turn", Attempt: 1}, "")
	s.event(messages.RunCompleted{By: messages.ByRun, Result: json.RawMessage(`{"text":"It is a garden."}`)}, "")
	s.live("")
	s.above(gone)
	if got := shown(s.turn.thoughts()); got != "\nHm.\n" {
		t.Errorf("the thoughts are %q", got)
	}
}

// A text that is taken back is said to be, and stands again.
func TestWithdrawn(t *testing.T) {
	s := tell(t)
	s.say("answer.1", "One.\n\nTwo.\n\nThr")
	s.said("answer.1", "One.\n\nZwei.")
	s.above("\nOne.\n\nTwo.\n\nwhat stands above is withdrawn; again:\n\nOne.\n\nZwei.\n")
}

func TestTurnThatEndsBadly(t *testing.T) {
	s := tell(t)
	s.say("answer.1", "Half an ans")
	failed := messages.Errorf("provider_error", "no such luck")
	s.event(messages.TaskFailed{Task: "turn", Attempt: 1, Cause: messages.CauseProviderError, Error: failed}, "")
	s.event(messages.RunFailed{By: messages.ByRun, Cause: messages.CauseProviderError, Task: "turn", Error: failed}, "")
	s.above("\nHalf an ans\n\nfailed (provider_error): no such luck\n")
}

// A question is asked until it has its answer, and no secret is shown.
func TestTurnAsks(t *testing.T) {
	s := tell(t)
	for request, kind := range map[string]messages.InputKind{"city": messages.InputClarification} {
		s.event(messages.InputRequired{Request: request, Task: "turn", Prompt: "Which city?", InputKind: kind}, "")
	}
	if q := s.turn.question(); q == nil || q.Prompt != "Which city?" {
		t.Fatalf("it asks %+v", q)
	}
	s.event(messages.InputReceived{Request: "city", Value: json.RawMessage(`"Oslo"`)}, "")
	s.event(messages.InputRequired{Request: "key", Task: "turn", Prompt: "The key?", InputKind: messages.InputSecret}, "")
	s.event(messages.InputReceived{Request: "key"}, "")
	if q := s.turn.question(); q != nil {
		t.Errorf("it asks %+v", q)
	}
	s.above("\n? Which city? → Oslo\n? The key? → answered\n")
}
