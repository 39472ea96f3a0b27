package testkit_test

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/testkit"
)

// call is one request of another endpoint; a body makes it a POST.
func call(t *testing.T, c *http.Client, m *testkit.Model, path, body string) (int, string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+m.Host()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// at is the value in a JSON text by a path of names and indexes, as JSON. The path is cut at slashes or, without any,
// dots.
func at(text, path string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "no JSON"
	}
	separator := "."
	if strings.Contains(path, "/") {
		separator = "/"
	}
	for name := range strings.SplitSeq(path, separator) {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return "no " + name
			}
			v = in[i]
		default:
			return "no " + name
		}
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func two() []testkit.ServedModel {
	return []testkit.ServedModel{
		{ID: "qwen/qwen3-8b", Loaded: true, Context: 4096, MaxContext: 32768},
		{ID: "gemma-3-4b", Kind: "vlm", Arch: "gemma3", Format: "mlx"},
	}
}

func TestModelEndpoints(t *testing.T) {
	c := caller(t)
	for _, row := range []struct {
		dialect    testkit.Dialect
		path, body string
		status     int
		want       map[string]string
	}{
		{testkit.OpenAI, "/v1/models", "", 200, map[string]string{"object": `"list"`, "data.0.id": `"qwen/qwen3-8b"`,
			"data.1.object": `"model"`}},
		{testkit.LMStudio, "/v1/models", "", 200, map[string]string{"data.0.id": `"qwen/qwen3-8b"`, "data.1": "no 1"}},
		{testkit.LMStudio, "/api/v1/models", "", 200, map[string]string{"models.0.key": `"qwen/qwen3-8b"`,
			"models.1.type": `"llm"`,
			"models.0.loaded_instances.0.config.context_length": "4096", "models.1.loaded_instances": "[]",
			"models.1.capabilities.vision": "true", "models.1.max_context_length": "131072"}},
		{testkit.LMStudio, "/nowhere", "", 200,
			map[string]string{"error": `"Unexpected endpoint or method. (GET /nowhere)"`}},
		{testkit.LlamaCPP, "/props", "", 200,
			map[string]string{"default_generation_settings.n_ctx": "4096"}},
		{testkit.LlamaCPP, "/v1/models", "", 200, map[string]string{"data.0.meta.n_ctx": "4096",
			"data.0.meta.n_ctx_train": "32768",
			"data.0.owned_by":         `"llamacpp"`}},
		{testkit.VLLM, "/v1/models", "", 200, map[string]string{"data.0.max_model_len": "4096", "data.0.owned_by": `"vllm"`}},
		{testkit.VLLM, "/nowhere", "", 404, nil},
		{testkit.Ollama, "/api/tags", "", 200, map[string]string{"models.1.name": `"gemma-3-4b"`,
			"models.1.details.family": `"gemma3"`}},
		{testkit.Ollama, "/api/ps", "", 200, map[string]string{"models.0.context_length": "4096", "models.1": "no 1"}},
		{testkit.Ollama, "/api/show", `{"model":"gemma-3-4b"}`, 200,
			map[string]string{"model_info/general.architecture": `"gemma3"`,
				"model_info/gemma3.context_length": "131072", "capabilities.0": `"completion"`}},
		{testkit.Ollama, "/api/show", `{"model":"nil"}`, 404, map[string]string{"error": `"model 'nil' not found"`}},
		{testkit.Ollama, "/nowhere", "", 404, nil},
	} {
		m := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: row.dialect, Models: two()})
		status, body := call(t, c, m, row.path, row.body)
		if status != row.status {
			t.Errorf("%s %s: %d, want %d", row.dialect, row.path, status, row.status)
		}
		for path, want := range row.want {
			if got := at(body, path); got != want {
				t.Errorf("%s %s: %s is %s, want %s", row.dialect, row.path, path, got, want)
			}
		}
	}
}

// What one endpoint changes the others show.
func TestModelLoads(t *testing.T) {
	c := caller(t)
	for _, row := range []struct {
		dialect      testkit.Dialect
		load, unload [2]string
		want         string
		contexts     string // where the context is told
		path         string
	}{
		{testkit.LMStudio,
			[2]string{"/api/v1/models/load", `{"model":"gemma-3-4b","context_length":9000}`},
			[2]string{"/api/v1/models/unload", `{"instance_id":"gemma-3-4b"}`}, `"loaded"`,
			"models.1.loaded_instances.0.config.context_length", "/api/v1/models"},
		{testkit.Ollama, [2]string{"/api/generate", `{"model":"gemma-3-4b","options":{"num_ctx":9000}}`},
			[2]string{"/api/generate", `{"model":"gemma-3-4b","keep_alive":0}`}, "null", "models.1.context_length", "/api/ps"},
	} {
		m := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: row.dialect, Models: two()})
		if status, body := call(t, c, m, row.load[0], row.load[1]); status != 200 || at(body, "status") != row.want {
			t.Fatal(status, body)
		}
		if _, body := call(t, c, m, row.path, ""); at(body, row.contexts) != "9000" || m.Loaded("gemma-3-4b") != 9000 {
			t.Errorf("%s after a load: %s", row.dialect, body)
		}
		if status, body := call(t, c, m, row.unload[0], row.unload[1]); status != 200 {
			t.Fatal(status, body)
		}
		if _, body := call(t, c, m, row.path, ""); at(body, row.contexts) == "9000" || m.Loaded("gemma-3-4b") != 0 {
			t.Errorf("%s after an unload: %s", row.dialect, body)
		}
		if row.dialect != testkit.LMStudio {
			continue
		}
		if status, _ := call(t, c, m, row.unload[0], row.unload[1]); status != 404 {
			t.Errorf("a second unload: %d", status)
		}
		if status, _ := call(t, c, m, row.load[0], `{"model":"nil"}`); status != 404 {
			t.Errorf("a load of nothing: %d", status)
		}
	}
}

// A model that is first asked loads in silence, until the test lets it.
func TestModelJIT(t *testing.T) {
	c := caller(t)
	gate := make(chan struct{})
	m := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: testkit.LMStudio, Models: two(), JIT: true, Loading: gate})
	if _, body := call(t, c, m, "/v1/models", ""); at(body, "data.1.id") != `"gemma-3-4b"` {
		t.Errorf("the list lacks what would be loaded: %s", body)
	}
	question := strings.Replace(question, `"m"`, `"gemma-3-4b"`, 1)
	answer := make(chan string)
	go func() {
		_, body, err := whole(t, c, m, question)
		if err != nil {
			t.Error(err)
		}
		answer <- body
	}()
	<-m.Asked(1)
	select {
	case body := <-answer:
		t.Fatalf("it answers before it is loaded: %s", body)
	default:
	}
	if m.Loaded("gemma-3-4b") != 0 {
		t.Error("it counts as loaded before it is")
	}
	close(gate)
	if body := <-answer; text(body) != "one two three" || m.Loaded("gemma-3-4b") != 4096 {
		t.Errorf("after the load: %s", body)
	}
	m.Unload("gemma-3-4b")
	if _, _, err := whole(t, c, m, question); err != nil || m.Loaded("gemma-3-4b") == 0 {
		t.Error("it is not loaded again", err)
	}
}

// Without JIT LM Studio answers with whatever is loaded, and says so in the chunks alone.
func TestModelNotLoaded(t *testing.T) {
	c := caller(t)
	m := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: testkit.LMStudio, Models: two()})
	question := strings.Replace(question, `"m"`, `"gemma-3-4b"`, 1)
	if _, body, err := whole(t, c, m, question); err != nil || !strings.Contains(body, `"model":"qwen/qwen3-8b"`) {
		t.Error(body, err)
	}
	m.Unload("qwen/qwen3-8b")
	res, body, err := whole(t, c, m, question)
	if err != nil || res.StatusCode != 404 || !strings.Contains(at(body, "error.message"), "No models loaded.") {
		t.Error(body, err)
	}
	for _, d := range []testkit.Dialect{testkit.OpenAI, testkit.Ollama, testkit.VLLM} {
		m := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: d, Models: two()})
		res, body, err := whole(t, c, m, strings.Replace(question, "gemma-3-4b", "nil", 1))
		if err != nil || res.StatusCode != 404 || !strings.Contains(at(body, "error.message"), "nil") {
			t.Errorf("%s: %s, %v", d, body, err)
		}
	}
	llama := testkit.NewModelWith(t,
		testkit.ModelOptions{Dialect: testkit.LlamaCPP, Models: two(), Loading: make(chan struct{})})
	if _, body, err := whole(t, c, llama, question); err != nil || text(body) != "one two three" {
		t.Error(body, err)
	}
}

func TestModelOverflow(t *testing.T) {
	c := caller(t)
	long := strings.Replace(question, "one two three", strings.Repeat("word ", 4000), 1)
	long = strings.Replace(long, `"m"`, `"qwen/qwen3-8b"`, 1)
	for _, row := range []struct {
		dialect  testkit.Dialect
		overflow testkit.Overflow
		status   int
		want     string // in the body
	}{
		{testkit.OpenAI, "", 400, `"code":"context_length_exceeded"`},
		{testkit.LMStudio, "", 400, `greater than the context length (n_keep: 5000>= n_ctx: 4096)`},
		{testkit.LlamaCPP, "", 400, `"type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096`},
		{testkit.VLLM, "", 400, `"type":"BadRequestError","param":"input_tokens","code":400`},
		{testkit.Ollama, "", 200, `{"content":"word "}`},
		{testkit.Ollama, testkit.OverflowStatus, 400, `input length exceeds`},
		{testkit.LMStudio, testkit.OverflowFrame, 200, `data: {"error":{"message":"The number of tokens to keep`},
		{testkit.LlamaCPP, testkit.OverflowFrame, 200, `data: {"error":{"code":400,"message":"the request exceeds`},
		{testkit.LMStudio, testkit.OverflowMLX, 200, `data: {"error":{"message":"Context size has been exceeded."}`},
		{testkit.LMStudio, testkit.OverflowEmpty, 200, `"prompt_tokens":5000,"completion_tokens":0,`},
	} {
		m := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: row.dialect, Overflow: row.overflow, Models: two()})
		res, body, err := whole(t, c, m, long)
		if err != nil || res.StatusCode != row.status || !strings.Contains(body, row.want) {
			t.Errorf("%s %s: %d, %.300s, %v", row.dialect, row.overflow, res.StatusCode, body, err)
		}
		if overflowed := row.dialect != testkit.Ollama || row.status == 400; overflowed && text(body) != "" {
			t.Errorf("%s %s answers %.100s", row.dialect, row.overflow, body)
		}
	}
}

func TestModelFormats(t *testing.T) {
	c := caller(t)
	for _, row := range []struct {
		dialect testkit.Dialect
		formats []string
		asked   string
		status  int
	}{
		{testkit.OpenAI, nil, "json_object", 200}, {testkit.LMStudio, nil, "json_schema", 200},
		{testkit.LMStudio, nil, "json_object", 400},
		{testkit.OpenAI, []string{"text"}, "json_schema", 400}, {testkit.LMStudio, []string{"text"}, "text", 200},
	} {
		m := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: row.dialect, Formats: row.formats})
		body := strings.Replace(question, "{", `{"response_format":{"type":"`+row.asked+`"},`, 1)
		if res, body, err := whole(t, c, m, body); err != nil || res.StatusCode != row.status {
			t.Errorf("%+v: %s, %v", row, body, err)
		}
	}
}

// A script comes before the dialect's own endpoints.
func TestModelAnswerTo(t *testing.T) {
	m, c := testkit.NewModelWith(t, testkit.ModelOptions{Dialect: testkit.LlamaCPP}), caller(t)
	m.AnswerTo("/props", testkit.JSON(500, `{}`))
	var got []int
	for range 2 {
		status, _ := call(t, c, m, "/props", "")
		got = append(got, status)
	}
	if !reflect.DeepEqual(got, []int{500, 200}) {
		t.Errorf("the statuses are %v", got)
	}
}
