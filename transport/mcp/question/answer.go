package question

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
)

// Resumed is the run that a retried call goes on with.
type Resumed struct {
	Run messages.RunID
	// After is the number of the last event that the call sent to the client.
	After uint64
	// Left says that the client's user gave no answer: the run waits on.
	Left bool
}

// Resume finds the run that a retried call goes on with, and gives it the answers; nil for a call that is new. A state
// that is not to be trusted is the client's error, and set as the exchange's.
func (a *Asker) Resume(ctx context.Context, req mcp.CallToolRequest) (_ *Resumed, err error) {
	if req.Params.RequestState == "" {
		return nil, nil
	}
	defer func() { caller.Fail(ctx, err) }()
	c, err := a.signer.open(req.Params.RequestState, auth.From(ctx).Name, callOf(req), time.Now())
	if err != nil {
		return nil, err
	}
	state, err := a.runs.Own(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	answers := map[string]json.RawMessage{} // others were not asked for by this call
	for _, request := range c.Questions {
		if r, ok := req.Params.InputResponses[request]; ok {
			answers[request], _ = json.Marshal(r)
		}
	}
	left, _, err := a.Answer(ctx, state, answers) // what does not fit is asked for again
	return &Resumed{c.Run, c.After, left}, err
}

// Answer gives the run the responses to the questions that are open, and returns when they are in its State. Unknown
// and stale keys are passed over; left says that there is a response without an answer, and bad why a response could
// not be used.
func (a *Asker) Answer(ctx context.Context, state messages.State, responses map[string]json.RawMessage) (
	left bool, bad, err error,
) {
	given := map[string]bool{}
	for _, q := range caller.Questions(state) {
		response, ok := responses[q.Request]
		if !ok {
			continue
		}
		value, why := valueOf(q, response)
		switch {
		case why != nil:
			bad = why
			continue
		case value == nil:
			left = true
			continue
		}
		err := a.runs.Answer(ctx, state.RunID, q.Request, value)
		switch code := messages.CodeOf(err); {
		case code == messages.CodeNotFound || code == messages.CodeConflict: // somebody was quicker
		case code == messages.CauseInvalidInput:
			bad = err
		case err != nil:
			return left, bad, err
		default:
			given[q.Request] = true
		}
	}
	return left, bad, a.await(ctx, state, given)
}

// valueOf returns the answer in a response: null, which the job sees, where the user declined to give one, and none
// where the user, or a host that cannot ask, left the question alone.
func valueOf(q messages.Input, response json.RawMessage) (json.RawMessage, error) {
	var r struct {
		Action  mcp.ElicitationResponseAction `json:"action"`
		Content json.RawMessage               `json:"content"`
	}
	_ = json.Unmarshal(response, &r)
	switch r.Action {
	case mcp.ElicitationResponseActionAccept:
		return formOf(q.Schema).answer(r.Content)
	case mcp.ElicitationResponseActionDecline:
		return json.RawMessage("null"), nil
	case mcp.ElicitationResponseActionCancel:
		return nil, nil
	}
	return nil, badResponse(q)
}

func badResponse(q messages.Input) error {
	return messages.InvalidInput(`the response to %q must be {"action": "accept", "content": {...}}, or decline or cancel`, q.Request)
}

// await returns when the answers that the run was given can be seen, or the run has ended.
func (a *Asker) await(ctx context.Context, state messages.State, given map[string]bool) error {
	if len(given) == 0 {
		return nil
	}
	_, err := a.runs.Until(ctx, state, func(e messages.Event) bool {
		if r, ok := e.Body.(messages.InputReceived); ok {
			delete(given, r.Request)
		}
		return len(given) == 0
	})
	return err
}
