package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// Issue 5: "elicitation through multi-round requests with signed state, shown with a testkit job". The question comes
// as the answer to the call; the call made again with the user's answer goes on with the same run.
func TestScriptAsksItsCaller(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s := serving(t, []actors.Definition{scripted(testkit.Script{Analyze: []testkit.Step{
			{Do: testkit.Ask, Body: messages.InputRequired{Request: "sure", Prompt: "Go on?",
				Schema: json.RawMessage(`{"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]}`)}},
		}})}, mcp.JobTool{Job: "script"})
		c := dialAs(t, s, how, as{principal: "ann", capabilities: asks})
		question := asked(t, c.callTool("script", map[string]any{}, nil).response(), "sure")
		answers := map[string]any{"sure": accepted(map[string]any{"yes": true})}
		got := c.again("script", map[string]any{}, question.RequestState, answers, nil).response().toolResult(t).Structured
		if got.Status != mcp.Completed || string(got.Result) != `{"yes":true}` {
			t.Errorf("%s with %s", got.Status, got.Result)
		}
	})
}
