package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/caller"
)

func (s *Server) addPrompts() {
	s.AddPrompt("explain_run", "Explain a run",
		"Has the agent find out what became of a run: what it did, what it wrote, and why it failed where it did.",
		[]mcp.PromptArgument{{Name: "run_id", Description: "The run, as run_start or run_list named " +
			"it", Required: true}},
		func(a map[string]string) string {
			return fmt.Sprintf(`Find out what became of the run %s.

1. Call run_get with run_id %[1]q. If its status is working, call run_wait once and go on with what there is.
2. Call run_events with run_id %[1]q and after 0, and again with next as after, until done is true.
3. Say in a few sentences what the run was asked for, what it did, and what it came to. Name the artifacts it wrote by
   their resource links. If it failed or was canceled, quote the error's message, name the task it happened in, and say
   what to change before it is started again. Say nothing that the events do not show.`, a["run_id"])
		})
}

// AddPrompt adds a prompt whose text is made of its arguments. Those that are required are there.
func (s *Server) AddPrompt(name, title, description string, arguments []mcp.PromptArgument,
	text func(arguments map[string]string) string) {
	prompt := mcp.Prompt{Name: name, Title: title, Description: description, Arguments: arguments}
	s.mcp.AddPrompt(prompt, func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		for _, a := range arguments {
			if a.Required && strings.TrimSpace(req.Params.Arguments[a.Name]) == "" {
				return nil, caller.Invalid("the prompt %s needs the argument %s", name, a.Name)
			}
		}
		said := mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text(req.Params.Arguments)))
		return mcp.NewGetPromptResult(description, []mcp.PromptMessage{said}), nil
	})
}
