package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/messages/model"
)

// Notes for the model.
const (
	ofAgent = "(A message from an agent, not from the user.)\n"
	cutHere = "(This answer was interrupted here.)"
)

// label returns the name of the next call of the model.
func (u *turn) label() string { return fmt.Sprintf("%s.%d", u.voice, u.spent.iterations+1) }

// hear adds what was said to the run to the conversation, before the next call of the model. A later attempt hears it
// where the log says that it was heard, and hears nothing new where the answer is known.
func (u *turn) hear(ctx context.Context) (heard bool, err error) {
	at := u.label()
	msgs := u.past.Messages[at]
	delete(u.past.Messages, at)
	if !u.past.Has(at) {
		fresh, failed := u.task.Messages(ctx, at)
		msgs, err = append(msgs, fresh...), failed
	}
	for _, one := range msgs {
		message := model.Message{Role: model.User, Content: one.Content}
		if one.Agent {
			message.Content = ofAgent + model.Neutral(one.Content)
		}
		u.conversation, u.unseen = append(u.conversation, message), append(u.unseen, one.Message)
		if u.memory != nil { // also what the stages keep aside
			err = cmp.Or(err, u.memory.Say(message))
		}
	}
	return len(msgs) > 0, err
}

// converse asks the model until it has answered in whole, and has seen what was said to the run meanwhile.
func (u *turn) converse(ctx context.Context) (call.Answer, error) {
	for {
		a, err := u.ask(ctx)
		over := err != nil || len(a.Calls) > 0 || u.spent.iterations+1 >= u.Bounds.Iterations
		if errors.Is(err, actors.ErrInterrupted) && ctx.Err() == nil {
			u.spent.asked(nil, u.Tools, "")
			if err = u.Bounds.exceeded(u.spent); err != nil {
				return a, err
			}
			continue
		}
		if over {
			return a, err
		}
		u.spent.iterations++
		if heard, err := u.hear(ctx); err != nil || !heard {
			return a, err
		}
	}
}
