package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// object is a JSON object whose form nobody promises. A path is a member, and members of that, with dots in between.
type object map[string]any

func (o object) at(path string) any {
	var value any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		inner, _ := value.(map[string]any)
		value = inner[name]
	}
	return value
}

// text returns a text or a number as a text, and "" for anything else.
func (o object) text(path string) string {
	switch v := o.at(path).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// either returns the first text that is not empty.
func (o object) either(paths ...string) string {
	for _, path := range paths {
		if text := o.text(path); text != "" {
			return text
		}
	}
	return ""
}

func (o object) object(path string) object {
	inner, _ := o.at(path).(map[string]any)
	return inner
}

// list returns the objects of a list.
func (o object) list(path string) (all []object) {
	values, _ := o.at(path).([]any)
	for _, v := range values {
		if one, ok := v.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

func (o object) json(path string) json.RawMessage {
	value := o.at(path)
	if value == nil {
		return nil
	}
	text, _ := json.Marshal(value) // it was read as JSON
	return text
}

// number returns a count, or nil.
func (o object) number(path string) *int64 {
	v, _ := o.at(path).(json.Number)
	n, err := v.Int64()
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

func (o object) float(path string) float64 {
	v, _ := o.at(path).(json.Number)
	f, _ := v.Float64()
	return f
}

// without is the object without some of its members.
func (o object) without(names ...string) json.RawMessage {
	rest := maps.Clone(o)
	for _, name := range names {
		delete(rest, name)
	}
	text, _ := json.Marshal(rest) // it was read as JSON
	return text
}

// usageOf returns the usage in an object. The members in apart count tokens that its input does not include.
func usageOf(o object, input, output, cached, reasoning string, apart ...string) *messages.Usage {
	u := &messages.Usage{PromptTokens: o.number(input), CompletionTokens: o.number(output), CachedTokens: o.number(cached), ReasoningTokens: o.number(reasoning)}
	if u.PromptTokens == nil {
		return nil
	}
	for _, name := range apart {
		if more := o.number(name); more != nil {
			u.PromptTokens = new(*u.PromptTokens + *more)
		}
	}
	return u
}

// plainText returns the texts in a value.
func plainText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		texts := []string{}
		for _, one := range v {
			texts = append(texts, plainText(one))
		}
		return strings.Join(texts, "\n")
	case map[string]any:
		if inner, ok := v["content"]; ok {
			return plainText(inner)
		}
		return plainText(v["text"])
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}
