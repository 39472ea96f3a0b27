package task

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Asker asks the user of the calling client what runs ask, and passes the answers to the runs.
type Asker struct {
	runs wire.Runs
	keys seal.Keys

	mu     sync.Mutex
	wishes map[string]*Wish // by name
}

// NewAsker returns an Asker. keys seal the states that clients carry.
func NewAsker(runs wire.Runs, keys seal.Keys) *Asker {
	return &Asker{runs: runs, keys: keys, wishes: map[string]*Wish{}}
}

// Required returns the result of a call, from 2026-07-28 on, whose run waits for answers: the questions, the wishes, and the
// sealed state with which the retried call finds the run.
func (a *Asker) Required(ctx context.Context, req mcp.CallToolRequest, state messages.State) *mcp.CallToolResult {
	c := claims{Run: state.RunID, After: state.Seq, Principal: auth.From(ctx).Name, Call: callOf(req),
		Expires: time.Now().Add(stateLife).Unix()}
	x := wire.From(ctx)
	requests := a.Wishes(x, state.RunID)
	if x.Elicits() {
		for _, q := range wire.Questions(state) {
			requests[q.Request] = mcp.NewElicitationInputRequest(Elicitation(q))
		}
	}
	c.Questions = slices.Collect(maps.Keys(requests))
	plain, _ := json.Marshal(c) // it has strings and numbers
	return &mcp.CallToolResult{Result: mcp.Result{ResultType: mcp.ResultTypeInputRequired},
		MultiRoundTripResult: mcp.MultiRoundTripResult{InputRequests: requests, RequestState: a.keys.Seal(stateUse, plain)}}
}

// mostAsked is how often one call repeats a question whose answers do not fit.
const mostAsked = 10

// Elicit asks the user of a client with a session for the oldest open question of the run, and returns the State after
// the answer. If the question is answered elsewhere in the meantime, Elicit withdraws it. asked is false if the client
// cannot ask, or if the user gave no answer: the run keeps waiting. meta is sent with the question.
func (a *Asker) Elicit(ctx context.Context, x *wire.Exchange, state messages.State, meta *mcp.Meta) (
	now messages.State, asked bool, err error,
) {
	if !x.Elicits() || !auth.From(ctx).May(auth.WriteRuns) {
		return state, false, nil
	}
	open := wire.Questions(state)[0]
	q := Elicitation(open)
	q.Meta = meta
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		if _, err := a.runs.Until(asking, state, func(e messages.Event) bool {
			r, ok := e.Body.(messages.InputReceived)
			return ok && r.Request == open.Request || e.Kind() == messages.KindRunCanceling
		}); err == nil {
			stop()
		}
	}()
	for range mostAsked {
		var response json.RawMessage
		err := x.Ask(asking, mcp.MethodElicitationCreate, q, &response)
		switch {
		case ctx.Err() != nil:
			return state, false, context.Cause(ctx)
		case asking.Err() != nil: // it was answered elsewhere
			now, err = a.runs.State(ctx, state.RunID)
			return now, true, err
		case err != nil: // the client cannot ask after all
			return state, false, nil
		}
		unanswered, bad, err := a.Answer(ctx, state, map[string]json.RawMessage{open.Request: response})
		if unanswered || err != nil {
			return state, false, err
		}
		if bad == nil {
			now, err = a.runs.State(ctx, state.RunID)
			return now, true, err
		}
	}
	return state, false, nil
}

func callOf(req mcp.CallToolRequest) string {
	return callDigest(req.Params.Name, req.GetRawArguments())
}

// Elicitation returns the question in the form of the protocol.
func Elicitation(q messages.Input) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: q.Prompt, RequestedSchema: formOf(q.Schema).requested}
}
