package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Job returns a tool that runs the job in a sub-run of the turn's run, so that readers of the tree see its events. The
// model gets a description of the outcome: d.Say or else the field text of the result or, without such a field, the whole
// result. A repeated call continues with the same sub-run. Its timeout is the job's own or 10 minutes, and cancels the
// sub-run.
func Job(d actors.Definition) Tool {
	t := Tool{Name: d.Name, Description: d.Description, Parameters: d.Input.JSON(), Access: All, Network: d.OpenWorld,
		Idempotent: true, Outside: true, Timeout: cmp.Or(time.Duration(d.Limits.WallClockMS)*time.Millisecond, 10*time.Minute)}
	if d.ReadOnly {
		t.Access = Read
	}
	t.Run = func(ctx context.Context, c *Call) (string, error) {
		work, err := d.New(c.Arguments)
		if err != nil {
			return "", err
		}
		state, err := c.subRun(ctx, work, d.Limits)
		switch {
		case err != nil:
			return "", err
		case d.Summary != nil:
			return d.Summary(state), nil
		}
		return said(state)
	}
	return t
}

// subRun runs the work to its end, or cancels it.
func (c *Call) subRun(ctx context.Context, work actors.Job, limits messages.Limits) (messages.State, error) {
	run, err := c.Task.Start(ctx, work, actors.Options{Key: c.ID, Limits: limits})
	if err != nil {
		return messages.State{}, err
	}
	state, err := run.Wait(ctx)
	if err != nil {
		_ = run.Cancel(context.WithoutCancel(ctx), context.Cause(ctx).Error()) // else the turn waits for it
	}
	return state, err
}

// said describes the outcome of a sub-run, or returns its error.
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
