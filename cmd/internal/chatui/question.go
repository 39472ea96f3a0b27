package chatui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

// form is a question and what has been answered so far. The answer is one value or, where the schema is of an object,
// a value for each of its properties.
type form struct {
	request, prompt string
	secret          bool
	single          bool
	fields          []field
	values          map[string]json.RawMessage
	at              int    // of the field that is next
	problem         string // with the last answer
	// above: the prompt stands above, because it is too long to be drawn again and again. rest is what does not yet.
	above bool
	rest  string
}

// pageBytes is how many bytes of a prompt are shown before the user asks for more.
const pageBytes = 16 << 10

// next is the next page of a prompt that stands above.
func (f *form) next(redact func(string) string, columns int) []line {
	if !f.above {
		f.above, f.rest = true, clean(redact(f.prompt))
	}
	shown := f.rest[:min(len(f.rest), pageBytes)]
	for len(shown) < len(f.rest) && !utf8.RuneStart(f.rest[len(shown)]) {
		shown = shown[:len(shown)-1]
	}
	f.rest = f.rest[len(shown):]
	return wrap([]piece{{"? ", warned}, {shown, bold}}, columns)
}

type field struct {
	name, about string
	schema      valueSchema
	optional    bool
}

// valueSchema is as much of a JSON Schema as a question in a terminal heeds. The run judges the answer by all of it.
type valueSchema struct {
	Type        string                     `json:"type"`
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Enum        []json.RawMessage          `json:"enum"`
	EnumNames   []string                   `json:"enumNames"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
}

func newForm(q messages.Input) *form {
	f := &form{request: q.Request, prompt: q.Prompt, secret: q.Kind == messages.InputSecret,
		values: map[string]json.RawMessage{}}
	var s valueSchema
	_ = json.Unmarshal(q.Schema, &s) // without a schema that can be read, any text is an answer
	if s.Type == "" && q.Kind == messages.InputConfirmation {
		s.Type = "boolean"
	}
	if s.Type != "object" || len(s.Properties) == 0 {
		f.single, f.fields = true, []field{{schema: s}}
		return f
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		var of valueSchema
		_ = json.Unmarshal(s.Properties[name], &of)
		f.fields = append(f.fields, field{name: name, about: of.Description, schema: of,
			optional: !slices.Contains(s.Required, name)})
	}
	return f
}

// answer takes the answer to the next field, and reports whether all have one.
func (f *form) answer(text string) (done bool) {
	now := f.fields[f.at]
	text = strings.TrimSpace(text)
	if text == "" && !now.optional {
		f.problem = "an answer is needed; Esc declines"
		return false
	}
	if text != "" {
		value, problem := now.schema.value(text)
		if f.problem = problem; problem != "" {
			return false
		}
		f.values[now.name] = value
	}
	f.problem = ""
	f.at++
	return f.at == len(f.fields)
}

// Ask puts a question line by line, for terminals that redraw nothing: show prints what is asked, and read returns what
// the user answers. An empty answer to what must have one declines.
func Ask(q messages.Input, redact func(string) string, show func(text string), read func() (string, error)) (json.RawMessage, error) {
	f := newForm(q)
	if len(q.Prompt) > pageBytes {
		for _, l := range paint(f.next(redact, 80), false) {
			show(l)
		}
	}
	for {
		for _, l := range paint(f.lines(redact, 80), false) {
			show(l)
		}
		text, err := read()
		if err != nil {
			return nil, err
		}
		if f.rest != "" {
			for _, l := range paint(f.next(redact, 80), false) {
				show(l)
			}
			continue
		}
		if strings.TrimSpace(text) == "" && !f.fields[f.at].optional {
			return json.RawMessage("null"), nil
		}
		if f.answer(text) {
			return f.value(), nil
		}
	}
}

// value is the whole answer.
func (f *form) value() json.RawMessage {
	if f.single {
		return f.values[""]
	}
	value, _ := json.Marshal(f.values) // they are JSON
	return value
}

// value is the text as the schema has it, or what is wrong with it.
func (s valueSchema) value(text string) (value json.RawMessage, problem string) {
	if len(s.Enum) > 0 {
		return s.choice(text)
	}
	switch s.Type {
	case "boolean":
		switch strings.ToLower(text) {
		case "y", "yes", "true":
			return json.RawMessage("true"), ""
		case "n", "no", "false":
			return json.RawMessage("false"), ""
		}
		return nil, "answer y or n"
	case "integer":
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return nil, "answer with a whole number"
		}
		return json.RawMessage(text), ""
	case "number", "array", "object":
		if !json.Valid([]byte(text)) {
			return nil, "answer with JSON of the type " + s.Type
		}
		return json.RawMessage(text), ""
	}
	value, _ = json.Marshal(text) // a string always is JSON
	return value, ""
}

// choice takes the number of a choice, or its words.
func (s valueSchema) choice(text string) (value json.RawMessage, problem string) {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(s.Enum) {
		return s.Enum[n-1], ""
	}
	for i := range s.Enum {
		if strings.EqualFold(s.option(i), text) {
			return s.Enum[i], ""
		}
	}
	return nil, fmt.Sprintf("answer with a number from 1 to %d", len(s.Enum))
}

func (s valueSchema) option(i int) string {
	if i < len(s.EnumNames) {
		return s.EnumNames[i]
	}
	return unquoted(s.Enum[i])
}

// lines show the question, and what may be answered.
func (f *form) lines(redact func(string) string, columns int) []line {
	now := f.fields[f.at]
	ask := []piece{{"? ", warned}, {clean(redact(f.prompt)), bold}}
	switch {
	case f.rest != "":
		return wrap([]piece{{"? ", warned}, {fmt.Sprintf("Enter shows the rest of the question, %d bytes", len(f.rest)), bold}}, columns)
	case f.above:
		ask[1].text = "What do you answer?"
	}
	if now.name != "" {
		ask = append(ask, piece{"\n" + oneLine(redact(now.name)), plain})
		if now.about != "" {
			ask = append(ask, piece{": " + clean(redact(now.about)), faint})
		}
	}
	switch {
	case len(now.schema.Enum) > 0:
		for i := range now.schema.Enum {
			ask = append(ask, piece{fmt.Sprintf("\n  %d. %s", i+1, oneLine(redact(now.schema.option(i)))), plain})
		}
	case now.schema.Type == "boolean":
		ask = append(ask, piece{" (y or n)", faint})
	}
	if f.problem != "" {
		ask = append(ask, piece{"\n" + f.problem, bad})
	}
	return wrap(ask, columns)
}

// said is the answer to a question, for people.
func said(q messages.Input) string {
	switch value := bytes.TrimSpace(q.Value); {
	case q.Kind == messages.InputSecret, len(value) == 0:
		return "answered"
	case string(value) == "null":
		return "declined"
	case string(value) == "true":
		return "yes"
	case string(value) == "false":
		return "no"
	default:
		return unquoted(q.Value)
	}
}

func unquoted(value json.RawMessage) (text string) {
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}
