package door

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

// Question returns the oldest question of a run that has no answer, and false if there is none.
func Question(run messages.State) (messages.Input, bool) {
	i := slices.IndexFunc(run.Inputs, func(in messages.Input) bool { return !in.Closed })
	if i < 0 || run.Status.IsEnded() {
		return messages.Input{}, false
	}
	return run.Inputs[i], true
}

// choice is what the schema of a question offers.
type choice struct {
	Type any
	Enum []string
}

func choiceOf(schema json.RawMessage) (c choice) {
	if json.Unmarshal(schema, &c) != nil { // it offers something else
		c.Enum = nil
	}
	return c
}

// Prompt is a question as a text that lists what may be chosen, for clients that show nothing else.
func Prompt(asked messages.InputRequired) string {
	c := choiceOf(asked.Schema)
	if c.Type == "boolean" {
		c.Enum = []string{"yes", "no"}
	}
	if len(c.Enum) == 0 {
		return asked.Prompt
	}
	return asked.Prompt + "\n\n- " + strings.Join(c.Enum, "\n- ")
}

// AnswerText answers a question of a run of the caller with a text, which may be the JSON that the question asks for,
// or the beginning of a choice. Errors: those of Answer.
func (d *Door) AnswerText(ctx context.Context, run messages.State, request, text string) error {
	var schema json.RawMessage
	for _, in := range run.Inputs {
		if in.Request == request {
			schema = in.Schema
		}
	}
	return d.Answer(ctx, run.RunID, request, choiceOf(schema).value(text))
}

// Resume gives a run of the caller what its client answers, by the question; nil cancels the run. It returns the newest
// question that is among them, after which the client goes on. A client may send its answers again. Errors: not_found for
// the State of no run; invalid_input if the run asks none of it; those of Answer and Cancel.
func (d *Door) Resume(ctx context.Context, run messages.State, answers map[string]*string) (seen string, err error) {
	for _, asked := range run.Inputs {
		text, given := answers[asked.Request]
		if !given {
			continue
		}
		seen = asked.Request
		switch {
		case asked.Closed || run.Status.IsEnded():
		case text == nil:
			err = d.Cancel(ctx, run.RunID, "the question was cancelled")
		default:
			err = d.AnswerText(ctx, run, asked.Request, *text)
		}
		if err != nil {
			return "", err
		}
	}
	switch {
	case run.RunID == "":
		err = messages.Errorf(messages.CodeNotFound, "there is no run that asks this")
	case seen == "":
		err = messages.InvalidInput("the run %s asks nothing that is answered here", run.RunID)
	}
	return seen, err
}

// AnswerTurn answers with a text the oldest question of the newest run of the context. It returns the run's State, as it
// was before, and false if that run does not wait. Errors: those of Answer.
func (d *Door) AnswerTurn(ctx context.Context, context, text string) (run messages.State, asked messages.Input, ok bool, err error) {
	run, ok, err = d.Newest(ctx, context)
	if err == nil && ok {
		if asked, ok = Question(run); ok {
			err = d.AnswerText(ctx, run, asked.Request, text)
		}
	}
	return run, asked, ok, err
}

// value is what a text says to a question. Where several choices begin with it, the first counts: those of chat begin
// with what allows least.
func (c choice) value(text string) json.RawMessage {
	said := strings.ToLower(strings.Trim(text, " .!\n"))
	begins := func(one string) bool {
		rest, ok := strings.CutPrefix(strings.ToLower(one), said)
		next, _ := utf8.DecodeRuneInString(rest)
		return ok && !unicode.IsLetter(next) && !unicode.IsDigit(next)
	}
	chosen := slices.IndexFunc(c.Enum, func(one string) bool { return strings.EqualFold(one, said) })
	if chosen < 0 && said != "" {
		chosen = slices.IndexFunc(c.Enum, begins)
	}
	switch {
	case chosen >= 0:
		return JSON(c.Enum[chosen])
	case c.Type == "boolean" && (said == "yes" || said == "no"):
		return JSON(said == "yes")
	case c.Type == nil, c.Type == "string", !json.Valid([]byte(text)):
		return JSON(text)
	}
	return json.RawMessage(text)
}
