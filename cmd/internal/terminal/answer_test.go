package terminal

import (
	"bytes"
	"testing"

	"github.com/seed889630bf/lastword/actors/prompt"
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
		tell(messages.TextDelta{Stream: prompt.Stream, Offset: said, Text: text}, "")
		said += len(text)
	}
	tell(messages.LLMStarted{}, "asking\x1b[2J qwen")
	tell(messages.ThoughtDelta{Text: "Hm\x1b[31m, "}, "")
	tell(messages.Merged{Parts: []messages.Body{messages.Progress{}, messages.ThoughtDelta{Text: "well."}}}, "")
	tell(messages.ThoughtDone{}, "")
	say("Hel")
	tell(messages.TextDelta{Stream: prompt.Stream, Offset: 0, Text: "Hello"}, "") // merged with what was printed
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
