package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/seed889630bf/lastword/actors"
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
		run, err := c.Task.Start(ctx, work, actors.Options{Key: c.ID, Limits: d.Limits})
		if err != nil {
			return "", err
		}
		state, err := run.Wait(ctx)
		switch {
		case err != nil:
			_ = run.Cancel(context.WithoutCancel(ctx), context.Cause(ctx).Error()) // else the turn waits for it
			return "", err
		case d.Summary != nil:
			return d.Summary(state), nil
		}
		return said(run.Result(ctx))
	}
	return t
}

// said describes the result of a sub-run, or returns why it has none.
func said(data json.RawMessage, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var result struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &result) == nil && result.Text != "" {
		return result.Text, nil
	}
	return string(data), nil
}
