package llm_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

var served = []standin.ServedModel{
	{ID: "a", Loaded: true, Context: 8192, MaxContext: 32768},
	{ID: "b", Format: "mlx", Quant: "4bit", Context: 2048},
	{ID: "e", Kind: "embeddings", Context: 512},
}

func TestModels(t *testing.T) {
	all := func(change func(i int, m *llm.Info)) []llm.Info {
		list := []llm.Info{
			{ID: "a", Loaded: true, Context: 8192, MaxContext: 32768, Kind: "llm", Format: "gguf", Quantization: "Q4_K_M"},
			{ID: "b", MaxContext: 131072, Kind: "llm", Format: "mlx", Quantization: "4bit"},
			{ID: "e", MaxContext: 131072, Kind: "embeddings", Format: "gguf", Quantization: "Q4_K_M"},
		}
		for i := range list {
			change(i, &list[i])
		}
		return list
	}
	for _, c := range []struct {
		dialect standin.Dialect
		server  string
		list    []llm.Info
	}{
		{standin.LMStudio, llm.LMStudio, all(func(_ int, m *llm.Info) { m.Server, m.Resizable = llm.LMStudio, true })},
		{standin.Ollama, llm.Ollama, all(func(_ int, m *llm.Info) { m.Server, m.Kind, m.Resizable = llm.Ollama, "llm", true })},
		{standin.VLLM, llm.VLLM, all(func(i int, m *llm.Info) {
			*m = llm.Info{ID: m.ID, Loaded: true, Context: served[i].Context, MaxContext: served[i].Context, Server: llm.VLLM}
		})},
		{standin.OpenAI, "", all(func(_ int, m *llm.Info) { *m = llm.Info{ID: m.ID, Loaded: true} })},
	} {
		for _, key := range []string{"", "sk-sesame"} {
			m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: c.dialect, Models: served, Key: key, JIT: true})
			server, list, err := client(t, llm.Config{BaseURL: m.URL(), Key: key}).Models(t.Context())
			if server != c.server || !slices.Equal(list, c.list) || err != nil {
				t.Errorf("%q: %q, %+v, %v\nwant %+v", c.dialect, server, list, err, c.list)
			}
			lists := 0
			for _, r := range m.Requests() {
				lists += strings.Count(r.Path, "/api/v1/models")
			}
			if c.dialect == standin.LMStudio && lists != 1 { // the list by which it is known is the one that is given
				t.Errorf("the list was asked for %d times", lists)
			}
		}
	}
}

func TestModelsOfLlamaCPP(t *testing.T) {
	m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: standin.LlamaCPP, Models: served[:1]})
	want := []llm.Info{{ID: "a", Loaded: true, Context: 8192, MaxContext: 32768, Format: "gguf", Server: llm.LlamaCPP}}
	server, list, err := client(t, llm.Config{BaseURL: m.URL()}).Models(t.Context())
	if server != llm.LlamaCPP || !slices.Equal(list, want) || err != nil {
		t.Errorf("%q, %+v, %v", server, list, err)
	}
}

// A list that is empty says nothing of its owner.
func TestModelsNone(t *testing.T) {
	m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: standin.LMStudio, Models: []standin.ServedModel{{ID: "a"}}})
	server, list, err := client(t, llm.Config{BaseURL: m.URL()}).Models(t.Context())
	if server != llm.LMStudio || len(list) != 1 || list[0].Loaded || err != nil {
		t.Errorf("%q, %+v, %v", server, list, err)
	}
}

func TestModelsFail(t *testing.T) {
	closed := testkit.NewModel(t)
	closed.Close()
	silent := testkit.NewModel(t)
	silent.AnswerTo("/v1/models", testkit.Stall())
	locked := standin.NewModelWith(t, testkit.ModelOptions{Key: "sk-other"})
	loading := testkit.NewModel(t)
	loading.AnswerTo("/v1/models", standin.JSON(503, `{"error":{"message":"Loading model"}}`))
	for name, c := range map[string]struct {
		m         *testkit.Model
		code      messages.Code
		message   string
		retryable bool
	}{
		"closed":    {closed, "transport_closed", "nothing answers at " + closed.Host(), true},
		"wrong key": {locked, "provider_auth", "http 401", false},
		"loading":   {loading, "provider_error", "http 503: Loading model", true},
		"silent":    {silent, "canceled_by_user", "no longer wanted", false},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if c.m == silent {
			go func() { <-silent.Asked(0); cancel(messages.Errorf("canceled_by_user", "no longer wanted")) }()
		}
		_, _, err := client(t, llm.Config{BaseURL: c.m.URL(), Key: "sk-sesame"}).Models(ctx)
		cancel(nil)
		e, _ := errors.AsType[*messages.Error](err)
		if messages.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.message) || e.Retryable != c.retryable || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		dialect standin.Dialect
		options llm.LoadOptions
		context int
	}{
		{standin.LMStudio, llm.LoadOptions{}, 2048},
		{standin.LMStudio, llm.LoadOptions{Context: 16384}, 16384},
		{standin.LMStudio, llm.LoadOptions{TTL: 5 * time.Minute}, 2048},
		{standin.Ollama, llm.LoadOptions{Context: 16384, TTL: time.Hour}, 16384},
	} {
		m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: c.dialect, Models: served, JIT: true})
		l := client(t, llm.Config{BaseURL: m.URL()})
		info, err := l.Load(t.Context(), "b", c.options)
		if err != nil || !info.Loaded || info.Context != c.context || m.Loaded("b") != c.context || info.Server == "" {
			t.Errorf("%s, %+v: %+v, %v; the server has %d", c.dialect, c.options, info, err, m.Loaded("b"))
		}
		if c.options.TTL > 0 && !asked(m, `"ttl":300`) && !asked(m, `"keep_alive":"3600s"`) {
			t.Errorf("%s: no time to live was asked for", c.dialect)
		}
		if err := l.Unload(t.Context(), "b"); err != nil || m.Loaded("b") != 0 || m.Loaded("a") == 0 {
			t.Errorf("%s: unload: %v; the server has %d", c.dialect, err, m.Loaded("b"))
		}
	}
}

func asked(m *testkit.Model, words string) bool {
	return slices.ContainsFunc(m.Requests(), func(r standin.ModelRequest) bool { return strings.Contains(string(r.Body), words) })
}

func TestLoadRefused(t *testing.T) {
	for _, c := range []struct {
		dialect standin.Dialect
		id      string
		options llm.LoadOptions
		code    messages.Code
	}{
		{standin.OpenAI, "a", llm.LoadOptions{}, "invalid_input"},
		{standin.VLLM, "a", llm.LoadOptions{}, "invalid_input"},
		{standin.LlamaCPP, "a", llm.LoadOptions{}, "invalid_input"},
		{standin.LlamaCPP, "a", llm.LoadOptions{Context: 1}, "invalid_input"},
		{standin.LMStudio, "none", llm.LoadOptions{}, "provider_error"},
		{standin.LMStudio, "b", llm.LoadOptions{Context: 1, TTL: 1}, "invalid_input"},
		{standin.Ollama, "none", llm.LoadOptions{}, "invalid_input"},
	} {
		m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: c.dialect, Models: served})
		if _, err := client(t, llm.Config{BaseURL: m.URL()}).Load(t.Context(), c.id, c.options); messages.CodeOf(err) != c.code {
			t.Errorf("%s, %s, %+v: %v", c.dialect, c.id, c.options, err)
		}
	}
}

// llama.cpp as a router says that it loads, and loads while it is asked whether it has.
func TestLoadByRouter(t *testing.T) {
	status, at := []string{"unloaded", "loading", "loading", "loaded"}, 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"x","status":{"value":"` + status[at] + `"}}]}`))
		if at > 0 {
			at = min(at+1, len(status)-1)
		}
	})
	mux.HandleFunc("POST /models/load", func(w http.ResponseWriter, _ *http.Request) { at = 1; _, _ = w.Write([]byte(`{"success":true}`)) })
	mux.HandleFunc("POST /models/unload", func(w http.ResponseWriter, _ *http.Request) { at = 0; _, _ = w.Write([]byte(`{"success":true}`)) })
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("model") == "x" && r.URL.Query().Get("autoload") == "false" {
			_, _ = w.Write([]byte(`{"default_generation_settings":{"n_ctx":4096}}`))
		}
	})
	bubble(t, llm.Config{}, mux.ServeHTTP, func(t *testing.T, c *llm.Client) {
		info, err := c.Load(t.Context(), "x", llm.LoadOptions{})
		synctest.Wait()
		if err != nil || info != (llm.Info{ID: "x", Loaded: true, Context: 4096, Format: "gguf", Server: llm.LlamaCPP}) {
			t.Errorf("%+v, %v", info, err)
		}
		err = c.Unload(t.Context(), "x")
		if synctest.Wait(); err != nil || at != 0 {
			t.Error(err)
		}
		status[1] = "failed"
		if _, err := c.Load(t.Context(), "x", llm.LoadOptions{}); messages.CodeOf(err) != "invalid_input" {
			t.Error(err)
		}
	})
}

// A list is waited for as long as the context says, and not for ever where it says nothing.
func TestModelsPatience(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(30 * time.Second):
			_, _ = w.Write([]byte(`{"data":[{"id":"a","owned_by":"vllm"}]}`))
		case <-r.Context().Done():
		}
	}
	bubble(t, llm.Config{}, handle, func(t *testing.T, c *llm.Client) {
		began := time.Now()
		if _, _, err := c.Models(t.Context()); messages.CodeOf(err) != "transport_closed" || time.Since(began) != 10*time.Second {
			t.Errorf("without a deadline: after %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if _, list, err := c.Models(ctx); err != nil || len(list) != 1 {
			t.Errorf("with one: %+v, %v", list, err)
		}
	})
}

func TestModelsTooLong(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat(" ", 17<<20)))
	}))
	defer s.Close()
	if _, _, err := client(t, llm.Config{BaseURL: s.URL + "/v1"}).Models(t.Context()); messages.CodeOf(err) != "limit_exceeded" {
		t.Error(err)
	}
}
