package standin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

// unscripted answers a request without a script. The caller holds the model's lock.
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
	case LMStudio:
		pieces = m.lmstudio(route, r)
	case LlamaCPP:
		pieces = m.llamacpp(route)
	case Ollama:
		pieces = m.ollama(route, r)
	case VLLM:
		if route == "GET /v1/models" {
			pieces = m.list(func(s ServedModel) object { return object{"owned_by": "vllm", "max_model_len": s.Context} })
		}
	}
	if pieces == nil && route == "GET /v1/models" {
		pieces = m.list(func(s ServedModel) object { return object{} })
	}
	if pieces == nil {
		pieces = m.unknown(r)
	}
	return pieces
}

// unknown answers an unknown path.
func (m *Model) unknown(r ModelRequest) []Piece {
	switch m.options.Dialect {
	case LMStudio: // its log says "Returning 200 anyway"
		return reply(object{"error": fmt.Sprintf("Unexpected endpoint or method. (%s %s)", r.Method, r.Path)})
	case Ollama:
		return []Piece{Status(http.StatusNotFound, "text/plain", "404 page not found")}
	case VLLM:
		return []Piece{JSON(http.StatusNotFound, `{"detail":"Not Found"}`)}
	}
	return []Piece{JSON(http.StatusNotFound,
		errorBody(fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.Path), "invalid_request_error", ""))}
}

// list answers /v1/models with the fields of the dialect.
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

// load loads the model as a user of the server would. A context of 0 keeps the configured one.
func (m *Model) load(id string, context int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.named(id); s != nil {
		s.Loaded, s.Context = true, cmp.Or(context, s.Context)
	}
}

// Loaded returns the context of a loaded model, or 0 for any other model.
func (m *Model) Loaded(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.named(id); s != nil && s.Loaded {
		return s.Context
	}
	return 0
}

func (m *Model) named(id string) *ServedModel {
	i := slices.IndexFunc(m.served, func(s ServedModel) bool { return s.ID == id || m.options.Dialect == Ollama && s.ID == id+":latest" })
	if i < 0 {
		return nil
	}
	return &m.served[i]
}

// loading delays the answer until the model is loaded.
func (m *Model) loading(id string, context int) []Piece {
	var pieces []Piece
	if m.options.Loading != nil {
		pieces = append(pieces, Until(m.options.Loading))
	}
	return append(pieces, setting("then", "", func(*answerWriter) { m.load(id, context) }))
}

// serve returns the served models, with defaults filled in.
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
		s.Loaded = s.Loaded || o.Dialect != LMStudio && o.Dialect != Ollama // the others cannot load and unload
	}
	return served
}

// anyModel is served if the options name no models.
const anyModel = "scripted"

// body decodes a request's JSON; it ignores a body that is not JSON.
func (r ModelRequest) body(v any) { _ = json.Unmarshal(r.Body, v) }

// lmstudio answers the routes of LM Studio; nil for others.
func (m *Model) lmstudio(route string, r ModelRequest) []Piece {
	switch route {
	case "GET /v1/models": // downloaded models only where a request would load them
		return m.list(func(s ServedModel) object {
			if !s.Loaded && !m.options.JIT {
				return nil
			}
			return object{}
		})
	case "GET /api/v1/models":
		models := []object{}
		for _, s := range m.served {
			models = append(models, s.v1())
		}
		return reply(object{"models": models})
	case "POST /api/v1/models/load":
		return m.lmstudioLoad(r)
	case "POST /api/v1/models/unload":
		return m.lmstudioUnload(r)
	}
	return nil
}

// v1 describes a model as LM Studio's own API does.
func (s ServedModel) v1() object {
	kind, vision := s.Kind, s.Kind == "vlm"
	switch kind {
	case "vlm":
		kind = "llm"
	case "embeddings":
		kind = "embedding"
	}
	instances := []object{}
	if s.Loaded {
		instances = append(instances, object{"id": s.ID, "config": object{"context_length": s.Context}})
	}
	return object{"type": kind, "key": s.ID, "architecture": s.Arch, "quantization": object{"name": s.Quant},
		"loaded_instances": instances, "max_context_length": s.MaxContext, "format": s.Format,
		"capabilities": object{"vision": vision}}
}

// lmstudioLoad knows one instance per model: a second load changes its context.
func (m *Model) lmstudioLoad(r ModelRequest) []Piece {
	var ask struct {
		Model   string `json:"model"`
		Context int    `json:"context_length"`
	}
	r.body(&ask)
	s := m.named(ask.Model)
	if s == nil {
		return lmstudioMissing()
	}
	after := *s
	after.Context = cmp.Or(ask.Context, s.Context)
	return append(m.loading(s.ID, after.Context), reply(object{"instance_id": s.ID, "status": "loaded"})...)
}

// lmstudioUnload unloads a model. One that is not loaded counts as missing.
func (m *Model) lmstudioUnload(r ModelRequest) []Piece {
	var ask struct {
		Instance string `json:"instance_id"`
	}
	r.body(&ask)
	s := m.named(ask.Instance)
	if s == nil || !s.Loaded {
		return lmstudioMissing()
	}
	s.Loaded = false
	return reply(object{"instance_id": s.ID})
}

func lmstudioMissing() []Piece {
	return []Piece{JSON(http.StatusNotFound, errorBody("Model not found", "invalid_request_error", "model_not_found"))}
}

// llamacpp answers the routes of llama.cpp; nil for others.
func (m *Model) llamacpp(route string) []Piece {
	first := m.served[0]
	switch route {
	case "GET /props":
		return reply(object{"default_generation_settings": object{"n_ctx": first.Context}})
	case "GET /v1/models", "GET /models":
		return m.list(func(s ServedModel) object {
			return object{"owned_by": "llamacpp", "meta": object{"n_ctx": s.Context, "n_ctx_train": s.MaxContext}}
		})
	}
	return nil
}

// ollama answers the routes of Ollama; nil for others.
func (m *Model) ollama(route string, r ModelRequest) []Piece {
	switch route {
	case "GET /v1/models":
		return m.list(func(ServedModel) object { return object{"owned_by": "library"} })
	case "GET /api/tags":
		return m.ollamaList(func(s ServedModel) object { return s.tag() })
	case "GET /api/ps":
		return m.ollamaList(func(s ServedModel) object {
			if !s.Loaded {
				return nil
			}
			o := s.tag()
			o["context_length"] = s.Context
			return o
		})
	case "POST /api/show", "POST /api/generate":
		return m.ollamaModel(route, r)
	case "POST /api/chat":
		return m.ollamaChat(r)
	}
	return nil
}

// ollamaRequest is what requests to Ollama say.
type ollamaRequest struct {
	Model     string          `json:"model"`
	Messages  []ChatMessage   `json:"messages"`
	KeepAlive json.RawMessage `json:"keep_alive"`
	Options   struct {
		Context int `json:"num_ctx"`
	} `json:"options"`
}

// ollamaAsked returns the model that a request names, or the answer if there is none.
func (m *Model) ollamaAsked(r ModelRequest) (ask ollamaRequest, s *ServedModel, missing []Piece) {
	r.body(&ask)
	return ask, m.named(ask.Model), []Piece{JSON(http.StatusNotFound, `{"error":`+quote("model '"+ask.Model+"' not found")+`}`)}
}

// ollamaChat echoes the last message, a line per word. Like every request to Ollama, it loads the model again if the
// context differs from the one that it names, or from the default of 4,096.
func (m *Model) ollamaChat(r ModelRequest) []Piece {
	ask, s, missing := m.ollamaAsked(r)
	if s == nil {
		return missing
	}
	s.Loaded, s.Context = true, cmp.Or(ask.Options.Context, ollamaContext)
	head := `{"model":` + quote(ask.Model) + `,"created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":`
	pieces := []Piece{Header("Content-Type", "application/x-ndjson")}
	words := strings.SplitAfter(ask.Messages[len(ask.Messages)-1].Content, " ")
	for _, w := range words {
		pieces = append(pieces, Send(head+quote(w)+"},\"done\":false}\n"))
	}
	return append(pieces, Send(fmt.Sprintf(`%s""},"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":%d}`+"\n", head,
		ChatRequest{Messages: ask.Messages}.tokens(), len(words))))
}

const ollamaContext = 4096 // by default

// ollamaList answers with the entries that are not nil.
func (m *Model) ollamaList(entry func(ServedModel) object) []Piece {
	models := []object{}
	for _, s := range m.served {
		if o := entry(s); o != nil {
			models = append(models, o)
		}
	}
	return reply(object{"models": models})
}

func (s ServedModel) tag() object {
	return object{"name": s.ID, "details": object{"format": s.Format, "family": s.Arch, "quantization_level": s.Quant}}
}

// ollamaModel describes a model, loads it for an empty prompt, or unloads it for a keep_alive of 0.
func (m *Model) ollamaModel(route string, r ModelRequest) []Piece {
	ask, s, missing := m.ollamaAsked(r)
	if s == nil {
		return missing
	}
	if route == "POST /api/show" {
		return reply(object{"capabilities": []string{"completion", "tools"}, "model_info": object{
			"general.architecture": s.Arch, s.Arch + ".context_length": s.MaxContext}})
	}
	done := object{"model": s.ID, "created_at": "2025-01-01T00:00:00Z", "response": "", "done": true,
		"done_reason": "load"}
	if keep := string(ask.KeepAlive); keep == "0" || keep == `"0"` {
		s.Loaded, done["done_reason"] = false, "unload"
		return reply(done)
	}
	return append(m.loading(s.ID, ask.Options.Context), reply(done)...)
}
