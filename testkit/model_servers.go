package testkit

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

func (m *Model) llamacpp(route string) []Piece {
	first := m.served[0]
	switch route {
	case "GET /health", "GET /v1/health":
		if m.stillLoading() {
			return []Piece{JSON(http.StatusServiceUnavailable,
				`{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`)}
		}
		return reply(object{"status": "ok"})
	case "GET /props":
		return reply(object{"default_generation_settings": object{"n_ctx": first.Context, "id": 0, "is_processing": false},
			"total_slots": 4, "model_alias": first.ID, "model_path": "/models/" + first.ID + ".gguf",
			"chat_template_caps": object{"supports_tools": true, "supports_system_role": true},
			"is_sleeping":        false, "build_info": "b6989-eeee367de"})
	case "GET /v1/models", "GET /models":
		return m.list(func(s ServedModel) object {
			return object{"owned_by": "llamacpp", "meta": object{"n_ctx": s.Context, "n_ctx_train": s.MaxContext,
				"n_vocab": 128256, "n_embd": 4096, "n_params": 8030261312, "size": 4912898304}}
		})
	}
	return nil
}

func (m *Model) vllm(route string) []Piece {
	switch route {
	case "GET /health":
		return []Piece{Status(http.StatusOK, "text/plain", "")}
	case "GET /version":
		return reply(object{"version": "0.19.0"})
	case "GET /v1/models":
		return m.list(func(s ServedModel) object {
			return object{"owned_by": "vllm", "root": s.ID, "parent": nil, "max_model_len": s.Context, "permission": []object{}}
		})
	}
	return nil
}

func (m *Model) ollama(route string, r ModelRequest) []Piece {
	switch route {
	case "GET /":
		return []Piece{Status(http.StatusOK, "text/plain; charset=utf-8", "Ollama is running")}
	case "GET /api/version":
		return reply(object{"version": "0.12.6"})
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
			o["expires_at"], o["size_vram"], o["context_length"] = "2030-01-01T00:05:00Z", 4683087332, s.Context
			return o
		})
	case "POST /api/show", "POST /api/generate":
		return m.ollamaModel(route, r)
	}
	return nil
}

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
	return object{"name": s.ID, "model": s.ID, "modified_at": "2025-01-01T00:00:00Z", "size": 4683087332,
		"digest": strings.Repeat("0", 64), "details": s.details()}
}

func (s ServedModel) details() object {
	return object{"format": s.Format, "family": s.Arch, "families": []string{s.Arch}, "parameter_size": "8.0B",
		"quantization_level": s.Quant, "parent_model": ""}
}

// ollamaModel shows a model; or loads it, which is to ask it for nothing, or with keep_alive 0 unloads it.
func (m *Model) ollamaModel(route string, r ModelRequest) []Piece {
	var ask struct {
		Model     string          `json:"model"`
		Name      string          `json:"name"`
		KeepAlive json.RawMessage `json:"keep_alive"`
		Options   struct {
			Context int `json:"num_ctx"`
		} `json:"options"`
	}
	r.body(&ask)
	id := cmp.Or(ask.Model, ask.Name)
	s := m.named(id)
	if s == nil {
		return []Piece{JSON(http.StatusNotFound, `{"error":`+quote("model '"+id+"' not found")+`}`)}
	}
	if route == "POST /api/show" {
		return reply(object{"details": s.details(), "capabilities": []string{"completion", "tools"}, "model_info": object{
			"general.architecture": s.Arch, s.Arch + ".context_length": s.MaxContext, "general.parameter_count": 8030261312}})
	}
	done := object{"model": s.ID, "created_at": "2025-01-01T00:00:00Z", "response": "", "done": true,
		"done_reason": "load"}
	if keep := string(ask.KeepAlive); keep == "0" || keep == `"0"` {
		s.Loaded, done["done_reason"] = false, "unload"
		return reply(done)
	}
	return append(m.loading(s.ID, ask.Options.Context), reply(done)...)
}
