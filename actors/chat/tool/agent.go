package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// deepest bounds how many agents start one another.
const deepest = 5

type instruction struct {
	Prompt string `json:"prompt" jsonschema:"the whole task, with all that the agent must know"`
}

// Agent makes t run a job in a sub-run of the turn's run: whoever watches the tree sees its events. The model gets the
// text of its result, or all of the result if that has no field text. A call that is repeated goes on with the same
// sub-run. Its timeout is 10 minutes if t has none, and cancels the sub-run.
func Agent(t Tool, job func(prompt string) (actors.Job, error)) Tool {
	t.Idempotent, t.Outside, t.Timeout = true, true, cmp.Or(t.Timeout, 10*time.Minute)
	return TaskFunc(t, func(ctx context.Context, c *Call, in instruction) (string, error) {
		if strings.Count(string(c.Task.RunID()), ".c") >= deepest {
			return "", messages.Errorf(messages.CauseLimitExceeded,
				"agents may start one another %d times; do the work without %s", deepest, t.Name)
		}
		work, err := job(in.Prompt)
		if err != nil {
			return "", err
		}
		run, err := c.Task.Start(ctx, work, actors.Options{Key: c.ID})
		if err != nil {
			return "", err
		}
		state, err := run.Wait(ctx)
		if err != nil {
			_ = run.Cancel(context.WithoutCancel(ctx), context.Cause(ctx).Error()) // else the turn waits for it
			return "", err
		}
		return said(state)
	})
}

func said(state messages.State) (string, error) {
	if state.Status != messages.Completed {
		why := cmp.Or(state.End.Error, &messages.Error{Message: "it was canceled"})
		return "", messages.Errorf(cmp.Or(state.End.Cause, "canceled_by_user"), "the agent failed: %s", why.Message)
	}
	var result struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(state.End.Result, &result) == nil && result.Text != "" {
		return result.Text, nil
	}
	return string(state.End.Result), nil
}
