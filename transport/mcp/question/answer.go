package question

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Resume finds the run that a retried call goes on with, and gives it the answers. ok is false for a call that is
// new. A state that is not to be trusted is the client's error, and set as the exchange's.
func (a *Asker) Resume(ctx context.Context, req mcp.CallToolRequest) (
	id messages.RunID, after uint64, ok bool, err error,
) {
	if req.Params.RequestState == "" {
		return "", 0, false, nil
	}
	c, err := a.signer.open(req.Params.RequestState, auth.From(ctx).Name, callOf(req), time.Now())
	if err == nil {
		err = a.settle(ctx, c, req.Params.InputResponses)
	}
	if err != nil {
		if fail, ok := errors.AsType[*wire.Error](caller.RPCError(err)); ok {
			wire.From(ctx).Fail(fail)
		}
		return "", 0, false, err
	}
	return c.Run, c.After, true, nil
}

// settle gives the run the answers to what it was asked for in the claims. What does not fit is asked for again, and
// what has an answer already is left.
func (a *Asker) settle(ctx context.Context, c claims, responses mcp.InputResponses) error {
	state, err := a.runs.Own(ctx, c.Run)
	if err != nil {
		return err
	}
	answers := map[string]json.RawMessage{}
	for _, request := range c.Questions {
		if r, ok := responses[request]; ok {
			answers[request], _ = json.Marshal(r)
		}
	}
	_, err = a.Answer(ctx, state, answers)
	return err
}

// Answer gives the run the responses to the questions that are open, and returns when they are in its State. Unknown
// and stale keys are passed over; bad says why a response could not be used.
func (a *Asker) Answer(ctx context.Context, state messages.State, responses map[string]json.RawMessage) (
	bad, err error,
) {
	given := map[string]bool{}
	for _, q := range caller.Questions(state) {
		response, ok := responses[q.Request]
		if !ok {
			continue
		}
		taken, why, err := a.take(ctx, state.RunID, q, response)
		if err != nil {
			return nil, err
		}
		if why != nil {
			bad = why
		}
		if taken {
			given[q.Request] = true
		}
	}
	return bad, a.await(ctx, state, given)
}

// take gives the run one response: an answer, or a refusal to give one, which cancels the run.
func (a *Asker) take(ctx context.Context, id messages.RunID, q messages.Input, response json.RawMessage) (
	taken bool, bad, err error,
) {
	var r struct {
		Action  mcp.ElicitationResponseAction `json:"action"`
		Content json.RawMessage               `json:"content"`
	}
	if json.Unmarshal(response, &r) != nil {
		return false, badResponse(q), nil
	}
	by := auth.From(ctx).Name
	switch r.Action {
	case mcp.ElicitationResponseActionAccept:
		value, err := formOf(q.Schema).answer(r.Content)
		if err != nil {
			return false, err, nil
		}
		err = a.runs.Answer(ctx, id, q.Request, value, by)
		switch messages.CodeOf(err) {
		case messages.CodeNotFound, messages.CodeConflict: // somebody was quicker
			return false, nil, nil
		}
		return err == nil, nil, err
	case mcp.ElicitationResponseActionDecline:
		return false, nil, a.runs.Cancel(ctx, id, by, "declined to answer: "+q.Prompt)
	case mcp.ElicitationResponseActionCancel:
		return false, nil, a.runs.Cancel(ctx, id, by, "left unanswered: "+q.Prompt)
	}
	return false, badResponse(q), nil
}

func badResponse(q messages.Input) error {
	return messages.InvalidInput(`the response to %q must be {"action": "accept", "content": {...}}, or decline or cancel`, q.Request)
}

// await returns when the answers that the run was given can be seen, or the run has ended.
func (a *Asker) await(ctx context.Context, state messages.State, given map[string]bool) error {
	if len(given) == 0 {
		return nil
	}
	for e, err := range a.runs.Events(ctx, state.RunID, state.Seq) {
		if err != nil {
			return err
		}
		if r, ok := e.Body.(messages.InputReceived); ok {
			delete(given, r.Request)
		}
		if len(given) == 0 {
			break
		}
	}
	return nil
}
