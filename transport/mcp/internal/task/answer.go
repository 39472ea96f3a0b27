package task

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Resumed says which run a retried call continues.
type Resumed struct {
	Run messages.RunID
	// After is the number of the last event that the earlier call sent to the client.
	After uint64
	// Unanswered says that the user gave no answer, so that the run keeps waiting.
	Unanswered bool
}

// Resume finds the run that a retried call continues, and passes it the answers. It returns nil for a new call. A
// requestState that is not valid for the call is the client's error; Resume sets it as the error of the exchange.
func (a *Asker) Resume(ctx context.Context, req mcp.CallToolRequest) (_ *Resumed, err error) {
	if req.Params.RequestState == "" {
		return nil, nil
	}
	defer func() { wire.Fail(ctx, err) }()
	c, err := open(a.keys, req.Params.RequestState, auth.From(ctx).Name, callOf(req), time.Now())
	if err != nil {
		return nil, err
	}
	state, err := a.runs.Own(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	answers := map[string]json.RawMessage{} // responses to anything else were not asked for by this call
	for _, request := range c.Questions {
		if r, ok := req.Params.InputResponses[request]; ok {
			answers[request], _ = json.Marshal(r)
		}
	}
	unanswered, _, err := a.Answer(ctx, state, answers) // answers that do not fit are asked for again
	return &Resumed{c.Run, c.After, unanswered}, err
}

// Answer passes the responses to the run's wishes and open questions, and returns when they are visible in its State. It ignores
// unknown and outdated keys. unanswered says that a response had no answer. bad says why a response could not be used.
func (a *Asker) Answer(ctx context.Context, state messages.State, responses map[string]json.RawMessage) (unanswered bool, bad, err error) {
	a.grant(state.RunID, responses)
	answered := map[string]bool{}
	for _, q := range wire.Questions(state) {
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
			unanswered = true
			continue
		}
		err := a.runs.Answer(ctx, door.Dialogue, state.RunID, q.Request, value)
		switch code := messages.CodeOf(err); {
		case code == messages.CodeNotFound || code == messages.CodeConflict: // somebody else answered first
		case code == messages.CauseInvalidInput:
			bad = err
		case err != nil:
			return unanswered, bad, err
		default:
			answered[q.Request] = true
		}
	}
	if len(answered) == 0 {
		return unanswered, bad, nil
	}
	_, err = a.runs.Until(ctx, state, func(e messages.Event) bool {
		if r, ok := e.Body.(messages.InputReceived); ok {
			delete(answered, r.Request)
		}
		return len(answered) == 0
	})
	return unanswered, bad, err
}

// valueOf returns the answer in a response. It is null, which the job gets to see, if the user declined. It is nil if
// the user cancelled the dialog or the client cannot ask.
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
	return nil, messages.InvalidInput(`the response to %q must be {"action": "accept", "content": {...}}, or decline or cancel`, q.Request)
}
