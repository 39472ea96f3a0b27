package form

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/fit"
)

// Fits returns an invalid_input error if people's answer does not fit the schema of a question; the error says what
// would fit. Null always fits, and declines. A schema that cannot be read accepts any answer.
func Fits(asked, answer json.RawMessage) error {
	var (
		s jsonschema.Schema
		v any
	)
	if len(asked) == 0 || json.Unmarshal(asked, &s) != nil || json.Unmarshal(answer, &v) != nil || v == nil {
		return nil
	}
	if compiled, err := fit.Read(asked); err != nil || compiled.Validate(v) == nil {
		return nil
	}
	return messages.InvalidInput("the answer does not fit; give %s", describeFit(&s))
}

// describeFit says what fits.
func describeFit(s *jsonschema.Schema) string {
	var bounds []string
	for _, b := range []struct {
		words string
		value *float64
	}{{"at least %g", s.Minimum}, {"above %g", s.ExclusiveMinimum}, {"at most %g", s.Maximum}, {"below %g", s.ExclusiveMaximum}} {
		if b.value != nil {
			bounds = append(bounds, fmt.Sprintf(b.words, *b.value))
		}
	}
	switch {
	case len(s.Enum) > 0:
		return "one of " + values(s.Enum)
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer":
		return "a whole number" + within(bounds)
	case s.Type == "number":
		return "a number" + within(bounds)
	case s.Type == "string" && s.Pattern == "" && s.MinLength == nil && s.MaxLength == nil:
		return "a text"
	case s.Type == "object" && len(s.Properties) > 0:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			member := fmt.Sprintf("%q: %s", name, describeFit(s.Properties[name]))
			if !slices.Contains(s.Required, name) {
				member += " (optional)"
			}
			members = append(members, member)
		}
		return "an object of " + strings.Join(members, ", ")
	}
	text, _ := json.Marshal(s) // it was read from JSON
	return "JSON that fits " + string(text)
}

func values(all []any) string {
	texts := make([]string, len(all))
	for i, v := range all {
		text, _ := json.Marshal(v) // it was read from JSON
		texts[i] = string(text)
	}
	return strings.Join(texts, ", ")
}

func within(bounds []string) string {
	if len(bounds) == 0 {
		return ""
	}
	return ", " + strings.Join(bounds, " and ")
}
