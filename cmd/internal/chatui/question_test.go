package chatui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

func TestForm(t *testing.T) {
	for _, c := range fatal.Table[[]struct {
		Name, Schema, Want, Shows string
		Kind                      messages.InputKind
		Answers                   []string // those that are no answers have a problem
	}](t, "testdata/forms.json") {
		f := newForm(messages.Input{Request: "q", Prompt: "Which?", Kind: c.Kind, Schema: json.RawMessage(c.Schema)})
		if got := shown(f.lines(same, 80)); !strings.Contains(got, "? Which?") || !strings.Contains(got, c.Shows) {
			t.Errorf("%s shows\n%s", c.Name, got)
		}
		done := false
		for _, text := range c.Answers {
			if done {
				t.Errorf("%s has its answer before %q", c.Name, text)
			}
			for ; strings.HasPrefix(text, "<"); text = text[strings.Index(text, ">")+1:] {
				f.press(text[1:strings.Index(text, ">")], &editor{})
			}
			done = f.answer(text)
		}
		if !done || string(f.value()) != c.Want {
			t.Errorf("%s: %t, %s, want %s", c.Name, done, f.value(), c.Want)
		}
	}
}

// A question is shown whole before an answer counts, page by page, also where there is room for a few rows alone.
func TestLongQuestions(t *testing.T) {
	ends := "beginning " + strings.Repeat("harmless ", 4000) + "the end"
	var plain strings.Builder
	answers := []string{"yes", "", "yes"} // the first two turn pages
	value, err := Ask(messages.Input{Prompt: ends, Kind: messages.InputConfirmation}, same,
		func(text string) { plain.WriteString(text + " ") },
		func() (string, error) {
			answer := answers[0]
			answers = answers[1:]
			if shown := strings.Contains(plain.String(), "the end"); shown != (len(answers) == 0) {
				t.Errorf("with %d answers left the end is shown: %t", len(answers), shown)
			}
			return answer, nil
		})
	if string(value) != "true" || err != nil || len(answers) > 0 || !strings.Contains(plain.String(), "beginning ") {
		t.Errorf("%s, %v; %d answers left", value, err, len(answers))
	}
	u := &ui{Options: Options{Redact: same}, columns: 80, rows: 24, run: deaf{}}
	u.form = newForm(messages.Input{Prompt: ends[:2000] + "the end", Kind: messages.InputConfirmation})
	u.present()
	if got := strings.Join(u.queue, " "); !strings.Contains(got, "beginning") || !strings.Contains(got, "the end") {
		t.Errorf("above the view stands %q", got)
	}
}

func same(text string) string { return text }

// deaf is a run that takes no answer.
type deaf struct{ Run }

func (deaf) Answer(context.Context, string, json.RawMessage) error { return errors.New("not now") }

// A question is gone once it is answered, and comes back if the run does not take the answer.
func TestQuestionIsAnsweredOnce(t *testing.T) {
	s := tell(t)
	s.event(messages.InputRequired{Request: "city", Task: "turn", Prompt: "Which city?"}, "")
	u := &ui{Options: Options{Redact: same}, ctx: t.Context(), columns: 80, rows: 24, run: deaf{}, turn: s.turn}
	asks := func(want bool) {
		t.Helper()
		if got := strings.Contains(u.View().Content, "city?"); got != want {
			t.Errorf("the question is on the screen: %t", got)
		}
	}
	u.see(nil)
	asks(true)
	u.reply.insert("Oslo")
	refused := u.press(tea.KeyPressMsg{Code: tea.KeyEnter})()
	asks(false)
	u.see(nil)
	asks(false)
	u.Update(refused)
	asks(true)
}

// Without a terminal a question is text, with a command that answers it as it stands.
func TestAskElsewhere(t *testing.T) {
	var out strings.Builder
	a := Asker{In: strings.NewReader(""), Out: &out, Redact: same, Command: " --server http://x"}
	_, err := a.Ask(t.Context(), "r_1", messages.InputRequired{Request: "q#1", Prompt: "Publish it?", Schema: json.RawMessage(
		`{"type":"object","required":["now"],"properties":{"channel":{"enum":["mail's","web"]},"now":{"type":"boolean"},"day":{"type":"string","format":"date"}}}`)})
	want := `? Publish it?
channel
  1. mail's
  2. web
now (y or n)
day (such as 2030-12-31)
  lastword runs answer r_1 'q#1' '{"channel": "mail'\''s", "now": true, "day": "2030-12-31"}' --server http://x
`
	if !errors.Is(err, errElsewhere) || out.String() != want {
		t.Errorf("%v: %q, want %q", err, out.String(), want)
	}
}
