package main

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/testkit"
)

// Who watches sees the thought, dim, and then the answer, as they come; Ctrl-C ends both.
func TestPromptOnATerminal(t *testing.T) {
	m := testkit.NewModel(t)
	read := make(chan struct{})
	x := m.Answer(testkit.Thought("Hm, "), testkit.Thought("well."), testkit.Until(read),
		testkit.Text("Hello\x1b[2J"), testkit.Stall())
	s := start(t, []string{"LASTWORD_BASE_URL=" + m.URL()}, "lastword", "prompt", "--model", "scripted", "Hi")
	s.read("\nHm, well.", 1)
	close(read)
	s.read("\nHello[2J", 1)
	s.keys("\x03")
	s.ends(exit.Interrupted)
	if !within(x.Gone()) {
		t.Error("the server does not see that the connection was closed")
	}
	text := s.screen.Text()
	if strings.Contains(text, "run.queued") || !strings.Contains(text, "at once\n\ncanceled after ") {
		t.Errorf("the terminal shows\n%s", text)
	}
	if raw := s.raw.String(); !strings.Contains(raw, "\x1b[2mHm,") || strings.Contains(raw, "\x1b[2J") {
		t.Errorf("the terminal is told\n%q", raw)
	}
}

// JSON steers no terminal either: what could is escaped there.
func TestJSONOnATerminal(t *testing.T) {
	for _, flag := range []string{"--jsonl", "--json"} {
		m := testkit.NewModel(t)
		m.Answer(testkit.Text("a\u009b2Jb\u202ec"), testkit.Finish("stop"), testkit.Done())
		s := start(t, []string{"LASTWORD_BASE_URL=" + m.URL()}, "lastword", "prompt", "--model", "scripted", flag, "Hi")
		s.ends(0)
		if raw := s.raw.String(); !strings.Contains(raw, `a\u009b2Jb\u202ec`) || strings.ContainsAny(raw, "\u009b\u202e") {
			t.Errorf("%s: the terminal is told\n%q", flag, raw)
		}
	}
}

func TestPromptAsksForATextOnATerminal(t *testing.T) {
	s := start(t, nil, "lastword", "prompt")
	s.ends(exit.Usage)
	if !strings.Contains(s.screen.Text(), "prompt needs a text") {
		t.Errorf("the terminal shows\n%s", s.screen.Text())
	}
}
