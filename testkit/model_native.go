package testkit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// object is a JSON object.
type object = map[string]any

func reply(v any) []Piece {
	body, err := json.Marshal(v)
	if err != nil {
		return []Piece{JSON(http.StatusInternalServerError, errorBody(err.Error(), "server_error", ""))}
	}
	return []Piece{JSON(http.StatusOK, string(body))}
}

// unscripted is the answer to a request that no script is for. The model's lock is held.
func (m *Model) unscripted(r ModelRequest) []Piece {
	if !r.Authorized {
		return []Piece{JSON(http.StatusUnauthorized,
			errorBody("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"))}
	}
	route := r.Method + " " + r.Path
	if route == "POST "+chatPath {
		return m.completion(r)
	}
	var pieces []Piece
	switch m.options.Dialect {
	case LMStudio, LMStudioV0:
		pieces = m.lmstudio(route, r)
	case LlamaCPP:
		pieces = m.llamacpp(route)
	case Ollama:
		pieces = m.ollama(route, r)
	case VLLM:
		pieces = m.vllm(route)
	}
	if pieces == nil && route == "GET /v1/models" {
		pieces = m.list(func(s ServedModel) object { return object{} })
	}
	if pieces == nil {
		pieces = m.unknown(r)
	}
	return pieces
}

// unknown is the answer to a path that the server does not have.
func (m *Model) unknown(r ModelRequest) []Piece {
	switch m.options.Dialect {
	case LMStudio, LMStudioV0: // it says so in its log: "Returning 200 anyway"
		return reply(object{"error": fmt.Sprintf("Unexpected endpoint or method. (%s %s)", r.Method, r.Path)})
	case Ollama:
		return []Piece{Status(http.StatusNotFound, "text/plain", "404 page not found")}
	case VLLM:
		return []Piece{JSON(http.StatusNotFound, `{"detail":"Not Found"}`)}
	}
	return []Piece{JSON(http.StatusNotFound,
		errorBody(fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.Path), "invalid_request_error", ""))}
}

// list is /v1/models with the dialect's own fields.
func (m *Model) list(more func(ServedModel) object) []Piece {
	data := []object{}
	for _, s := range m.served {
		fields := more(s)
		if fields == nil {
			continue
		}
		fields["id"], fields["object"] = s.ID, "model"
		if fields["owned_by"] == nil {
			fields["owned_by"] = "organization_owner"
		}
		data = append(data, fields)
	}
	return reply(object{"object": "list", "data": data})
}

// Load loads the model with the context, the one that it was given if 0, as a user would at the server.
func (m *Model) Load(id string, context int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.named(id); s != nil {
		s.Loaded, s.Context = true, cmp.Or(context, s.Context)
	}
}

// Unload unloads the model.
func (m *Model) Unload(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.named(id); s != nil {
		s.Loaded = false
	}
}

// Loaded returns the context of a model that is loaded, 0 for any other.
func (m *Model) Loaded(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.named(id); s != nil && s.Loaded {
		return s.Context
	}
	return 0
}

func (m *Model) named(id string) *ServedModel {
	i := slices.IndexFunc(m.served, func(s ServedModel) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &m.served[i]
}

// loading holds the answer up and loads the model before it goes on.
func (m *Model) loading(id string, context int) []Piece {
	var pieces []Piece
	if m.options.Loading != nil {
		pieces = append(pieces, Until(m.options.Loading))
	}
	return append(pieces, Piece{do: actThen, then: func() { m.Load(id, context) }})
}

// stillLoading reports whether Loading holds up loads.
func (m *Model) stillLoading() bool {
	if m.options.Loading == nil {
		return false
	}
	select {
	case <-m.options.Loading:
		return false
	default:
		return true
	}
}

// serve fills in what the options leave out.
func (o ModelOptions) serve() []ServedModel {
	served := slices.Clone(o.Models)
	if len(served) == 0 {
		served = []ServedModel{{ID: anyModel, Loaded: true, Context: 8192}}
	}
	for i := range served {
		s := &served[i]
		s.Kind, s.Arch = cmp.Or(s.Kind, "llm"), cmp.Or(s.Arch, "llama")
		s.Format, s.Quant = cmp.Or(s.Format, "gguf"), cmp.Or(s.Quant, "Q4_K_M")
		s.Context, s.MaxContext = cmp.Or(s.Context, 4096), cmp.Or(s.MaxContext, 131072)
		s.Loaded = s.Loaded || !o.Dialect.loads()
	}
	return served
}

// anyModel is what a Model serves that was given no models.
const anyModel = "scripted"

// loads reports whether the server loads and unloads; the others have what they were started with.
func (d Dialect) loads() bool { return d == LMStudio || d == LMStudioV0 || d == Ollama }

// body decodes a request's JSON; a body that is none leaves v as it is.
func (r ModelRequest) body(v any) { _ = json.Unmarshal(r.Body, v) }
