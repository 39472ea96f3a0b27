package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
)

func (s *Server) addPrompts() {
	s.AddPrompt(Prompt{Name: "explain_run", Title: "Explain a run",
		Description: "Has the agent find out what became of a run: what it did, what it wrote, and why it failed where it did.",
		Arguments:   []Argument{{"run_id", "The run, as run_start or run_list named it", true}},
		Text: func(a map[string]string) string {
			return fmt.Sprintf(`Find out what became of the run %s.

1. Call run_get with run_id %[1]q. If its status is working, call run_wait once and go on with what there is.
2. Call run_events with run_id %[1]q and after 0, and again with next as after, until done is true.
3. Say in a few sentences what the run was asked for, what it did, and what it came to. Name the artifacts it wrote by
   their resource links. If it failed or was canceled, quote the error's message, name the task it happened in, and say
   what to change before it is started again. Say nothing that the events do not show.`, a["run_id"])
		}})
}

// Prompt is a prompt template that clients offer to their users.
type Prompt struct {
	Name, Title, Description string
	Arguments                []Argument
	// Text returns the prompt. All required arguments are present.
	Text func(arguments map[string]string) string
}

// Argument is an argument of a prompt.
type Argument struct {
	Name, Description string
	Required          bool
}

// AddPrompt adds a prompt.
func (s *Server) AddPrompt(p Prompt) {
	listed := mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		listed.Arguments = append(listed.Arguments,
			mcp.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
	}
	s.mcp.AddPrompt(listed, func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		for _, a := range p.Arguments {
			if a.Required && strings.TrimSpace(req.Params.Arguments[a.Name]) == "" {
				return nil, messages.InvalidInput("the prompt %s needs the argument %s", p.Name, a.Name)
			}
		}
		message := mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(p.Text(req.Params.Arguments)))
		return mcp.NewGetPromptResult(p.Description, []mcp.PromptMessage{message}), nil
	})
	s.listed(mcp.MethodNotificationPromptsListChanged)
}
