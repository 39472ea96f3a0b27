package terminal

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/terminaltest"
	"github.com/seed889630bf/lastword/messages"
)

// On a terminal the thoughts are told apart from the answer, line by line, and nothing steers it.
func TestSpeechOnATerminal(t *testing.T) {
	var screen bytes.Buffer // both, as one terminal has them
	s := &Answer{Stdout: &screen, Stderr: &screen, Shared: true}
	tell := func(body messages.Body, message string) {
		e := messages.Event{Body: body, Message: message}
		if err := s.Print(e); err != nil {
			t.Fatal(err)
		}
		s.Show(messages.State{}, e)
	}
	said := 0
	say := func(text string) {
		tell(messages.TextDelta{Stream: "answer", Offset: said, Text: text}, "")
		said += len(text)
	}
	tell(messages.LLMStarted{}, "asking\x1b[2J qwen")
	tell(messages.ThoughtDelta{Text: "Hm\x1b[31m, "}, "")
	tell(messages.Merged{Parts: []messages.Body{messages.Progress{}, messages.ThoughtDelta{Text: "well."}}}, "")
	tell(messages.ThoughtDone{}, "")
	say("Hel")
	tell(messages.TextDelta{Stream: "answer", Offset: 0, Text: "Hello"}, "") // merged with what was printed
	said = 5
	tell(messages.TextDelta{Stream: "other", Text: "not this"}, "")
	say(", \x07")
	tell(messages.ThoughtDelta{Text: "who?"}, "")
	say("w\u200dorld")
	tell(messages.LLMCompleted{}, "qwen answered")
	s.End()
	want := "asking[2J qwen\nHm[31m, well.\nHello, \nwho?\nw\u200dorld\nqwen answered\n"
	if screen.String() != want {
		t.Errorf("the terminal shows\n%q\nwant\n%q", screen.String(), want)
	}
}

// Each answer of a turn is printed, with the calls of tools between them; other texts are not.
func TestAnswersOfATurn(t *testing.T) {
	var stdout, stderr bytes.Buffer
	s := &Answer{Stdout: &stdout, Stderr: &stderr}
	for _, e := range []messages.Event{
		{Body: messages.TextDelta{Stream: "understand.1", Text: "{}"}},
		{Body: messages.TextDelta{Stream: "answer.1", Text: "Let me look."}},
		{Body: messages.LLMCompleted{}, Message: "qwen answered"},
		{Body: messages.ToolStarted{}, Message: "calling look"},
		{Body: messages.ToolCompleted{}, Message: "look gave 3 bytes"},
		{Body: messages.TextDelta{Stream: "answer.2", Text: "It"}},
		{Body: messages.Merged{Parts: []messages.Body{messages.TextDelta{Stream: "answer.2", Offset: 2, Text: " rains."}}}},
		{Body: messages.LLMCompleted{}, Message: "qwen answered"},
	} {
		if err := s.Print(e); err != nil {
			t.Fatal(err)
		}
		s.Show(messages.State{}, e)
	}
	s.End()
	if got, want := stdout.String(), "Let me look.\nIt rains.\n"; got != want {
		t.Errorf("stdout has %q, want %q", got, want)
	}
	if got, want := stderr.String(), "qwen answered\ncalling look\nlook gave 3 bytes\nqwen answered\n"; got != want {
		t.Errorf("stderr has %q, want %q", got, want)
	}
}

// While a model is silent the terminal counts the seconds, on one line; its first word leaves the line without them.
func TestAnswerCountsTheSecondsOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := terminaltest.New(t, 40, 10, RuneWidth)
		s := &Answer{Stdout: crlf{v}, Stderr: crlf{v}, Shared: true, Columns: 40}
		s.Show(messages.State{}, messages.Event{Body: messages.LLMStarted{}, Message: "asking qwen at 127.0.0.1:1234"})
		pass(12*time.Second + time.Millisecond)
		looks(t, v, "after twelve seconds", "asking qwen at 127.0.0.1:1234, 12 s\n")
		e := messages.Event{Body: messages.ThoughtDelta{Text: "Hm."}}
		if err := s.Print(e); err != nil {
			t.Fatal(err)
		}
		s.Show(messages.State{}, e)
		pass(time.Minute)
		s.End()
		looks(t, v, "after a thought", "asking qwen at 127.0.0.1:1234\nHm.\n")
	})
}

// A model that is silent while a task describes a repository shows the seconds in the task's row.
func TestLiveCountsTheSecondsOfAWait(t *testing.T) {
	onTerminal(t, 80, 20, func(v *terminaltest.Terminal, l *live, r *story) {
		r.begin("understand")
		r.say(messages.LLMStarted{Call: "c", Task: "understand", Model: "qwen"}, "asking qwen")
		pass(3*time.Second + 50*time.Millisecond)
		if text := v.Text(); !strings.Contains(text, "understand     3.0 s  asking qwen, 3 s\n") {
			t.Errorf("the terminal shows\n%s", text)
		}
		r.log(messages.LogWarn, "the model failed: no such luck")
		r.say(messages.LLMCompleted{Call: "c", Task: "understand", Model: "qwen", Evidence: "x", Verdict: "failed",
			Error: messages.Errorf("provider_error", "no such luck")}, "qwen: no such luck")
		r.say(messages.TaskCompleted{Task: "understand", Attempt: 1}, "understand completed")
		pass(time.Second)
		if text := v.Text(); !strings.HasPrefix(text, "⚠  understand     3.0 s\n") {
			t.Errorf("the terminal shows\n%s", text)
		}
	})
}

// crlf returns to the left at a line's end, as the kernel does for a terminal.
type crlf struct{ w io.Writer }

func (c crlf) Write(p []byte) (int, error) {
	_, err := io.WriteString(c.w, strings.ReplaceAll(string(p), "\n", "\r\n"))
	return len(p), err
}
