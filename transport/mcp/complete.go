package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

const (
	// mostCompleted is the protocol's maximum number of values in a completion. searchedRuns is the number of the
	// caller's newest runs that are searched for them.
	mostCompleted = 100
	searchedRuns  = 200
)

// completer completes arguments of prompts and of templates of resources, by the argument's name.
type completer struct{ *Server }

// CompletePromptArgument completes an argument of a prompt.
func (c completer) CompletePromptArgument(ctx context.Context, prompt string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if c.mcp.ListPrompts()[prompt] == nil {
		return nil, messages.InvalidInput("there is no prompt %.100q; prompts/list has them", prompt)
	}
	return c.complete(ctx, a)
}

// CompleteResourceArgument completes a variable of a template.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if _, known := c.templates.Load(uri); !known && c.mcp.ListResources()[uri] == nil {
		return nil, messages.InvalidInput("there is no template %.100q; resources/templates/list has them", uri)
	}
	return c.complete(ctx, a)
}

// complete returns what begins with the value: jobs, or what the caller's runs have, the newest first.
func (c completer) complete(ctx context.Context, a mcp.CompleteArgument) (*mcp.Completion, error) {
	if err := wire.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	values, total, more := []string{}, 0, false
	add := func(value string) {
		if strings.HasPrefix(value, a.Value) && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	of, known := map[string]func(messages.Summary){
		"run_id": func(run messages.Summary) { add(string(run.RunID)) },
		"label": func(run messages.Summary) {
			for _, name := range slices.Sorted(maps.Keys(withoutCaller(run.Labels))) {
				add(name + ":" + run.Labels[name])
			}
		},
	}[a.Name]
	if known {
		runs, err := c.Runs(ctx, messages.Query{Limit: searchedRuns})
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			of(run)
		}
		more = len(runs) == searchedRuns // older runs may have others
	}
	if a.Name == "job" {
		for name := range c.jobs {
			add(name)
		}
		slices.Sort(values)
	}
	if !more {
		total = len(values)
	}
	return &mcp.Completion{Values: values[:min(len(values), mostCompleted)], Total: total, HasMore: more || total > mostCompleted}, nil
}
