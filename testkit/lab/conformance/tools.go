package conformance

import (
	"context"
	"encoding/json"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// jobTools say how the jobs are called. What the suite wants as a task and nothing else is Required.
func jobTools() []mcp.JobTool {
	return []mcp.JobTool{
		{Job: "greet", Tasks: mcp.TasksForbidden}, {Job: "slow_compute"}, {Job: "failing_job", Tasks: mcp.TasksRequired},
		{Job: "protocol_error_job"}, {Job: "confirm_delete"}, {Job: "multi_input"}, {Job: requestState},
		{Job: tamperedState}, {Job: multiRound},
	}
}

// saidBy is what the job had to say, in its own words.
func saidBy(ended messages.State) string {
	var words string
	if ended.End == nil || json.Unmarshal(ended.End.Result, &words) != nil {
		words = "The job has no result."
		switch {
		case ended.End != nil && ended.End.Error != nil:
			words = ended.End.Error.Message
		case ended.Status == messages.Canceled:
			words = "The job was canceled."
		}
	}
	return words
}

// gathering asks for a name and then greets in the background. It starts the run itself: a task that is there from the
// beginning would ask by itself.
func gathering(s *mcp.Server) server.ToolHandlerFunc {
	return func(ctx context.Context, r protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		said := server.ElicitationResponse(r.Params.InputResponses, "user_name")
		if said == nil {
			return ask("").Elicit("user_name", elicitation("What is your name?", name())).ToolResult(), nil
		}
		state, err := background(ctx, s, person{field(said.Content, "name")})
		if err != nil {
			return nil, err
		}
		return protocol.NewToolResultText(s.Result(ctx, state).Text), nil
	}
}

// background starts to greet, and waits for the end where the client knows no tasks.
func background(ctx context.Context, s *mcp.Server, p person) (messages.State, error) {
	input, err := json.Marshal(p)
	if err != nil {
		return messages.State{}, err
	}
	state, err := s.Start(ctx, "greet", input, mcp.StartOptions{})
	if err != nil || s.ReplyTask(ctx, state) {
		return state, err
	}
	return s.Watch(ctx, state.RunID, state.Seq)
}
