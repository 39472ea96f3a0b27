package question

import (
	"context"
	"slices"
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

// legacyRounds is how often one call asks a client of the protocol with sessions: with one round more mcp-go fails
// it.
const legacyRounds = 10

// Ask is what a call answers whose run waits for answers: the questions for the client, with the signed state that
// finds the run again; nil for a client that cannot ask its user.
func (a *Asker) Ask(ctx context.Context, req mcp.CallToolRequest, state messages.State) *mcp.CallToolResult {
	x := wire.From(ctx)
	round := 1 + a.round(ctx, req)
	if !x.Elicits() || !x.Modern() && round > legacyRounds {
		return nil
	}
	c := claims{Run: state.RunID, After: state.Seq, Round: round, Principal: auth.From(ctx).Name, Call: callOf(req),
		Expires: time.Now().Add(stateLife).Unix()}
	a.AskUntil(ctx, x, state)
	b := server.NewInputRequestBuilder("")
	for _, q := range caller.Questions(state) {
		c.Questions = append(c.Questions, q.Request)
		b.Elicit(q.Request, Elicitation(q))
	}
	return b.RequestState(a.signer.sign(c)).ToolResult()
}

// AskUntil has the questions of a client of the protocol with sessions taken back when one of them is answered some
// other way, or the run has ended: its call waits for the answers.
func (a *Asker) AskUntil(ctx context.Context, x *wire.Exchange, state messages.State) {
	if x.Modern() {
		return
	}
	done := make(chan struct{})
	x.AskUntil(done)
	answered := func(e messages.Event) bool {
		r, ok := e.Body.(messages.InputReceived)
		return ok && slices.ContainsFunc(caller.Questions(state), func(q messages.Input) bool { return q.Request == r.Request })
	}
	go func() {
		if _, err := a.runs.Follow(ctx, state, answered); err == nil {
			close(done)
		}
	}()
}

func callOf(req mcp.CallToolRequest) string {
	return callDigest(req.Params.Name, req.GetRawArguments())
}

// round returns how often the call has asked before.
func (a *Asker) round(ctx context.Context, req mcp.CallToolRequest) int {
	c, _ := a.signer.open(req.Params.RequestState, auth.From(ctx).Name, callOf(req), time.Now())
	return c.Round
}

// Elicitation is the question as the protocol asks it.
func Elicitation(q messages.Input) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: q.Prompt, RequestedSchema: formOf(q.Schema).requested}
}
