package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt"
)

// allTools are the flags that offer every tool.
var allTools = []string{"--tools", "lmstxt", "--model", "auto"}

// What clients are told of the tools changes only where somebody wanted it to.
func TestListedTools(t *testing.T) {
	s := speak(t, t.TempDir(), allTools...)
	var list struct{ Tools json.RawMessage }
	result := s.ask("tools/list", `{}`).Result
	s.ends()
	must(t, json.Unmarshal(result, &list))
	var b bytes.Buffer
	must(t, json.Indent(&b, list.Tools, "", "  "))
	heldTo(t, "testdata/tools.golden.json", b.String()+"\n")
}

type listedTool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
}

// listed are the tools that the program offers with the flags.
func listed(t *testing.T, flags ...string) []listedTool {
	t.Helper()
	s := speak(t, t.TempDir(), flags...)
	var list struct{ Tools []listedTool }
	result := s.ask("tools/list", `{}`).Result
	s.ends()
	must(t, json.Unmarshal(result, &list))
	return list.Tools
}

// hosts are the forms in which hosts give a model a list of tools.
var hosts = []func(listedTool) map[string]any{
	func(l listedTool) map[string]any {
		return map[string]any{"type": "function",
			"function": map[string]any{"name": l.Name, "description": l.Description, "parameters": l.InputSchema}}
	},
	func(l listedTool) map[string]any {
		return map[string]any{"type": "function", "name": "lastword__" + l.Name, "description": l.Description, "strict": false,
			"parameters": l.InputSchema}
	},
	func(l listedTool) map[string]any {
		return map[string]any{"name": "mcp__lastword__" + l.Name, "description": l.Title + ": " + l.Description, "input_schema": l.InputSchema}
	},
}

// tokensOfTools is what a list costs a model, in the form that takes the most.
func tokensOfTools(t *testing.T, list []listedTool) (most int) {
	t.Helper()
	for _, form := range hosts {
		var told []map[string]any
		for _, tool := range list {
			told = append(told, form(tool))
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		must(t, e.Encode(told))
		most = max(most, llmstxt.CountTokens(b.String()))
	}
	return most
}

// A model reads the whole list before it does anything: under 1,900 tokens in every host, however the server's model is
// configured, and with room for one more tool without a model. What only some hosts want is offered where somebody asks
// for it.
func TestTheListIsShort(t *testing.T) {
	const most, room = 1900, 150
	list := listed(t)
	servers := filepath.Join(t.TempDir(), "servers.json")
	must(t, os.WriteFile(servers, []byte(`{"mcpServers":{"notes":{"command":"cat"}}}`), 0o600))
	if n := tokensOfTools(t, list); n >= most-room {
		t.Errorf("the list has %d tokens", n)
	}
	for _, flags := range [][]string{{"--model", "auto"}, {"--base-url", "http://127.0.0.1:9/v1"},
		{"--model", "m", "--mcp-config", servers}} {
		if n := tokensOfTools(t, listed(t, flags...)); n >= most {
			t.Errorf("the list with %v has %d tokens", flags, n)
		}
	}
	if slices.ContainsFunc(list, func(l listedTool) bool {
		return l.Name == "prompt" || l.Name == "chat" || strings.HasPrefix(l.Name, "lmstxt_")
	}) {
		t.Errorf("prompt, chat or lmstxt_* is offered unasked: %v", list)
	}
	if got := run(t, nil, "mcp", "--tools", "nonsense"); got.code != 2 || !strings.Contains(got.stderr, "--tools takes lmstxt") {
		t.Errorf("an unknown set: exit code %d, %s", got.code, got.stderr)
	}
}

// Strict model APIs refuse a whole list for one schema that they do not take: every node has a type, or alternatives
// that have; arrays say what is in them; choices are of texts. And no two tools look the same to people.
func TestStrictAPIsTakeTheSchemas(t *testing.T) {
	titles := map[string]string{}
	for _, tool := range listed(t, allTools...) {
		for which, raw := range map[string]json.RawMessage{"input": tool.InputSchema, "output": tool.OutputSchema} {
			var schema any
			must(t, json.Unmarshal(raw, &schema))
			for _, problem := range loose(which, schema) {
				t.Errorf("%s: %s", tool.Name, problem)
			}
		}
		if other, taken := titles[tool.Title]; taken {
			t.Errorf("%s and %s have the title %q", tool.Name, other, tool.Title)
		}
		titles[tool.Title] = tool.Name
	}
}

// loose says what strict APIs have against the schema.
func loose(at string, schema any) (problems []string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return []string{at + " is no object"}
	}
	alternatives, _ := s["anyOf"].([]any)
	for i, alternative := range alternatives {
		problems = append(problems, loose(fmt.Sprintf("%s/%d", at, i), alternative)...)
	}
	kind, typed := s["type"].(string)
	if !typed && len(alternatives) == 0 {
		problems = append(problems, at+" has no type")
	}
	if items, there := s["items"]; there {
		problems = append(problems, loose(at+"/items", items)...)
	} else if kind == "array" {
		problems = append(problems, at+" has no items")
	}
	if choices, there := s["enum"].([]any); there {
		if kind != "string" || slices.ContainsFunc(choices, func(c any) bool { _, text := c.(string); return !text }) {
			problems = append(problems, at+" is a choice of others than texts")
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name, property := range properties {
		problems = append(problems, loose(at+"/"+name, property)...)
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok {
		problems = append(problems, loose(at+"/*", more)...)
	}
	return problems
}
