package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/testkit"
)

var controls = regexp.MustCompile(`\x1b\[[0-9;?<>=$]*[A-Za-z@` + "`" + `]|\x1b[^\[]`)

// shows reads until what the program wrote has the words, after what it had before.
func (s *session) shows(words string) {
	s.t.Helper()
	if !s.until(func() bool { return strings.Contains(controls.ReplaceAllString(s.raw.String(), ""), words) }) {
		s.t.Fatalf("the terminal never shows %q but\n%q", words, s.raw.String())
	}
	s.raw.Reset()
}

// answers lets the model say the words, and then end the turn.
func (s *session) answers(m *testkit.Exchange, words string) {
	s.t.Helper()
	must(s.t, m.Next())
	s.shows(words)
	must(s.t, m.Rest())
	s.shows("breaks a line") // a hint of the editor, in the place of the turn's
}

// talk starts a conversation on a terminal.
func talk(t *testing.T, m *testkit.Model, home string, flags ...string) *session {
	t.Helper()
	s := start(t, []string{"LASTWORD_BASE_URL=" + m.URL(), "HOME=" + home},
		append([]string{"lastword", "chat", "--model", "scripted"}, flags...)...)
	s.drawn = true
	s.shows("Ctrl-D leaves")
	return s
}

// A conversation remembers its turns; Ctrl-C ends a turn and not the conversation, Ctrl-D leaves, --resume goes on.
func TestTalk(t *testing.T) {
	m, home := testkit.NewModel(t), t.TempDir()
	say := func(words string) *testkit.Exchange {
		return m.Step(testkit.Text(words), testkit.Finish("stop"), testkit.Done())
	}
	day := say("Good **day**.")
	s := talk(t, m, home)
	s.keys("Hello\r")
	s.answers(day, "Good day.")
	slow := m.Answer(testkit.Text("It ra"), testkit.Stall())
	s.keys("And the weather?\r")
	s.shows("It ra")
	s.keys("\x03")
	s.shows("canceled")
	if !within(slow.Gone()) {
		t.Error("the server does not see that the turn is canceled")
	}
	rain := say("Rain.")
	s.keys("Again:\nwhat?\r")
	s.answers(rain, "Rain.")
	s.keys("\x04")
	s.ends(exit.Completed)

	bye := say("Bye.")
	s = talk(t, m, home, "--resume")
	s.keys("Bye\r")
	s.answers(bye, "Bye.")
	s.keys("/model\r")
	s.shows("scripted answers")
	s.keys("/new\r")
	s.shows("new conversation")
	two := say("Two.")
	s.keys("Another talk\r")
	s.answers(two, "Two.")
	s.keys("/resume\r") // titles tell two conversations apart
	if !s.until(func() bool { return regexp.MustCompile(`(?s)Another talk \(.*Hello \(`).MatchString(s.raw.String()) }) {
		t.Errorf("/resume shows %q", s.raw.String())
	}
	s.raw.Reset()
	s.keys("\x03")
	s.shows("again, or Ctrl-D") // the library writes only what has changed
	s.keys("\x03")
	s.ends(exit.Completed)
	requests := m.Requests()
	body := string(requests[len(requests)-2].Body) // the last is the other talk's
	fatal.IfLacking(t, body, `"Hello"`, `"Good **day**."`, `And the weather?`, `Again:\nwhat?`, `"Rain."`, `"Bye"`)
}

// A model with tools may ask the user, in place or line by line; each question gets its answer once.
func TestTalkAsks(t *testing.T) {
	m := testkit.NewModel(t)
	ask := func(arguments, thanks string) { // with words of its own: the terminal may show again what it has shown
		m.Answer(testkit.Call(0, "c", "ask_user", arguments), testkit.Finish("tool_calls"), testkit.Done())
		m.Answer(testkit.Text(thanks), testkit.Finish("stop"), testkit.Done())
	}
	told := func(answer string) {
		t.Helper()
		requests := m.Requests()
		if body := string(requests[len(requests)-1].Body); !strings.Contains(body, answer) {
			t.Errorf("the model is not told %q: %s", answer, body)
		}
	}
	s := talk(t, m, t.TempDir(), "--repository", garden(t))
	for second, thanks := range map[string]string{"ferns": "Thank you.", "sage": "Thanks again."} {
		ask(`{"question":"Which bed?","options":["roses","`+second+`"]}`, thanks)
		s.keys("Dig\r")
		s.shows("2. " + second)
		s.keys("9\r")
		s.shows("answer with a number from 1 to 2")
		s.keys("2\r")
		s.shows(thanks)
		told(`"content":"` + second + `"`)
	}
	ask(`{"question":"Sure?","confirm":true}`, "As you wish.")
	s.keys("Dig\r")
	s.shows("Sure?")
	s.keys("\x1b[27u") // Esc, as terminals with the keyboard protocol say it
	s.shows("As you wish.")
	told("the user declined to answer")
	s.keys("\x04")
	s.ends(exit.Completed)

	s = start(t, []string{"LASTWORD_BASE_URL=" + m.URL(), "HOME=" + t.TempDir()}, "lastword", "chat", "--progress", "plain",
		"--repository", garden(t))
	ask(`{"question":"Which bed?","options":["roses","ferns"]}`, "Thank you.")
	s.keys("/model\rDig\r")
	s.read("answers the next turn", 1)
	s.read("  2. ferns\n>", 1)
	s.keys("1\r")
	s.read("Thank you.", 1)
	told(`"content":"roses"`)
	s.keys("\x04")
	s.ends(exit.Completed)
	for _, control := range controls.FindAllString(s.raw.String(), -1) {
		if !strings.HasSuffix(control, "m") {
			t.Errorf("the terminal is told %q", control)
		}
	}
}
