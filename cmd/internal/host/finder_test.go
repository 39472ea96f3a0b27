package host

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// auto takes the first server that has a model loaded, and its context as it is loaded.
func TestGenerateFindsAModel(t *testing.T) {
	nobody, err := testkit.ListenModel(testkit.ModelOptions{})
	must(t, err)
	nobody.Close()
	idle := standin.NewModelWith(t, testkit.ModelOptions{Dialect: standin.Ollama, Models: []standin.ServedModel{
		{ID: "one"}, {ID: "two"}}})
	busy := standin.NewModelWith(t, testkit.ModelOptions{Dialect: standin.LMStudio, Models: []standin.ServedModel{
		{ID: "vectors", Kind: "embeddings", Loaded: true, Context: 512}, {ID: "big"},
		{ID: "small", Loaded: true, Context: 6000}}})
	by := ModelFinder{Endpoint: settings.Endpoint{Env: []string{"OPENAI_API_KEY=of-another"}}, Servers: []string{nobody.URL(), idle.URL(), busy.URL()}}
	t.Cleanup(by.Close)
	found, err := by.Find(t.Context(), generate.AutoModel)
	if err != nil || found.Name != "small" || found.Context != 6000 || found.Server != busy.Host() {
		t.Errorf("found %+v, %v", found, err)
	}
	for _, m := range []*testkit.Model{idle, busy} {
		for _, r := range m.Requests() {
			if r.Bearer {
				t.Errorf("%s: a server that was guessed sees the key", r.Path)
			}
		}
	}
	none := ModelFinder{Servers: []string{nobody.URL(), idle.URL()}}
	t.Cleanup(none.Close)
	if _, err := none.Find(t.Context(), generate.AutoModel); messages.CodeOf(err) != messages.CauseProviderError {
		t.Errorf("no model: %v", err)
	}
}

// A server that is loading its model is passed over for one that has a model, and else waited for.
func TestGenerateWaitsForAModel(t *testing.T) {
	loading, ready := testkit.NewModel(t), testkit.NewModel(t)
	for name, by := range map[string]*ModelFinder{
		ready.Host():   {Servers: []string{loading.URL(), ready.URL()}},
		loading.Host(): {Endpoint: settings.Endpoint{BaseURL: loading.URL()}},
	} {
		t.Cleanup(by.Close)
		loading.AnswerTo("/v1/models", standin.JSON(503, `{"error":{"message":"Loading model"}}`))
		if found, err := by.Find(t.Context(), generate.AutoModel); err != nil || found.Name != "scripted" || found.Server != name {
			t.Errorf("want the model of %s: %+v, %v", name, found, err)
		}
		if loading.Unasked() > 0 {
			t.Error("the server that is loading was not asked")
		}
	}
}

// A model that is named is asked on the server that is named, with the context that it has there.
func TestGenerateKnowsTheContext(t *testing.T) {
	m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: standin.LMStudio, Models: []standin.ServedModel{
		{ID: "small", Loaded: true, Context: 3000}, {ID: "big"}}})
	by := ModelFinder{Endpoint: settings.Endpoint{BaseURL: m.URL()}}
	t.Cleanup(by.Close)
	for name, context := range map[string]int{"small": 3000, "big": 0, "other": 0, generate.AutoModel: 3000} {
		if found, err := by.Find(t.Context(), name); err != nil || found.Context != context {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

var must = fatal.IfError
