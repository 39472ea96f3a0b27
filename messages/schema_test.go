package messages_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

func TestSchemaIsWhatTheBodiesSay(t *testing.T) {
	page, err := json.MarshalIndent(eventSchema(t), "", "  ")
	must(t, err)
	page = append(page, '\n')
	golden(t, filepath.Join("schema", "run-events-1.json"), page)
}

func TestGoldenEventsFitTheSchema(t *testing.T) {
	for _, e := range sampleEvents() {
		if err := validate(t, asJSON(t, e)); err != nil {
			t.Errorf("%s: %v", e.Kind(), err)
		}
	}
	unknown := next(1, messages.Unknown{Type: "moon.rose", Payload: json.RawMessage(`[1]`)})
	if err := validate(t, asJSON(t, unknown)); err != nil {
		t.Errorf("a kind of a newer version: %v", err)
	}
}

func TestLegalLogsFitTheSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, e := range mergeSome(t, legal(t).log) {
			if err := validate(t, asJSON(t, e)); err != nil {
				t.Fatalf("%s\n%v", asJSON(t, e), err)
			}
		}
	})
}

func TestSchemaRefusesCorruptions(t *testing.T) {
	if *update {
		t.Skip("the schema that is being rewritten is compiled in")
	}
	by := map[messages.Kind]string{}
	for _, e := range sampleEvents() {
		by[e.Kind()] = asJSON(t, e)
	}
	for _, c := range fatal.Rows(t, "testdata/corruptions.txt") {
		name, kind, from, to := c[0], messages.Kind(c[1]), c[2], c[3]
		bad := strings.Replace(by[kind], from, to, 1)
		if bad == by[kind] {
			t.Errorf("%s: %q is not in %s", name, from, bad)
		} else if validate(t, bad) == nil {
			t.Errorf("%s passed: %s", name, bad)
		}
	}
}

var published = sync.OnceValues(func() (*validator.Schema, error) {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(messages.Schema()))
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("run-events-1.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("run-events-1.json")
})

func validate(t tester, line string) error {
	t.Helper()
	schema, err := published()
	if err != nil {
		t.Fatalf("%v", err)
	}
	v, err := validator.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return schema.Validate(v)
}

// eventSchema draws the schema from the table of kinds: the envelope, and by type the payload.
func eventSchema(t *testing.T) *jsonschema.Schema {
	docs := fieldDocs(t)
	root := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", ID: "urn:lastword:" + strings.ReplaceAll(messages.WireVersion, "/", ":"),
		Title:       messages.WireVersion,
		Description: "One event of a run. Kinds and fields are only ever added: a reader passes over what it does not know.",
		Type:        "object", Required: []string{"run_id", "seq", "ts", "type"},
		Properties: map[string]*jsonschema.Schema{
			"run_id":  {Type: "string", MinLength: new(1), Description: "The run."},
			"seq":     {Type: "integer", Minimum: new(1.0), Description: "The event's number in its run."},
			"from":    {Type: "integer", Minimum: new(1.0), Description: "The event stands for the events from..seq; the default is seq."},
			"ts":      {Type: "string", Format: "date-time", Pattern: "Z$", Description: "When the event was recorded, in UTC."},
			"type":    {Type: "string", MinLength: new(1), Description: "The kind."},
			"message": {Type: "string", Description: "One short sentence for people."},
			"payload": {Description: "What the event says, by its type."},
		},
		PropertyOrder: []string{"run_id", "seq", "from", "ts", "type", "message", "payload"},
		Defs:          map[string]*jsonschema.Schema{},
	}
	var deltas []any
	for _, k := range messages.Kinds() {
		body := bodySchema(t, k, docs)
		root.Defs[string(k.Kind)] = body
		root.AllOf = append(root.AllOf, payloadOf(k.Kind))
		if k.Level == messages.Delta && k.Kind != messages.KindMerged {
			deltas = append(deltas, string(k.Kind))
		}
	}
	part := &jsonschema.Schema{Type: "object", Required: []string{"type", "payload"},
		Properties: map[string]*jsonschema.Schema{"type": {Type: "string", Enum: deltas}, "payload": {Description: "What the part says, by its type."}}}
	for _, k := range deltas {
		part.AllOf = append(part.AllOf, payloadOf(messages.Kind(k.(string))))
	}
	merged := root.Defs[string(messages.KindMerged)]
	merged.Required = []string{"parts"}
	merged.Properties = map[string]*jsonschema.Schema{"parts": {Type: "array", MinItems: new(2), Items: part,
		Description: "One part per stream, in the order of their first appearance."}}
	return root
}

func payloadOf(k messages.Kind) *jsonschema.Schema {
	kind := any(string(k))
	return &jsonschema.Schema{
		If: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"type": {Const: &kind}}},
		Then: &jsonschema.Schema{Required: []string{"payload"},
			Properties: map[string]*jsonschema.Schema{"payload": {Ref: "#/$defs/" + string(k)}}},
	}
}

func enum[T ~string](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

func bodySchema(t *testing.T, k messages.KindInfo, docs map[string]string) *jsonschema.Schema {
	s, err := jsonschema.ForType(reflect.TypeOf(k.Zero), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage]():   {},
		reflect.TypeFor[messages.Duration](): {Type: "string"},
		reflect.TypeFor[messages.OnBudget](): enum(messages.BudgetEnd, messages.BudgetAsk),
		reflect.TypeFor[messages.Mode]():     enum(messages.Attached, messages.Detached),
		reflect.TypeFor[messages.LogLevel](): enum(messages.LogDebug, messages.LogInfo, messages.LogWarn, messages.LogError),
		reflect.TypeFor[messages.Status]():   enum(messages.Completed, messages.Failed, messages.Canceled),
		reflect.TypeFor[messages.InputKind](): enum(messages.InputClarification, messages.InputSelection, messages.InputData,
			messages.InputConfirmation, messages.InputReview, messages.InputSecret, messages.InputBudget),
		reflect.TypeFor[messages.SayMode]():    enum(messages.Steer, messages.Interrupt),
		reflect.TypeFor[messages.DropReason](): enum(messages.DropRevoked, messages.DropEnded, messages.DropCanceled),
		reflect.TypeFor[messages.Author]():     enum(messages.ByRun, messages.BySupervisor, messages.ByRecovery, messages.ByNode),
	}})
	must(t, err)
	if cause := s.Properties["cause"]; cause != nil {
		*cause = *enum(messages.Causes()...)
	}
	describe(s, reflect.TypeOf(k.Zero), docs)
	s.Description = k.Says
	tighten(s)
	if s.Properties["omitted"] != nil { // the text, or what stands for it
		s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == "text" })
		s.AnyOf = []*jsonschema.Schema{{Required: []string{"text"}}, {Required: []string{"bytes", "omitted"}}}
	}
	return s
}

// describe takes the descriptions of the properties from the comments on the fields.
func describe(s *jsonschema.Schema, typ reflect.Type, docs map[string]string) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
		if s.Items != nil {
			s = s.Items
		}
	}
	if typ.Kind() != reflect.Struct || s.Properties == nil {
		return
	}
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		describe(p, f.Type, docs)
		p.Description = docs[owner(typ, f)+"."+f.Name]
	}
}

// owner names the type that declares the field, which may be an embedded one; ThoughtDelta is declared as TextDelta.
func owner(typ reflect.Type, f reflect.StructField) string {
	if len(f.Index) > 1 {
		typ = typ.Field(f.Index[0]).Type
	}
	return strings.Replace(typ.Name(), "ThoughtDelta", "TextDelta", 1)
}

// fieldDocs maps Type.Field to the comment on it.
func fieldDocs(t *testing.T) map[string]string {
	docs := map[string]string{}
	for _, name := range sources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, id := range f.Names {
						docs[spec.Name.Name+"."+id.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
					}
				}
			}
			return true
		})
	}
	return docs
}

// tighten says what the Go types cannot: nothing is null, fields may be added, and names, counts and digests have a form.
func tighten(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1], nil
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	tighten(s.Items)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		tighten(p)
		required := slices.Contains(s.Required, name)
		switch {
		case name == "sha256":
			p.Pattern = "^[0-9a-f]{64}$"
		case name == "attempt" || name == "number":
			p.Minimum = new(1.0)
		case name == "confidence":
			p.Minimum, p.Maximum = new(0.0), new(1.0)
		case name == "offset" || name == "bytes" || strings.HasSuffix(name, "_ms"):
			p.Minimum = new(0.0)
		case required && slices.Contains([]string{"job", "task", "stream", "call", "name", "request", "child", "step"}, name):
			p.MinLength = new(1)
		}
	}
}

// sources names the files of the package, without its tests.
func sources(t *testing.T) []string {
	names, err := filepath.Glob("*.go")
	must(t, err)
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}
