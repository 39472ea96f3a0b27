package question

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Asker puts the questions of runs to the clients that call, and gives the runs the answers.
type Asker struct {
	runs   caller.Runs
	signer signer
}

// New returns an Asker that signs with the key what clients carry for it; a random key if there is none.
func New(runs caller.Runs, key []byte) *Asker { return &Asker{runs, newSigner(key)} }

// Required is what a call of 2026-07-28 answers whose run waits for answers: the questions for the client, with the
// signed state that finds the run again.
func (a *Asker) Required(ctx context.Context, req mcp.CallToolRequest, state messages.State) *mcp.CallToolResult {
	c := claims{Run: state.RunID, After: state.Seq, Principal: auth.From(ctx).Name, Call: callOf(req),
		Expires: time.Now().Add(stateLife).Unix()}
	b := server.NewInputRequestBuilder("")
	for _, q := range caller.Questions(state) {
		c.Questions = append(c.Questions, q.Request)
		b.Elicit(q.Request, Elicitation(q))
	}
	return b.RequestState(a.signer.sign(c)).ToolResult()
}

// mostAsked is how often one call asks for what its client answers wrongly.
const mostAsked = 10

// Elicit asks the client of the exchange, one of the protocol with sessions, for the first answer that the run waits
// for, and returns the run's State then. A question that is answered some other way is withdrawn. asked is false if the
// client cannot ask its user, or the user gave no answer: the run waits on. meta goes with the question.
func (a *Asker) Elicit(ctx context.Context, x *wire.Exchange, state messages.State, meta *mcp.Meta) (
	now messages.State, asked bool, err error,
) {
	if !x.Elicits() || !auth.From(ctx).May(auth.WriteRuns) {
		return state, false, nil
	}
	open := caller.Questions(state)[0]
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
		case asking.Err() != nil: // it was answered some other way
			now, err = a.runs.State(ctx, state.RunID)
			return now, true, err
		case err != nil: // a client that cannot ask after all
			return state, false, nil
		}
		left, bad, err := a.Answer(ctx, state, map[string]json.RawMessage{open.Request: response})
		if left || err != nil {
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

// Elicitation is the question as the protocol asks it.
func Elicitation(q messages.Input) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: q.Prompt, RequestedSchema: formOf(q.Schema).requested}
}
