package chatui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/internal/validate"
	phrases "github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// form is a question and the answers so far. The answer is a single value or, if the schema is an object, a value for
// each property.
type form struct {
	request, prompt string
	kind            messages.InputKind
	single          bool
	fields          []field
	values          map[string]json.RawMessage
	at              int    // index of the next field
	chosen          int    // selected option, from 1; 0 is none
	problem         string // what is wrong with the last answer
	// above says that the prompt moved up into the scrollback, because it is too long to be redrawn. rest is the part
	// that was not shown yet.
	above bool
	rest  string
}

// pageBytes is how many bytes of a prompt are shown before the user must ask for more.
const pageBytes = 16 << 10

// next returns the next page of a prompt that moves up.
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

// field is one value of a form. Its schema decides how text becomes a value, which must fit whole.
type field struct {
	name, about string
	schema      valueSchema
	whole       json.RawMessage
	optional    bool
}

// valueSchema holds those members of a JSON Schema that matter on a terminal.
type valueSchema struct {
	Type        string            `json:"type"`
	Format      string            `json:"format"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	EnumNames   []string          `json:"enumNames"`
	Properties  json.RawMessage   `json:"properties"`
	Required    []string          `json:"required"`
}

// newForm makes a form from a question: a field for each property of an object, else a single one.
func newForm(q messages.Input) *form {
	f := &form{request: q.Request, prompt: q.Prompt, kind: q.Kind,
		values: map[string]json.RawMessage{}}
	var s valueSchema
	_ = json.Unmarshal(q.Schema, &s) // without a readable schema, any text is an answer
	if s.Type == "" && q.Kind == messages.InputConfirmation {
		s.Type = "boolean"
	}
	if s.Type == "object" {
		jsonwalk.Object(s.Properties, func(name, schema []byte) { // in the schema's order
			var of valueSchema
			_ = json.Unmarshal(schema, &of)
			f.fields = append(f.fields, field{name: string(name), about: of.Description, schema: of, whole: schema,
				optional: !slices.Contains(s.Required, string(name))})
		})
	}
	if f.fields == nil {
		f.single, f.fields = true, []field{{schema: s}}
		if q.Kind != messages.InputConfirmation { // which takes yes and no
			f.fields[0].whole = q.Schema
		}
	}
	return f
}

// answer sets the answer to the next field, and reports whether all fields have one.
func (f *form) answer(text string) (done bool) {
	now := f.fields[f.at]
	text = strings.TrimSpace(text)
	if text == "" && f.chosen > 0 {
		text = now.schema.options()[f.chosen-1]
	}
	if text == "" && !now.optional {
		f.problem = "an answer is needed; Esc declines"
		return false
	}
	if text != "" {
		value, problem := now.schema.value(text)
		if err := validate.Answer(now.whole, value); err != nil && problem == "" {
			problem = "the answer does not fit" // repeats no secret
			if f.kind != messages.InputSecret {
				problem = err.Error()
			}
		}
		if f.problem = problem; problem != "" {
			return false
		}
		f.values[now.name] = value
	}
	f.problem, f.chosen = "", 0
	f.at++
	return f.at == len(f.fields)
}

// Ask asks a question line by line, for terminals that cannot redraw. show prints what is asked; read returns the
// user's answer. An empty answer declines, if an answer is required.
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

// value returns the whole answer.
func (f *form) value() json.RawMessage {
	if f.single {
		return f.values[""]
	}
	value, _ := json.Marshal(f.values) // the values are JSON
	return value
}

// value converts the text to JSON as the schema demands, or says what is wrong with it.
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
	value, _ = json.Marshal(text) // a string can always be encoded
	return value, ""
}

// options returns what there is to choose from, if anything.
func (s valueSchema) options() (all []string) {
	if s.Type == "boolean" {
		return []string{"yes", "no"}
	}
	for i := range s.Enum {
		all = append(all, s.option(i))
	}
	return all
}

// press handles a key. It reports whether the key completes the answer.
func (f *form) press(key string, reply *editor) (done bool) {
	switch {
	case key == "enter":
		text := reply.value()
		*reply = editor{}
		return f.answer(text)
	case reply.empty() && (key == "up" || key == "left"):
		f.move(-1)
	case reply.empty() && (key == "down" || key == "right"):
		f.move(1)
	}
	return false
}

// example returns an example of an answer on the command line.
func (f *form) example() string {
	switch s := f.fields[0].schema; {
	case !f.single:
		pairs := make([]string, len(f.fields))
		for i, one := range f.fields {
			pairs[i] = fmt.Sprintf("%q: %s", one.name, one.schema.example())
		}
		return Quoted("{" + strings.Join(pairs, ", ") + "}")
	case s.Type == "boolean":
		return "y"
	case len(s.Enum) > 0, s.Type == "integer", s.Type == "number":
		return "1"
	default:
		return Quoted(strings.Trim(s.example(), `"`))
	}
}

// Quoted returns the text as one argument of a shell, whatever it holds.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// example returns an example of a value.
func (s valueSchema) example() string {
	if len(s.Enum) > 0 {
		return string(s.Enum[0])
	}
	byType := map[string]string{"boolean": "true", "integer": "1", "number": "1", "array": "[]", "object": "{}"}
	return cmp.Or(byType[s.Type], strconv.Quote(cmp.Or(phrases.Examples[s.Format], "TEXT")))
}

// AnswerTo converts a text on the command line to the answer. Errors: invalid_input, which gives an example.
func AnswerTo(q messages.Input, text string) (json.RawMessage, error) {
	f := newForm(q)
	if !f.single && json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	f.answer(text)
	switch {
	case !utf8.ValidString(text):
		return nil, messages.InvalidInput("the answer is not UTF-8; convert it")
	case f.problem != "":
		return nil, messages.InvalidInput("%s", f.problem)
	case !f.single:
		names := make([]string, len(f.fields))
		for i := range f.fields {
			names[i] = f.fields[i].name
		}
		return nil, messages.InvalidInput("answer with JSON: an object with %s", strings.Join(names, ", "))
	}
	return f.value(), nil
}

// move moves the selection down by the given number of options. The first move selects the first or the last one.
func (f *form) move(by int) {
	if n := len(f.fields[f.at].schema.options()); n > 0 {
		f.chosen = (max(f.chosen, (1-by)/2)-1+by+n)%n + 1
	}
}

// choice accepts the number of an option, its text, the beginning of its text, or the beginning of a word in it.
func (s valueSchema) choice(text string) (value json.RawMessage, problem string) {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(s.Enum) {
		return s.Enum[n-1], ""
	}
	text = strings.ToLower(text)
	for _, fits := range []func(option string) bool{
		func(option string) bool { return option == text },
		func(option string) bool { return strings.HasPrefix(option, text) },
		func(option string) bool { return strings.Contains(option, " "+text) },
	} {
		if i := slices.IndexFunc(s.options(), func(option string) bool { return fits(strings.ToLower(option)) }); i >= 0 {
			return s.Enum[i], ""
		}
	}
	return nil, fmt.Sprintf("answer with a number from 1 to %d", len(s.Enum))
}

// option returns the text of an option: its name, or else its value.
func (s valueSchema) option(i int) string {
	if i < len(s.EnumNames) {
		return s.EnumNames[i]
	}
	return messages.Plain(s.Enum[i])
}

// lines returns the question, and the possible answers.
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
		for i, option := range now.schema.options() {
			mark, look := "  ", plain
			if f.chosen == i+1 {
				mark, look = "> ", bold
			}
			ask = append(ask, piece{fmt.Sprintf("\n%s%d. %s", mark, i+1, oneLine(redact(option))), look})
		}
	case now.schema.Type == "boolean":
		ask = append(ask, piece{" (", faint}, piece{"y", underIf(f.chosen == 1)}, piece{" or ", faint}, piece{"n", underIf(f.chosen == 2)}, piece{")", faint})
	case phrases.Examples[now.schema.Format] != "":
		ask = append(ask, piece{" (such as " + phrases.Examples[now.schema.Format] + ")", faint})
	}
	if f.problem != "" {
		ask = append(ask, piece{"\n" + f.problem, bad})
	}
	return wrap(ask, columns)
}

func underIf(chosen bool) look {
	if chosen {
		return bold.and(under)
	}
	return faint
}

// said returns the answer to a question, for people.
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
		return messages.Plain(q.Value)
	}
}
