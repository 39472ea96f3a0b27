package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// document returns the frame of the OpenAPI document, and the functions that read and write bodies.
func (s *Server) document() huma.Config {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[messages.Stream](), reflect.TypeFor[streamBody]())
	schemas.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[auth.Problem]())
	addEventSchemas(schemas.Map())
	form := huma.Format{Marshal: s.write, Unmarshal: json.Unmarshal}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "lastword", Version: s.Version,
				Description: "Runs long agent jobs and streams what happens. Every run has exactly one last event.",
				Contact:     &huma.Contact{URL: "https://github.com/seed889630bf/lastword"},
				License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}},
			Servers: []*huma.Server{{URL: "/"}},
			Components: &huma.Components{Schemas: schemas, SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer":  {Type: "http", Scheme: "bearer", Description: "A token that lastword token add made"},
				"session": {Type: "apiKey", In: "cookie", Name: auth.SessionCookie + "PORT", Description: "The cookie of POST /v1/session"},
			}},
			Tags: []*huma.Tag{{Name: "runs", Description: "Start, watch, answer, cancel and forget runs"},
				{Name: "events", Description: "What happens in a run"},
				{Name: "artifacts", Description: "Files that runs wrote"},
				{Name: "server", Description: "The server itself"}},
		},
		Formats:       map[string]huma.Format{"application/json": form, "json": form},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{asProblem},
	}
}

// serveDocument writes the OpenAPI document, with an operation for each tool of other servers that the caller may start.
func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request) {
	document := *s.api.OpenAPI()
	document.Paths = maps.Clone(document.Paths)
	if auth.Require(r.Context(), auth.ReadRuns) == nil {
		all, err := s.Listed(r.Context(), "")
		if err != nil {
			auth.Refuse(quiet{w, s.Redact}, err)
			return
		}
		for _, tool := range all {
			if tool.Tool == "" {
				continue
			}
			op := *document.Paths[toolPath].Post
			op.Parameters = nil
			for _, p := range document.Paths[toolPath].Post.Parameters {
				if p.In != "path" {
					op.Parameters = append(op.Parameters, p)
				}
			}
			path := strings.NewReplacer("{name}", url.PathEscape(tool.Server), "{tool}", url.PathEscape(tool.Tool)).Replace(toolPath)
			op.OperationID = "startTool__" + notInNames.ReplaceAllStringFunc(tool.Server+"__"+tool.Tool, func(s string) string { return fmt.Sprintf("_%x_", s) })
			op.Summary, op.Description = "Start a run of the tool "+tool.Name, tool.Description
			op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				string(formJSON): {Schema: plainSchema(tool.Input.JSON())}}}
			document.Paths[path] = &huma.PathItem{Post: &op}
		}
	}
	w.Header().Set("Content-Type", "application/openapi+json")
	body, err := s.encode(&document)
	if err == nil {
		_, _ = w.Write(body) // whoever left needs no reason
	}
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// plainSchema returns what generators of clients understand of a stranger's schema: no reference, alternative, boolean schema
// or limit. The tool's job has all of it.
func plainSchema(raw json.RawMessage) *huma.Schema {
	var of struct {
		Type, AdditionalProperties any
		Title, Description         string
		Properties                 map[string]json.RawMessage
		Required                   []string
		Items                      json.RawMessage
	}
	_ = json.Unmarshal(raw, &of) // true, false and what is odd are any value
	schema := &huma.Schema{Title: of.Title, Description: of.Description}
	switch schema.Type, _ = of.Type.(string); schema.Type {
	case huma.TypeObject:
		schema.Properties = map[string]*huma.Schema{}
		for name, property := range of.Properties {
			schema.Properties[name] = plainSchema(property)
		}
		schema.Required = slices.DeleteFunc(of.Required, func(name string) bool { return schema.Properties[name] == nil })
		if of.AdditionalProperties == false {
			schema.AdditionalProperties = false
		}
	case huma.TypeArray:
		schema.Items = plainSchema(of.Items)
	}
	return schema
}

// write writes v as JSON.
func (s *Server) write(w io.Writer, v any) error {
	body, err := s.encode(v)
	if err == nil {
		_, err = w.Write(body)
	}
	return err
}

// encode returns v as JSON, without the process's secrets. A long input of a run is copied once.
func (s *Server) encode(v any) ([]byte, error) {
	var body bytes.Buffer
	var long jsonwalk.Long
	if state, ok := v.(messages.State); ok && state.Queued != nil {
		queued := *state.Queued
		queued.Input = long.MarkJSON(queued.Input)
		state.Queued = &queued
		v = state
	}
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return s.Redact(long.Bytes(body.Bytes())), err
}

// quiet is a response whose body is written at once, and without the process's secrets.
type quiet struct {
	http.ResponseWriter
	redact func([]byte) []byte
}

// Write implements [io.Writer].
func (q quiet) Write(body []byte) (int, error) {
	_, err := q.ResponseWriter.Write(q.redact(body))
	return len(body), err
}

// addEventSchemas adds the published schema of events. Its definitions become components named Event.text.delta and so
// on.
func addEventSchemas(schemas map[string]*huma.Schema) {
	text := strings.ReplaceAll(string(messages.Schema()), `"#/$defs/`, `"#/components/schemas/Event.`)
	var published map[string]any
	if err := json.Unmarshal([]byte(text), &published); err != nil {
		panic(err) // the schema is our own
	}
	for name, definition := range published["$defs"].(map[string]any) {
		schemas["Event."+name] = &huma.Schema{Extensions: definition.(map[string]any)}
	}
	for _, of := range []string{"$defs", "$id", "$schema"} {
		delete(published, of)
	}
	schemas["Event"] = &huma.Schema{Extensions: published}
}

// eventJSON is the wire form of an event.
type eventJSON json.RawMessage

// MarshalJSON returns the wire form.
func (e eventJSON) MarshalJSON() ([]byte, error) { return e, nil }

// Schema returns a reference to the schema of events.
func (eventJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: "#/components/schemas/Event"}
}

// json returns a response with a JSON body of v's type.
func (s *Server) json(description string, v any) *huma.Response {
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, "")
	return &huma.Response{Description: description,
		Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// streams returns a response that may be a stream of events or, if v is not nil, JSON of v's type.
func (s *Server) streams(description string, v any) *huma.Response {
	r := &huma.Response{Description: description, Content: map[string]*huma.MediaType{}}
	if v != nil {
		r = s.json(description, v)
	}
	r.Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString,
		Description: "Frames of id (the cursor), event (the kind) and data (an Event)"}}
	r.Content["application/x-ndjson"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString,
		Description: "An Event on each line"}}
	return r
}

// streamBody describes the JSON of messages.Stream, which has its own MarshalJSON.
type streamBody struct {
	Name    string `json:"stream"`
	Task    string `json:"task,omitempty"`
	Thought bool   `json:"thought,omitempty"`
	Closed  bool   `json:"closed,omitempty"`
	Index   uint64 `json:"index"`
	Text    string `json:"text"`
}

// asProblem turns errors of the huma framework into problem details.
func asProblem(_ huma.Context, _ string, v any) (any, error) {
	e, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := auth.NewProblem(auth.CodeOfStatus(e.Status), e.Detail)
	p.Status = e.Status
	var parts []string
	for _, one := range e.Errors { // without the value, which may be a secret
		p.Errors = append(p.Errors, auth.ProblemPart{Message: one.Message, Location: one.Location})
		parts = append(parts, one.Location+": "+one.Message)
	}
	if len(parts) > 0 {
		p.Detail = strings.Join(parts, "; ")
	}
	return p, nil
}
