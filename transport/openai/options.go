package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	llm "github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
)

// Options are what completions and responses take with the same names.
type Options struct {
	Model       string            `json:"model"`
	Stream      bool              `json:"stream"`
	Temperature *float64          `json:"temperature"`
	TopP        *float64          `json:"top_p"`
	Metadata    map[string]string `json:"metadata"`
	Tools       []tool            `json:"tools"`
	Choice      json.RawMessage   `json:"tool_choice"`
	Parallel    *bool             `json:"parallel_tool_calls"`
	CacheKey    string            `json:"prompt_cache_key"`
}

// Form is what an answer must look like. Completions name the schema in a member of its own.
type Form struct {
	Type string `json:"type"`
	llm.Format
	Schema llm.Format `json:"json_schema"`
}

// tool is a tool of the client. Completions describe it in a member of its own.
type tool struct {
	Type string `json:"type"`
	llm.Tool
	Function *llm.Tool       `json:"function"`
	Tools    []tool          `json:"tools"`  // of a namespace
	Format   json.RawMessage `json:"format"` // of the input of a custom tool
}

// Fill adds the options to the turn. Errors: invalid_input, for what would be left out silently otherwise.
func (o *Options) Fill(turn *door.Turn, form Form, effort string) (err error) {
	turn.Temperature, turn.TopP, turn.Extra = o.Temperature, o.TopP, map[string]json.RawMessage{}
	if effort != "" {
		turn.Extra["reasoning_effort"] = door.JSON(effort)
	}
	switch form.Type {
	case "", "text":
	case "json_object":
		turn.Format = &llm.Format{}
	case "json_schema":
		if turn.Format = &form.Format; form.Format.Schema == nil {
			turn.Format = &form.Schema
		}
		if turn.Format.Schema == nil {
			return messages.InvalidInput("a format of the type json_schema needs a schema")
		}
	default:
		return messages.InvalidInput("a format of the type %.50q is not offered", form.Type)
	}
	if turn.Functions, err = functions(o.Tools, ""); err != nil || len(turn.Functions) == 0 {
		return err
	}
	if o.Parallel != nil && !*o.Parallel {
		turn.Extra["parallel_tool_calls"] = json.RawMessage("false")
	}
	turn.Choice, err = o.choice()
	return err
}

func (o *Options) choice() (string, error) {
	var word string
	if len(o.Choice) == 0 || json.Unmarshal(o.Choice, &word) == nil {
		return word, nil
	}
	var one struct {
		Name     string
		Function struct{ Name string }
	}
	if json.Unmarshal(o.Choice, &one) != nil || one.Name+one.Function.Name == "" {
		return "", messages.InvalidInput("a tool_choice must be auto, none, required or the name of a function")
	}
	return cmp.Or(one.Name, one.Function.Name), nil
}

// The marks of functions that are no plain ones: a custom tool, and a tool of a namespace.
const (
	custom    = "custom"
	namespace = "namespace "
)

// inNamespace is the name of a function by which a model calls a tool of a namespace.
func inNamespace(space, name string) string {
	if space == "" {
		return name
	}
	return space + "__" + name
}

// functions are the tools as the job takes them. What OpenAI's own servers run for Codex is left out.
func functions(tools []tool, space string) (all []llm.Tool, err error) {
	for _, t := range tools {
		one := t.Tool
		if t.Function != nil {
			one = *t.Function
		}
		one.Name, one.Mark = inNamespace(space, one.Name), ""
		if space != "" {
			one.Mark = namespace + space
		}
		switch t.Type {
		case "function":
			all = append(all, one)
		case custom:
			one.Mark, one.Parameters = custom, json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)
			if t.Format != nil {
				one.Description += "\n\nThe input has this format: " + string(t.Format)
			}
			all = append(all, one)
		case "namespace":
			inside, err := functions(t.Tools, t.Name)
			if err != nil {
				return nil, err
			}
			all = append(all, inside...)
		case "web_search", "image_generation", "tool_search":
		default:
			return nil, messages.InvalidInput("a tool of the type %.50q is not offered; send functions", t.Type)
		}
	}
	return all, nil
}

// Call is a call of a tool as the client knows it.
type Call struct {
	llm.ToolCall
	Namespace string
	Custom    bool // the arguments are a text
}

// Calls are those of the client's tools in the result of a run.
func Calls(queued messages.RunQueued, result json.RawMessage) (all []Call) {
	var in struct{ Functions []llm.Tool }
	_ = json.Unmarshal(queued.Input, &in) // others have none
	for _, c := range door.Calls(result) {
		one, mark := Call{ToolCall: c}, ""
		for _, f := range in.Functions {
			if f.Name == c.Name {
				mark = f.Mark
			}
		}
		if space, ok := strings.CutPrefix(mark, namespace); ok {
			one.Namespace, one.Name = space, strings.TrimPrefix(c.Name, inNamespace(space, ""))
		}
		var text struct{ Input *string }
		if mark == custom && json.Unmarshal([]byte(c.Arguments), &text) == nil && text.Input != nil {
			one.Custom, one.Arguments = true, *text.Input
		}
		all = append(all, one)
	}
	return all
}

// Model is the model that the client knows the run by.
func Model(queued messages.RunQueued) string {
	var in struct{ Model string }
	_ = json.Unmarshal(queued.Input, &in) // others name none
	return cmp.Or(in.Model, queued.Job)
}

// Made is the call as the model made it.
func (c Call) Made() llm.ToolCall {
	made := c.ToolCall
	made.Name = inNamespace(c.Namespace, made.Name)
	if c.Custom {
		made.Arguments = string(door.JSON(map[string]string{"input": c.Arguments}))
	}
	return made
}

// Chat is the id that the client has for the chat whose questions it answers, or "".
func Chat(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Chat-Id"), r.Header.Get("X-OpenWebUI-Chat-Id"))
}

// Begins begins the names of conversations without an id.
const Begins = "begins-"

// Context names the conversation of the turn: by an id of the client's or, without one, by its first message, which stays as
// the conversation goes on.
func (o *Options) Context(r *http.Request, t door.Turn) string {
	first := t.Text
	if len(t.Earlier) > 0 {
		first = t.Earlier[0].Content
	}
	return cmp.Or(Chat(r), r.Header.Get("X-Session-Id"), o.CacheKey, Begins+messages.Digest(first))
}
