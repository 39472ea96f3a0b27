package command

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// template is an argument: alternately a text and the name of an input's member.
type template []string

// placeholder matches a member of the input, or an escaped brace.
var placeholder = regexp.MustCompile(`\{\{|\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// parseTemplate returns literal text and parameter names in turns, beginning with text.
func parseTemplate(text string) (t template) {
	literal, end := "", 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		literal += text[end:at[0]]
		if end = at[1]; at[2] < 0 {
			literal += "{"
			continue
		}
		t, literal = append(t, literal, text[at[2]:at[3]]), ""
	}
	return append(t, literal+text[end:])
}

// names returns the members in the template.
func (t template) names() (names []string) {
	for i := 1; i < len(t); i += 2 {
		names = append(names, t[i])
	}
	return names
}

// text returns the template with the values filled in.
func (t template) text(values map[string]any) string {
	var b strings.Builder
	for i, part := range t {
		if i%2 == 1 {
			part = fmt.Sprint(values[part])
		}
		b.WriteString(part)
	}
	return b.String()
}

// argument returns the template with the values filled in. It refuses a value that would make it an option that the
// operator did not intend.
func (t template) argument(values map[string]any, members map[string]member) (string, error) {
	text := t.text(values)
	if strings.ContainsRune(text, 0) {
		return "", messages.InvalidInput("the argument %q has a NUL: take it out", text)
	}
	if len(t) > 1 && t[0] == "" && strings.HasPrefix(text, "-") && !members[t[1]].mayBeOption() {
		return "", messages.InvalidInput("%s must not begin with a -, because %q would be an option", t[1], text)
	}
	return text, nil
}

// member is the part of a schema that matters for a member of the input.
type member struct {
	Type    any    `json:"type"`
	Pattern string `json:"pattern"`
	Enum    []any  `json:"enum"`
	Default any    `json:"default"`
}

// mayBeOption reports whether the operator has restricted how the value begins.
func (m member) mayBeOption() bool { return strings.HasPrefix(m.Pattern, "^") || len(m.Enum) > 0 }

// isPlain reports whether the value has only one form in an argument.
func (m member) isPlain() bool {
	switch m.Type {
	case "string", "integer", "number", "boolean":
		return true
	}
	return false
}

func readMember(schema json.RawMessage) (m member, err error) {
	d := json.NewDecoder(strings.NewReader(string(schema)))
	d.UseNumber()
	err = d.Decode(&m)
	return m, err
}
