package lab_test

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
	wait := s.AddStream("gathering", func(state messages.State) (*mcp.Result, error) {
		return s.Result(context.Background(), state), nil
	})
	return func(ctx context.Context, r protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		said := server.ElicitationResponse(r.Params.InputResponses, "user_name")
		if said == nil {
			return askInput("").Elicit("user_name", elicitation("What is your name?", name())).ToolResult(), nil
		}
		input, err := json.Marshal(person{field(said.Content, "name")})
		if err != nil {
			return nil, err
		}
		state, err := s.Start(ctx, "greet", input, mcp.StartOptions{})
		if err != nil || s.ReplyTask(ctx, state) {
			return protocol.NewToolResultText(""), err
		}
		result, err := wait(ctx, state.RunID) // the client knows no tasks
		if err != nil {
			return nil, err
		}
		return protocol.NewToolResultText(result.Text), nil
	}
}
