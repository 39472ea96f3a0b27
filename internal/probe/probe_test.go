package probe_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play probes the stage's server.
func (s stage) play(t *testing.T, only ...string) *probe.Profile {
	t.Helper()
	m := standin.NewModelWith(t, s.options)
	o := probe.Options{Config: llm.Config{BaseURL: m.URL(), Proxy: "none"}, Only: only}
	if s.always != nil {
		m.Always(s.always...)
	}
	if s.prepare != nil {
		s.prepare(t, m, &o)
	}
	if len(s.answers) > 0 {
		o.Config.Transport = &repeating{cmp.Or[http.RoundTripper](o.Config.Transport, &http.Transport{}), m, s.answers}
	}
	p, err := probe.Run(t.Context(), o)
	must(t, err)
	return p
}

// repeating scripts the answers at each first question, because a check that finds a fault is made twice.
type repeating struct {
	http.RoundTripper
	model   *testkit.Model
	answers [][]testkit.Piece
}

func (p *repeating) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			if text, _ := io.ReadAll(body); bytes.Contains(text, []byte("these ten words")) && p.model.Unasked() == 0 {
				for _, pieces := range p.answers {
					p.model.Answer(pieces...)
				}
			}
		}
	}
	return p.RoundTripper.RoundTrip(r)
}

func (p *repeating) CloseIdleConnections() {
	p.RoundTripper.(interface{ CloseIdleConnections() }).CloseIdleConnections()
}

// Every check passes on one server and does not on another; a check without such a pair fails here.
func TestChecks(t *testing.T) {
	all := pairs()
	for _, c := range probe.Checks() {
		t.Run(c.ID, func(t *testing.T) {
			pair, ok := all[c.ID]
			if !ok || len(pair.bad) == 0 {
				t.Fatal("no server makes it pass, or none makes it fail")
			}
			delete(all, c.ID)
			judge(t, pair.good, c, probe.Pass)
			for _, bad := range pair.bad {
				judge(t, bad, c, bad.status)
			}
		})
	}
	for id := range all {
		t.Errorf("no check is called %s", id)
	}
}

func judge(t *testing.T, s stage, c probe.Check, want probe.Status) {
	t.Helper()
	p := s.play(t, c.ID)
	if len(p.Results) != 1 {
		t.Fatalf("the results are %+v", p.Results)
	}
	r := p.Results[0]
	if r.ID != c.ID || r.Title != c.Title || r.Status != want || !strings.Contains(r.Seen, s.says) {
		t.Errorf("%+v, want %s and %q", r, want, s.says)
	}
	if r.Seen == "" || (r.Remedy == "") != (want == probe.Pass) {
		t.Errorf("%+v: it needs to say what was seen, and a remedy unless it passes", r)
	}
}

// Nothing is said of what cannot be seen.
func TestSkips(t *testing.T) {
	gone := stage{prepare: func(_ *testing.T, m *testkit.Model, _ *probe.Options) { m.Close() }}.play(t)
	if len(gone.Results) != len(probe.Checks()) || gone.Count(probe.Fail) != 1 || gone.Count(probe.Skip) != len(gone.Results)-1 {
		t.Errorf("no server: %+v", gone.Results)
	}
	dead := stage{always: refuse(500, "boom")}.play(t)
	if dead.Count(probe.Skip) == 0 || dead.Count(probe.Pass) == 0 {
		t.Errorf("a server that does not answer: %+v", dead.Results)
	}
	if gone.Server.Profile != "" || dead.Server.Profile != "" {
		t.Error("without an answer nothing is known of its end")
	}
}

// No more is asked for than surely fits.
func TestSmallContext(t *testing.T) {
	var server *testkit.Model
	stage{options: lmstudio(1000), prepare: func(_ *testing.T, m *testkit.Model, _ *probe.Options) { server = m }}.play(t, "answers")
	requests := server.Requests()
	if got := requests[len(requests)-1].Chat.MaxTokens; got != 250 {
		t.Errorf("%d tokens were asked for", got)
	}
}

// What is learned is what the client goes by.
func TestLearned(t *testing.T) {
	p := stage{options: testkit.ModelOptions{Dialect: standin.LMStudio,
		Models: []standin.ServedModel{{ID: "idle"}, {ID: "qwen3-8b", Loaded: true, Context: 4096}}}}.play(t)
	if p.Server.Kind != llm.LMStudio || p.Server.Profile != model.Strict || p.Model != "qwen3-8b" || p.Context != 4096 ||
		p.Structured != "prompt" || p.Schema != probe.Schema {
		t.Errorf("%+v", p)
	}
	loose := stage{answers: script([]testkit.Piece{testkit.Text("one"), testkit.Finish("stop")})}.play(t, "terminator")
	if loose.Server.Profile != model.Generic {
		t.Errorf("%+v", loose.Server)
	}
	inside := stage{answers: script(hi(), say("Hm.</think>391"))}.play(t, "thoughts")
	if inside.Server.Thoughts != "implicit" || inside.Server.Model != "scripted" {
		t.Errorf("%+v", inside.Server)
	}
	for text, seen := range map[string]string{"<think>Hm.</think>391": "between tags", "[THINK]Hm.[/THINK]391": "between tags",
		"<|channel>thought\nHm.<channel|>391": "between tags", "391": "sends no thoughts"} {
		p := stage{answers: script(hi(), say(text))}.play(t, "thoughts")
		if r := p.Results[0]; p.Server.Thoughts != "" || r.Status != probe.Pass || !strings.Contains(r.Seen, seen) {
			t.Errorf("%s: %+v, %+v", text, p.Server, r)
		}
	}
	aloud := append([]testkit.Piece{testkit.Thought("Hm.")}, say("391")...)
	quiet := stage{answers: script(hi(), aloud, aloud, say("391"))}.play(t, "thoughts", "thoughts-off")
	if quiet.Count(probe.Pass) != 2 || string(quiet.Server.Off["reasoning_effort"]) != `"none"` {
		t.Errorf("%+v", quiet)
	}
	for _, c := range []struct {
		structured string
		answers    [][]testkit.Piece
	}{
		{"json_schema strict", script(hi(), say(`{"zest":"thick","colour":"yellow"}`))},
		{"json_schema", script(hi(), hi(), say(`{"zest":"thick","colour":"yellow"}`))},
		{"json_object", script(hi(), hi(), hi(), say(`{"answer":42}`))},
		{"tool call", script(hi(), hi(), hi(), hi(), calls(testkit.Call(0, "a", "get_weather", `{}`)))},
		{"prompt", nil},
	} {
		if p := (stage{answers: c.answers}).play(t, "json"); p.Structured != c.structured {
			t.Errorf("%+v, want %s", p, c.structured)
		}
	}
	sparse := stage{answers: script(refuse(400, "stream_options?"), hi(), hi(), refuse(400, "seed?"))}.play(t, "fields")
	if !sparse.Server.NoUsage || !slices.Equal(sparse.Server.Refuses, []string{"seed"}) {
		t.Errorf("%+v", sparse)
	}
}

func TestProfileFile(t *testing.T) {
	const key = "swordfish"
	p := stage{options: testkit.ModelOptions{Key: key}, prepare: with(key),
		answers: script(hi(), refuse(400, "your key "+key+" is not for this"))}.play(t, "auth", "max-tokens")
	name := filepath.Join(t.TempDir(), "a", probe.FileName("https://models.example:8080/v1/"))
	if !strings.HasSuffix(name, filepath.Join("lastword", "servers", "models.example_8080_v1.json")) {
		t.Error(name)
	}
	must(t, p.Write(name))
	text, err := os.ReadFile(name)
	if err != nil || strings.Contains(string(text), key) || !strings.Contains(string(text), "[key]") {
		t.Errorf("%v: %s", err, text)
	}
	back, err := probe.Read(name)
	if err != nil || !reflect.DeepEqual(back, p) {
		t.Errorf("%v: %+v, want %+v", err, back, p)
	}
	for _, no := range []string{name + ".none", filepath.Join(name, "below"), ""} {
		if none, err := probe.Read(no); none != nil || err != nil {
			t.Error(none, err)
		}
	}
	for _, bad := range []string{"{", `{"schema":"lastword.server/99"}`} {
		must(t, os.WriteFile(name, []byte(bad), 0o600))
		if _, err := probe.Read(name); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(name)); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

// A server that repeats the key does not bring it into what was seen.
func TestKeyInAPage(t *testing.T) {
	const key = "swordfish"
	p := stage{prepare: func(_ *testing.T, m *testkit.Model, o *probe.Options) {
		o.Config.Key = key
		for range 2 {
			m.AnswerTo("/v1/models", standin.JSON(200, `{"you":"`+key+`"}`))
		}
	}}.play(t, "path")
	if seen := p.Results[0].Seen; strings.Contains(seen, key) || !strings.Contains(seen, "[key]") {
		t.Error(seen)
	}
	for _, head := range []string{"Server: " + key, "not a field of a header, but " + key} {
		p := stage{prepare: func(_ *testing.T, m *testkit.Model, o *probe.Options) {
			o.Config.Key = key
			for range 2 {
				m.AnswerTo("/v1/models", standin.Wire("HTTP/1.1 200 OK\r\n"+head+"\r\n\r\n"), testkit.Cut())
			}
		}}.play(t, "reachable")
		if seen := p.Results[0].Seen; strings.Contains(seen, key) || !strings.Contains(seen, "[key]") {
			t.Error(seen)
		}
	}
}

func TestCanceled(t *testing.T) {
	m := testkit.NewModel(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	var told []string
	p, err := probe.Run(ctx, probe.Options{Config: llm.Config{BaseURL: m.URL(), Proxy: "none"}, Each: func(r probe.Result) {
		if told = append(told, r.ID); r.ID == "answers" {
			cancel(why)
		}
	}})
	if !errors.Is(err, why) || len(p.Results) != len(told) || told[len(told)-1] != "answers" {
		t.Errorf("%v, %q: %+v", err, told, p)
	}
}

func TestMistakes(t *testing.T) {
	for _, o := range []probe.Options{
		{Config: llm.Config{BaseURL: "nowhere"}},
		{Config: llm.Config{BaseURL: "http://127.0.0.1:1/v1", CAFile: "/none"}},
		{Config: llm.Config{BaseURL: "http://127.0.0.1:1/v1"}, Only: []string{"weather"}},
	} {
		if _, err := probe.Run(t.Context(), o); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A model or a server that repeats the key in its answers does not bring it into the profile.
func TestKeyInAnswers(t *testing.T) {
	const key = "sk-sesame-Sesame-0123"
	echo := []testkit.Piece{standin.Header("Content-Type", "text/event-stream; key="+key), standin.Named(key),
		testkit.Text("Your key is sk-sesame-Ses"), testkit.Text("ame-0123."), testkit.Finish(key), testkit.Done()}
	p := stage{always: echo, prepare: func(_ *testing.T, m *testkit.Model, o *probe.Options) {
		o.Config.Key, o.Patience = key, time.Second
		m.AnswerTo("/v1/models", standin.JSON(200, `{"data":[{"id":"`+key+`","owned_by":"`+key+`"}]}`))
	}}.play(t)
	if text := fmt.Sprintf("%+v", p); strings.Contains(text, key[:14]) || !strings.Contains(text, "[key]") {
		t.Error(text)
	}
}

// A fault that passes is none; what was learned of it is forgotten.
func TestTwice(t *testing.T) {
	const lemon = `{"zest":"thick","colour":"yellow"}`
	m := testkit.NewModel(t)
	for _, pieces := range script(hi(), say("a lemon is yellow"), say(lemon), hi(), say(lemon)) {
		m.Answer(pieces...)
	}
	p, err := probe.Run(t.Context(), probe.Options{Config: llm.Config{BaseURL: m.URL(), Proxy: "none"}, Only: []string{"json"}})
	if err != nil || p.Structured != "json_schema strict" || p.Results[0].Status != probe.Pass {
		t.Errorf("%v, %+v", err, p)
	}
	failing := stage{answers: script(hi(), refuse(500, "boom"), say(lemon))}.play(t, "json")
	if failing.Structured != "" {
		t.Errorf("a failure of the server's own is learned as %q", failing.Structured)
	}
}

const wire = "../../transport/llm/testdata/real-wire"

// Discovery and checks against what real servers answered, with their connections closed as recorded.
func TestRecordedServers(t *testing.T) {
	router := map[string]string{"/v1/models": "llama-router-models", "/props": "llama-router-props",
		"/v1/chat/completions": "llama-router-plain-stream"}
	ollama := map[string]string{"/v1/models": "ollama33-models", "/api/tags": "ollama33-api-tags", "/api/ps": "ollama33-api-ps",
		"/api/show": "ollama33-api-show", "/v1/chat/completions": "ollama33-plain-stream", "/api/chat": "ollama33-native-chat-stream"}
	for _, c := range []struct {
		name, model, kind string
		paths             map[string]string
		want              map[string]string // a part of what each check says, with its status
	}{
		{"router", "tiny", llm.LlamaCPP, router, map[string]string{"reachable": "PASS from llama.cpp", "path": "PASS 5 models",
			"models": "PASS asking tiny", "loaded": "PASS tiny", "context-size": "PASS 8192 tokens of the model's 32768",
			"answers": "PASS way her which", "model-named": "PASS tiny", "terminator": "PASS [DONE]"}},
		{"ollama", "tiny", llm.Ollama, ollama, map[string]string{"path": "PASS 5 models", "models": "PASS asking tiny",
			"loaded": "PASS tiny:latest", "answers": "PASS ", "model-named": "PASS tiny", "terminator": "PASS ",
			"context-size": "WARN 4096 tokens of the model's 32768 ; load the model with a larger context: lastword models load tiny:latest --context 16384"}},
	} {
		m := standin.NewRecordedModel(t, wire, c.paths)
		only := []string{"reachable", "path", "models", "loaded", "context-size", "answers", "model-named", "terminator"}
		p, err := probe.Run(t.Context(), probe.Options{Config: llm.Config{BaseURL: m.URL(), Proxy: "none"}, Model: c.model, Only: only})
		if err != nil || p.Server.Kind != c.kind {
			t.Fatalf("%s: %v, %+v", c.name, err, p)
		}
		for _, r := range p.Results {
			said := string(r.Status) + " " + r.Seen + " ; " + r.Remedy
			status, words, _ := strings.Cut(c.want[r.ID], " ")
			if !strings.HasPrefix(said, status) {
				t.Errorf("%s: %+v, want %s", c.name, r, c.want[r.ID])
			}
			for part := range strings.SplitSeq(words, " ; ") {
				if !strings.Contains(said, part) {
					t.Errorf("%s, %s: %q, want %q", c.name, r.ID, said, part)
				}
			}
		}
	}
	loading := standin.NewRecordedModel(t, wire, map[string]string{"/v1/models": "llama-loading-chat", "/v1/chat/completions": "llama-loading-chat"})
	p, err := probe.Run(t.Context(), probe.Options{Config: llm.Config{BaseURL: loading.URL(), Proxy: "none"}, Only: []string{"path"}, First: 1})
	if r := p.Results[0]; err != nil || r.Status != probe.Warn || r.Seen != "the server is loading its model" || strings.Contains(r.Remedy, "base-url") {
		t.Errorf("%v, %+v", err, p.Results)
	}
}

var must = fatal.IfError
