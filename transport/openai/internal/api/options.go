package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	llm "github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Options are the fields that completions and responses have in common.
type Options struct {
	Model       string            `json:"model"`
	Stream      bool              `json:"stream"`
	Temperature *float64          `json:"temperature"`
	TopP        *float64          `json:"top_p"`
	Metadata    map[string]string `json:"metadata"`
	Tools       []json.RawMessage `json:"tools"`
	Choice      json.RawMessage   `json:"tool_choice"`
}

// CacheKey is a member of a request that names its conversation. It goes on to the model server.
const CacheKey = "prompt_cache_key"

// Carried returns the members of a body that the type of the request does not read, for the model server. A member that
// steers this side, and that it cannot meet, is refused. Errors: invalid_input, which names the member.
func Carried(body []byte, request any) (map[string]json.RawMessage, error) {
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(body, &rest); err != nil {
		return nil, messages.Errorf(auth.CodeBadRequest, "the body cannot be read: %v", err)
	}
	for name, value := range rest {
		var asks bytes.Buffer
		_ = json.Compact(&asks, value) // it was JSON
		if met, steers := unmet[name]; steers && asks.String() != "null" && !slices.Contains(met, asks.String()) {
			return nil, messages.InvalidInput("%s is not offered here; leave it out", name)
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(request)) {
		delete(rest, field.Tag.Get("json"))
	}
	maps.DeleteFunc(rest, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	for _, name := range llm.Reserved {
		if rest[name] != nil {
			return nil, messages.InvalidInput("%s is not for the model server; leave it out", name)
		}
	}
	return rest, nil
}

// Read decodes the body of a request, and returns what it does not read of it, see [Carried].
func Read[T any](r *http.Request, q *T) (rest map[string]json.RawMessage, err error) {
	body, err := door.ReadText(r)
	if err == nil {
		if err := json.Unmarshal(body, q); err != nil {
			return nil, messages.Errorf(auth.CodeBadRequest, "the body cannot be read: %v", err)
		}
		rest, err = Carried(body, *q)
	}
	return rest, err
}

// Labels returns the labels of the run: the conversation, and the request's metadata.
func (o *Options) Labels(context string) map[string]string {
	labels := map[string]string{messages.ContextLabel: context}
	maps.Copy(labels, o.Metadata)
	return labels
}

// unmet are the members that steer this side, and that it cannot meet, with the values that ask for nothing.
var unmet = map[string][]string{"audio": nil, "modalities": {`["text"]`}, "functions": {"[]"}, "function_call": nil,
	"logprobs": {"false"}, "top_logprobs": {"0"}, "conversation": nil, "prompt": nil, "max_tool_calls": nil,
	"context_management": {"[]"}, "truncation": {`"disabled"`}, "include": {"[]", `["reasoning.encrypted_content"]`}}

// Form is the format of the answer. Completions have the schema in the member json_schema.
type Form struct {
	Type string `json:"type"`
	llm.Format
	Schema json.RawMessage `json:"json_schema"`
}

// tool is a tool of the client. Completions describe it in the member function.
type tool struct {
	Type string `json:"type"`
	function
	Function json.RawMessage   `json:"function"`
	Tools    []json.RawMessage `json:"tools"`  // the tools in a namespace
	Format   json.RawMessage   `json:"format"` // the input format of a custom tool
}

// function is what the job gets of a tool.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Fill adds the options to the turn. Errors: invalid_input for options that would otherwise be silently ignored.
func (o *Options) Fill(turn *door.Turn, form Form) (err error) {
	turn.Temperature, turn.TopP = o.Temperature, o.TopP
	switch form.Type {
	case "", "text":
	case "json_object":
		turn.Format = &llm.Format{}
	case "json_schema":
		if turn.Format = &form.Format; form.Format.Schema == nil && json.Unmarshal(form.Schema, turn.Format) == nil {
			turn.Format.Extra = llm.Within("", "json_schema", llm.Extra(form.Schema, "name", "schema", "strict"))
		}
		if turn.Format.Schema == nil {
			return messages.InvalidInput("a format of the type json_schema needs a schema")
		}
	default:
		return messages.InvalidInput("a format of the type %.50q is not offered", form.Type)
	}
	if turn.Functions, err = functions(o.Tools, ""); err != nil {
		return err
	}
	turn.Choice, err = o.choice()
	if len(turn.Functions) == 0 && err == nil {
		if turn.Choice != "" && turn.Choice != "auto" && turn.Choice != "none" {
			return messages.InvalidInput("the tool_choice %.100q needs tools; send them", turn.Choice)
		}
		turn.Choice = ""
	}
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
func functions(tools []json.RawMessage, space string) (all []llm.Tool, err error) {
	for _, raw := range tools {
		one, t, err := toolOf(raw)
		if err != nil {
			return nil, err
		}
		if one.Name = inNamespace(space, one.Name); space != "" {
			one.Mark = namespace + space
		}
		switch t.Type {
		case "function":
			all = append(all, one)
		case custom:
			one.Mark, one.Extra, one.Parameters = custom, "", json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)
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

// toolOf reads a tool. Its members that nobody reads here stay with it; in completions the function's stay in the function.
func toolOf(raw json.RawMessage) (one llm.Tool, t tool, err error) {
	if err := json.Unmarshal(raw, &t); err != nil {
		return one, t, messages.InvalidInput("a tool cannot be read: %v", err)
	}
	f, outer, inner := t.function, "", llm.Extra(raw, "type", "name", "description", "parameters", "tools", "format")
	if t.Function != nil {
		outer, inner = llm.Extra(raw, "type", "function"), llm.Extra(t.Function, "name", "description", "parameters")
		if err := json.Unmarshal(t.Function, &f); err != nil {
			return one, t, messages.InvalidInput("a function cannot be read: %v", err)
		}
	}
	return llm.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters, Extra: llm.Within(outer, "function", inner)}, t, nil
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
	var key string
	_ = json.Unmarshal(t.Extra[CacheKey], &key) // what is no text names nothing
	return cmp.Or(Chat(r), r.Header.Get("X-Session-Id"), key, Begins+messages.Digest(first))
}
