package completions

import (
	"context"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
)

// maxTurns is how many of the newest runs are searched for the one that asked.
const maxTurns = 32

// answered uses the text to answer the question of the chat with the label, if a question is open. If the client does
// not name the chat (known is false), it looks for a run whose conversation, up to its question, the client repeats.
func (d handler) answered(ctx context.Context, known bool, label string, t door.Turn) (run messages.RunID, question string, err error) {
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

// repeats reports whether the messages before the turn are the conversation of the run up to its question.
func (d handler) repeats(t door.Turn, run messages.State, asked messages.Input) bool {
	said := d.Conversation(run)
	if n := len(said); n > 0 && said[n-1].Role == model.Assistant { // the client's last message contains the question too
		said = said[:n-1]
	}
	last := t.Earlier[len(t.Earlier)-1]
	same := func(a, b model.Message) bool { return a.Role == b.Role && a.Content == b.Content }
	return len(said) < len(t.Earlier) && slices.EqualFunc(said, t.Earlier[:len(said)], same) &&
		last.Role == model.Assistant && strings.HasSuffix(last.Content, door.Prompt(messages.InputRequired{Prompt: asked.Prompt, Schema: asked.Schema}))
}
