package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// legacyRounds is how often one call asks a client of the protocol with sessions: with one round more mcp-go fails it.
const legacyRounds = 10

// ask is what a call answers whose run waits for answers: the questions for the client, with the signed state that
// finds the run again; for a client that cannot ask its user, what to do instead.
func (s *Server) ask(ctx context.Context, req mcp.CallToolRequest, state messages.State) *mcp.CallToolResult {
	open, err := s.asked(ctx, state)
	if err != nil {
		return failure(err)
	}
	x := wire.From(ctx)
	round := 1 + s.round(ctx, req)
	if !x.Elicits() || !x.Modern() && round > legacyRounds {
		return s.tellOpen(state, open)
	}
	c := claims{Run: state.RunID, After: state.Seq, Round: round, Principal: gate.From(ctx).Name, Call: callOf(req),
		Expires: time.Now().Add(stateLife).Unix()}
	b := server.NewInputRequestBuilder("")
	for _, q := range open {
		c.Questions = append(c.Questions, q.Request)
		b.Elicit(q.Request, elicitation(q))
	}
	return b.RequestState(s.signer.sign(c)).ToolResult()
}

func callOf(req mcp.CallToolRequest) string {
	return callDigest(req.Params.Name, req.GetRawArguments())
}

// round returns how often the call has asked before.
func (s *Server) round(ctx context.Context, req mcp.CallToolRequest) int {
	c, _ := s.signer.open(req.Params.RequestState, gate.From(ctx).Name, callOf(req), time.Now())
	return c.Round
}

func elicitation(q messages.InputRequired) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: q.Prompt, RequestedSchema: formOf(q.Schema).requested}
}

// asked returns what the run waits for, with the schemas, which only its events have.
func (s *Server) asked(ctx context.Context, state messages.State) ([]messages.InputRequired, error) {
	open := questions(state)
	if len(open) == 0 {
		return nil, nil
	}
	all := map[string]messages.InputRequired{}
	for e, err := range s.config.Runs.Events(ctx, state.RunID, 0) {
		if err != nil {
			return nil, err
		}
		if q, ok := e.Body.(messages.InputRequired); ok {
			all[q.Request] = q
		}
		if e.Seq >= state.Seq {
			break
		}
	}
	list := make([]messages.InputRequired, 0, len(open))
	for _, in := range open {
		list = append(list, all[in.Request])
	}
	return list, nil
}

// tellOpen tells a client that cannot ask its user what the run waits for, and how to answer.
func (s *Server) tellOpen(state messages.State, open []messages.InputRequired) *mcp.CallToolResult {
	var text strings.Builder
	fmt.Fprintf(&text, "Run %s waits to be told. Ask the user, give the answer with the tool run_answer "+
		"(run_id, request, value), then go on with run_wait.\n", state.RunID)
	for _, q := range open {
		fmt.Fprintf(&text, "- request %q: %s\n", q.Request, q.Prompt)
		if len(q.Schema) > 0 {
			fmt.Fprintf(&text, "  The value fits the schema %s\n", compacted(q.Schema))
		}
	}
	r := s.Result(state)
	r.Content = []mcp.Content{mcp.NewTextContent(strings.TrimSpace(text.String()))}
	return r
}
