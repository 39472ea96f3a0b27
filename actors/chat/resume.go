package chat

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// recall finds what earlier attempts have done, so that answers and results in the log are used again. The outcome of
// a call that had begun but not ended is unknown: if its tool is not idempotent, the turn ends here.
func (u *turn) recall(ctx context.Context) (err error) {
	if u.past, err = call.Recall(ctx, u.task); err != nil {
		return err
	}
	var open []string
	for _, id := range slices.Sorted(maps.Keys(u.past.Tools)) {
		c := u.past.Tools[id]
		if c.Ended {
			continue
		}
		open = append(open, id)
		if !u.Tools.Idempotent(c.Name) {
			err = messages.Errorf(messages.CauseNodeLost,
				"the node was lost during the call %s of %s, which must not be made twice", id, c.Name)
		}
	}
	if err == nil {
		return nil
	}
	for _, id := range open {
		lost := messages.Errorf(messages.CauseNodeLost, "the node was lost before the call ended")
		if err := u.task.Conclude(messages.ToolCompleted{Call: id, Error: lost}, lost.Message); err != nil {
			return err
		}
	}
	return err
}

// resultOf returns the result of a call that ended in an earlier attempt.
func resultOf(c call.Tool) (r tool.Result) {
	if c.Error != nil {
		return tool.Failed(c.Error)
	}
	_ = json.Unmarshal(c.Result, &r.Text) // conclude wrote it
	return r
}

// willRepeat reports whether the next node will repeat the call, because this node shuts down. Then the call gets no end
// here.
func (u *turn) willRepeat(ctx context.Context, c model.ToolCall) bool {
	down := ctx.Err() != nil && messages.CodeOf(context.Cause(ctx)) == messages.CauseShutdown
	return down && u.Tools.Idempotent(c.Name)
}
