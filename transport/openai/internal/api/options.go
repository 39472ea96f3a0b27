package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	llm "github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
)

// Options are the fields that completions and responses have in common.
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

// Form is the format of the answer. Completions have the schema in the member json_schema.
type Form struct {
	Type string `json:"type"`
	llm.Format
	Schema llm.Format `json:"json_schema"`
}

// tool is a tool of the client. Completions describe it in the member function.
type tool struct {
	Type string `json:"type"`
	llm.Tool
	Function *llm.Tool       `json:"function"`
	Tools    []tool          `json:"tools"`  // the tools in a namespace
	Format   json.RawMessage `json:"format"` // the input format of a custom tool
}

// Fill adds the options to the turn. Errors: invalid_input for options that would otherwise be silently ignored.
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

// choice returns the tool choice as the job expects it.
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

// Marks of functions that are not plain ones: a custom tool, and a tool in a namespace.
const (
	custom    = "custom"
	namespace = "namespace "
)

// inNamespace returns the name under which a model calls a tool in a namespace.
func inNamespace(space, name string) string {
	if space == "" {
		return name
	}
	return space + "__" + name
}

// functions returns the tools as the job expects them. It leaves out tools that only OpenAI's own servers can execute
// for Codex.
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
	Custom    bool // the arguments are plain text
}

// Calls returns the calls that a run ends with as the client knows them.
func Calls(queued messages.RunQueued, end llm.Ending) (all []Call) {
	var in struct{ Functions []llm.Tool }
	_ = json.Unmarshal(queued.Input, &in) // other inputs have none
	for _, c := range end.Calls {
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

// Model returns the name under which the client knows the run's model.
func Model(queued messages.RunQueued) string {
	var in struct{ Model string }
	_ = json.Unmarshal(queued.Input, &in) // other inputs name none
	return cmp.Or(in.Model, queued.Job)
}

// Made returns the call as the model made it.
func (c Call) Made() llm.ToolCall {
	made := c.ToolCall
	made.Name = inNamespace(c.Namespace, made.Name)
	if c.Custom {
		made.Arguments = string(door.JSON(map[string]string{"input": c.Arguments}))
	}
	return made
}

// Chat returns the client's id of the chat, or "".
func Chat(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Chat-Id"), r.Header.Get("X-OpenWebUI-Chat-Id"))
}

// Begins is the prefix of conversation ids that the server derives itself.
const Begins = "begins-"

// Context returns the id of the turn's conversation: one from the client or, if it sends none, one derived from the
// first message, which does not change as the conversation continues.
func (o *Options) Context(r *http.Request, t door.Turn) string {
	first := t.Text
	if len(t.Earlier) > 0 {
		first = t.Earlier[0].Content
	}
	return cmp.Or(Chat(r), r.Header.Get("X-Session-Id"), o.CacheKey, Begins+messages.Digest(first))
}
