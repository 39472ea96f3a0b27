package completions

import (
	"context"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
)

// maxTurns is how many runs are looked at for the one that asked, the newest.
const maxTurns = 32

// answered gives the text to the question that the chat of the label waits for, if there is one. If the client does not know
// the chat that is the question of a run whose conversation the client repeats, up to the question.
func (d handler) answered(ctx context.Context, known bool, label string, t door.Turn) (run messages.RunID, question string,
	err error) {
	most := 1
	if !known {
		if len(t.Earlier) == 0 {
			return "", "", nil
		}
		most = maxTurns
	}
	if t.Text == "" || len(t.Functions) > 0 {
		return "", "", nil
	}
	turns, err := d.Turns(ctx, label, most)
	for _, one := range turns {
		if one.Status.IsEnded() {
			continue
		}
		state, err := d.Run(ctx, one.RunID)
		if err != nil {
			return "", "", err
		}
		if asked, waits := door.Question(state); waits && (known || d.repeats(t, state, asked)) {
			return state.RunID, asked.Request, d.AnswerText(ctx, state, asked.Request, t.Text)
		}
	}
	return "", "", err
}

// repeats reports whether what was said before the turn is the conversation of the run, up to its question.
func (d handler) repeats(t door.Turn, run messages.State, asked messages.Input) bool {
	said := d.Conversation(run)
	if n := len(said); n > 0 && said[n-1].Role == model.Assistant { // the client's has the question as well
		said = said[:n-1]
	}
	last := t.Earlier[len(t.Earlier)-1]
	same := func(a, b model.Message) bool { return a.Role == b.Role && a.Content == b.Content }
	return len(said) < len(t.Earlier) && slices.EqualFunc(said, t.Earlier[:len(said)], same) &&
		last.Role == model.Assistant && strings.HasSuffix(last.Content, door.Prompt(messages.InputRequired{Prompt: asked.Prompt, Schema: asked.Schema}))
}
