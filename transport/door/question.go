package door

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Question returns the oldest open question of a run. ok is false if the run waits for no answer.
func Question(run messages.State) (messages.Input, bool) {
	i := slices.IndexFunc(run.Inputs, func(in messages.Input) bool { return !in.Closed })
	if i < 0 || run.Status.IsEnded() {
		return messages.Input{}, false
	}
	return run.Inputs[i], true
}

// choice is the part of a question's JSON Schema that says what may be chosen.
type choice struct {
	Type any
	Enum []string
}

func choiceOf(schema json.RawMessage) (c choice) {
	if json.Unmarshal(schema, &c) != nil { // the schema has another form
		c.Enum = nil
	}
	return c
}

// Shown returns the question for clients that show Markdown. A confirmation is a block of code, in which Markdown can
// hide nothing.
func Shown(question messages.InputRequired) string {
	if !confirms(question.InputKind) {
		return question.Prompt
	}
	fence := "```"
	for strings.Contains(question.Prompt, fence) {
		fence += "`"
	}
	return fence + "\n" + question.Prompt + "\n" + fence
}

// Prompt returns the question as text with a list of the choices, for clients that can only show text.
func Prompt(question messages.InputRequired) string {
	shown, c := Shown(question), choiceOf(question.Schema)
	if c.Type == "boolean" {
		c.Enum = []string{"yes", "no"}
	}
	if len(c.Enum) == 0 {
		return shown
	}
	return shown + "\n\n- " + words.Visible(strings.Join(c.Enum, "\n- "))
}

// AnswerText answers a question of the caller's run. The text may be the JSON that the question asks for, or the
// beginning of a choice. Errors: as for [Door.Answer].
func (d *Door) AnswerText(ctx context.Context, by By, run messages.State, request, text string) error {
	var schema json.RawMessage
	for _, in := range run.Inputs {
		if in.Request == request {
			schema = in.Schema
		}
	}
	return d.Answer(ctx, by, run.RunID, request, choiceOf(schema).value(text))
}

// Resume gives the caller's run the client's answers, by the name of the question; a nil answer cancels the run. It
// returns the newest of these questions: the client's next part begins after it. A client may repeat its answers.
// Errors: not_found if run is the zero State; invalid_input if the run asked none of the questions; and the errors
// of [Door.Answer] and [Door.Cancel].
func (d *Door) Resume(ctx context.Context, by By, run messages.State, answers map[string]*string) (seen string, err error) {
	for _, question := range run.Inputs {
		text, given := answers[question.Request]
		if !given {
			continue
		}
		seen = question.Request
		switch {
		case question.Closed || run.Status.IsEnded():
		case text == nil:
			err = d.Cancel(ctx, run.RunID, "the question was cancelled")
		default:
			err = d.AnswerText(ctx, by, run, question.Request, *text)
		}
		if err != nil {
			return "", err
		}
	}
	switch {
	case run.RunID == "":
		err = messages.Errorf(messages.CodeNotFound, "no run asks this question")
	case seen == "":
		err = messages.InvalidInput("the run %s has asked none of these questions", run.RunID)
	}
	return seen, err
}

// AnswerTurn answers the oldest open question of the newest run in the conversation. It returns the run's State from
// before the answer, and ok is false if that run does not wait. Errors: as for [Door.Answer].
func (d *Door) AnswerTurn(ctx context.Context, by By, context, text string) (run messages.State, question messages.Input, ok bool, err error) {
	run, ok, err = d.Newest(ctx, context)
	if err == nil && ok {
		if question, ok = Question(run); ok {
			err = d.AnswerText(ctx, by, run, question.Request, text)
		}
	}
	return run, question, ok, err
}

// value returns the JSON value that the text stands for. If several choices begin with the text, the first one wins:
// the job chat lists the choice that allows least first.
func (c choice) value(text string) json.RawMessage {
	words := strings.ToLower(strings.Trim(text, " .!\n"))
	begins := func(one string) bool {
		rest, ok := strings.CutPrefix(strings.ToLower(one), words)
		next, _ := utf8.DecodeRuneInString(rest)
		return ok && !unicode.IsLetter(next) && !unicode.IsDigit(next)
	}
	chosen := slices.IndexFunc(c.Enum, func(one string) bool { return strings.EqualFold(one, words) })
	if chosen < 0 && words != "" {
		chosen = slices.IndexFunc(c.Enum, begins)
	}
	switch {
	case chosen >= 0:
		return JSON(c.Enum[chosen])
	case c.Type == "boolean" && (words == "yes" || words == "no"):
		return JSON(words == "yes")
	case c.Type == nil, c.Type == "string", !json.Valid([]byte(text)):
		return JSON(text)
	}
	return json.RawMessage(text)
}
