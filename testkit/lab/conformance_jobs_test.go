package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// registerFixtures adds what the suite knows by name: tools, jobs, resources and prompts. The runtime needs fixtureJobs.
func registerFixtures(s *mcp.Server) error {
	library := s.Library().(*server.MCPServer)
	declare(library)
	addContent(library)
	addNotifying(library)
	addAsking(library)
	addRounds(library)
	addResources(library)
	addPrompts(library)
	if err := addTriggers(s, library); err != nil {
		return err
	}
	library.AddTool(fixtureTool("test_tool_with_task", "Asks for a name, and greets in the background."), gathering(s))
	for _, t := range jobTools() {
		if err := s.AddJob(t); err != nil {
			return err
		}
	}
	return nil
}

// declare says what the product has no use for: log messages to clients, and completion.
func declare(s *server.MCPServer) {
	server.WithLogging()(s)
	server.WithCompletions()(s)
}

// fixtureJobs are the fixtures that the runtime runs, by name.
func fixtureJobs() []actors.Definition {
	return []actors.Definition{
		known(actors.Func("greet", greet), "Greets somebody."),
		known(actors.Func("slow_compute", compute), "Takes as long as it is told."),
		known(actors.Func("failing_job", fail), "Fails after a second."),
		known(actors.Func("protocol_error_job", crash), "Panics."),
		known(actors.Func("confirm_delete", confirm), "Asks before it pretends to delete a file."),
		known(actors.Func("multi_input", fan), "Asks two things at once."),
		known(actors.Func(requestState, acknowledge), "Asks once."),
		known(actors.Func(tamperedState, acknowledge), "Asks once."),
		known(actors.Func(multiRound, rounds), "Asks twice."),
	}
}

func known(d actors.Definition, description string) actors.Definition {
	d.Description, d.ReadOnly, d.Summary = description, true, saidBy
	return d
}

const (
	requestState  = "test_input_required_result_request_state"
	tamperedState = "test_input_required_result_tampered_state"
	multiRound    = "test_input_required_result_multi_round"
)

// none is the input of jobs that take nothing.
type none struct{}

type person struct {
	Name string `json:"name"`
}

type computation struct {
	Seconds float64 `json:"seconds"`
	Label   string  `json:"label,omitempty"`
}

type file struct {
	Filename string `json:"filename"`
}

func greet(_ context.Context, _ *actors.TaskContext, p person) (string, error) {
	return "Hello, " + p.Name + "!", nil
}

func compute(ctx context.Context, _ *actors.TaskContext, c computation) (string, error) {
	if err := sleep(ctx, time.Duration(c.Seconds*float64(time.Second))); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s took %g s", c.Label, c.Seconds), nil
}

func fail(ctx context.Context, _ *actors.TaskContext, _ none) (string, error) {
	if err := sleep(ctx, time.Second); err != nil {
		return "", err
	}
	return "", errors.New("this job always fails")
}

func crash(context.Context, *actors.TaskContext, none) (string, error) {
	panic("this job always panics")
}

func confirm(ctx context.Context, t *actors.TaskContext, f file) (string, error) {
	said, err := t.Ask(ctx, messages.InputRequired{Request: "confirm", Prompt: "Delete " + f.Filename + "?",
		Schema: properties(`"confirm": {"type": "boolean"}`, "confirm")})
	if err != nil {
		return "", err
	}
	if yes, _ := content(said)["confirm"].(bool); !yes {
		return f.Filename + " stays", nil
	}
	return f.Filename + " is deleted", nil
}

// fan asks two things at once.
func fan(ctx context.Context, t *actors.TaskContext, _ none) (string, error) {
	requests := []string{"first", "second"}
	done := make(chan struct{}, len(requests))
	for _, request := range requests {
		t.Go(func(ctx context.Context) error {
			_, err := t.Ask(ctx, messages.InputRequired{Request: request,
				Prompt: "The " + request + " of two questions.",
				Schema: properties(`"name": {"type": "string"}, "confirm": {"type": "boolean"}`)})
			if err == nil {
				done <- struct{}{}
			}
			return err
		})
	}
	for range requests {
		select {
		case <-done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	return "both questions are answered", nil
}

func acknowledge(ctx context.Context, t *actors.TaskContext, _ none) (string, error) {
	_, err := t.Ask(ctx, messages.InputRequired{Request: "confirm", Prompt: "Please confirm",
		Schema: properties(`"ok": {"type": "boolean"}`, "ok")})
	return "state-ok", err
}

func rounds(ctx context.Context, t *actors.TaskContext, _ none) (string, error) {
	first, err := t.Ask(ctx, messages.InputRequired{Request: "step1", Prompt: "Step 1: What is your name?", Schema: name()})
	if err != nil {
		return "", err
	}
	second, err := t.Ask(ctx, messages.InputRequired{Request: "step2", Prompt: "Step 2: What is your favorite color?",
		Schema: properties(`"color": {"type": "string"}`, "color")})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v likes %v", content(first)["name"], content(second)["color"]), nil
}

// content is the form that the user filled in.
func content(answer json.RawMessage) map[string]any {
	var form map[string]any
	if json.Unmarshal(answer, &form) != nil {
		return nil
	}
	return form
}

// addTriggers adds the tools that change what the server offers, for those who listen. What they add is gone when they
// answer.
func addTriggers(s *mcp.Server, library *server.MCPServer) error {
	passing := mcp.Tool{Name: "test_passing_tool", Description: "Is gone already.", ReadOnly: true}
	nothing := func(context.Context, struct{}) (*mcp.Result, error) { return &mcp.Result{}, nil }
	tools := mcp.Tool{Name: "test_trigger_tool_change", Description: "Adds a tool and takes it away again.", ReadOnly: true}
	err := mcp.AddTool(s, tools, func(context.Context, struct{}) (*mcp.Result, error) {
		err := mcp.AddTool(s, passing, nothing)
		library.DeleteTools(passing.Name)
		return &mcp.Result{Text: "The list of tools has changed."}, err
	})
	if err != nil {
		return err
	}
	prompts := mcp.Tool{Name: "test_trigger_prompt_change", Description: "Adds a prompt and takes it away again.", ReadOnly: true}
	return mcp.AddTool(s, prompts, func(context.Context, struct{}) (*mcp.Result, error) {
		s.AddPrompt(mcp.Prompt{Name: "test_passing_prompt", Text: func(map[string]string) string { return "It was there." }})
		library.DeletePrompts("test_passing_prompt")
		return &mcp.Result{Text: "The list of prompts has changed."}, nil
	})
}

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
