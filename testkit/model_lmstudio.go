package testkit

import (
	"cmp"
	"net/http"
	"strings"
)

func (m *Model) lmstudio(route string, r ModelRequest) []Piece {
	switch {
	case route == "GET /v1/models": // downloaded ones only where they would be loaded
		return m.list(func(s ServedModel) object {
			if !s.Loaded && !m.options.JIT {
				return nil
			}
			return object{}
		})
	case route == "GET /api/v0/models":
		data := []object{}
		for _, s := range m.served {
			data = append(data, s.v0())
		}
		return reply(object{"object": "list", "data": data})
	case strings.HasPrefix(route, "GET /api/v0/models/"):
		if s := m.named(strings.TrimPrefix(r.Path, "/api/v0/models/")); s != nil {
			return reply(s.v0())
		}
		return lmstudioMissing()
	case m.options.Dialect == LMStudioV0:
		return nil
	}
	switch route {
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

func (s ServedModel) v0() object {
	o := object{"id": s.ID, "object": "model", "type": s.Kind, "publisher": publisher(s.ID), "arch": s.Arch,
		"compatibility_type": s.Format, "quantization": s.Quant, "state": "not-loaded", "max_context_length": s.MaxContext,
		"capabilities": []string{"tool_use"}}
	if s.Loaded {
		o["state"], o["loaded_context_length"] = "loaded", s.Context
	}
	return o
}

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
		instances = append(instances, object{"id": s.ID, "config": s.config()})
	}
	return object{"type": kind, "publisher": publisher(s.ID), "key": s.ID, "display_name": s.ID, "architecture": s.Arch,
		"quantization": object{"name": s.Quant, "bits_per_weight": 4}, "size_bytes": 4683074240, "params_string": "8B",
		"loaded_instances": instances, "max_context_length": s.MaxContext, "format": s.Format,
		"capabilities": object{"vision": vision, "trained_for_tool_use": true}}
}

func (s ServedModel) config() object {
	return object{"context_length": s.Context, "eval_batch_size": 512, "parallel": 4, "flash_attention": true,
		"offload_kv_cache_to_gpu": true}
}

func publisher(id string) string {
	if name, _, ok := strings.Cut(id, "/"); ok {
		return name
	}
	return "lmstudio-community"
}

// lmstudioLoad knows one instance of a model: a second load changes its context.
func (m *Model) lmstudioLoad(r ModelRequest) []Piece {
	var ask struct {
		Model   string `json:"model"`
		Context int    `json:"context_length"`
		Echo    bool   `json:"echo_load_config"`
	}
	r.body(&ask)
	s := m.named(ask.Model)
	if s == nil {
		return lmstudioMissing()
	}
	after := *s
	after.Context = cmp.Or(ask.Context, s.Context)
	out := object{"type": after.v1()["type"], "instance_id": s.ID, "load_time_seconds": 1.25, "status": "loaded"}
	if ask.Echo {
		out["load_config"] = after.config()
	}
	return append(m.loading(s.ID, after.Context), reply(out)...)
}

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
