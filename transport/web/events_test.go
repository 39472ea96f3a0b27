package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

var update = flag.Bool("update", false, "write the page's types of events")

// TestEventTypes compares the page's types of events with their JSON Schema. go generate rewrites them.
func TestEventTypes(t *testing.T) {
	const name = "page/state/events.ts"
	want := eventTypes(t)
	if had, err := os.ReadFile(name); err == nil && bytes.Equal(had, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the schema of events says: run go generate ./transport/web", name)
	}
	fatal.IfError(t, os.WriteFile(name, want, 0o644))
}

// shape is what the generator reads of a JSON Schema.
type shape struct {
	Type        any              `json:"type"`
	Ref         string           `json:"$ref"`
	Defs        map[string]shape `json:"$defs"`
	Description string           `json:"description"`
	Properties  map[string]shape `json:"properties"`
	Required    []string         `json:"required"`
	Additional  *shape           `json:"additionalProperties"`
	Items       *shape           `json:"items"`
	Enum        []string         `json:"enum"`
	AllOf       []struct{}       `json:"allOf"`
}

// UnmarshalJSON reads a schema that is true as one without bounds.
func (s *shape) UnmarshalJSON(data []byte) error {
	type plain shape
	if data[0] != '{' {
		return nil
	}
	return json.Unmarshal(data, (*plain)(s))
}

func eventTypes(t *testing.T) []byte {
	var event shape
	fatal.IfError(t, json.Unmarshal(messages.Schema(), &event))
	var out bytes.Buffer
	fmt.Fprint(&out, "// Made from messages/schema/run-events-1.json by go generate. Do not edit.\n\n"+
		"/** What an event says, by its type. */\nexport interface Payloads {\n")
	for _, kind := range slices.Sorted(maps.Keys(event.Defs)) {
		fmt.Fprintf(&out, "  /** %s */\n  %q: %s;\n", event.Defs[kind].Description, kind, event.Defs[kind].typescript("  "))
	}
	fmt.Fprint(&out, "}\n\nexport type Kind = keyof Payloads;\n\n/** A type with its payload. */\n"+
		"export type Saying<K extends Kind = Kind> = { [T in K]: { type: T; payload: Payloads[T] } }[K];\n\n"+
		"/** How far a run is, in the words that all surfaces for people use. */\n")
	fmt.Fprintf(&out, "export const standings = [%s] as const;\n", strings.ReplaceAll(union(messages.Standings()), " | ", ", "))
	fmt.Fprintf(&out, "\n/** How long a run may work without an event before the list marks it, in milliseconds. */\nexport const silentAfter = %d;\n", messages.SilentAfter.Milliseconds())
	return out.Bytes()
}

// typescript is the type of values that the schema allows.
func (s shape) typescript(indent string) string {
	switch {
	case s.Ref != "":
		return fmt.Sprintf("Payloads[%q]", strings.TrimPrefix(s.Ref, "#/$defs/"))
	case len(s.Enum) > 0:
		return union(s.Enum)
	case len(s.AllOf) > 0:
		return "Saying<" + s.Properties["type"].typescript("") + ">"
	}
	switch s.Type {
	case "string", "boolean":
		return fmt.Sprint(s.Type)
	case "integer", "number":
		return "number"
	case "array":
		item := s.Items.typescript(indent)
		if strings.Contains(item, " | ") && !strings.HasPrefix(item, "{") && !strings.HasPrefix(item, "Saying") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return s.object(indent)
	}
	return "unknown"
}

func (s shape) object(indent string) string {
	if s.Properties == nil && s.Additional != nil {
		return "Record<string, " + s.Additional.typescript(indent) + ">"
	}
	var out strings.Builder
	out.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		key := name
		if !token.IsIdentifier(name) && !token.IsKeyword(name) {
			key = fmt.Sprintf("%q", name)
		}
		fmt.Fprintf(&out, "%s  %s%s: %s;\n", indent, key, optional, s.Properties[name].typescript(indent+"  "))
	}
	return out.String() + indent + "}"
}

func union(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = fmt.Sprintf("%q", word)
	}
	return strings.Join(quoted, " | ")
}
