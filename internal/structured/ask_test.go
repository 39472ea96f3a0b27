package structured_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/structured"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

type concept struct {
	Name    string `json:"name" jsonschema:"a word or two"`
	Meaning string `json:"meaning"`
}

type analysis struct {
	Purpose  string    `json:"purpose" jsonschema:"one sentence"`
	Concepts []concept `json:"concepts"`
	Score    int       `json:"score"`
}

const good = `{"purpose":"Grows things.","concepts":[{"name":"Bed","meaning":"Where it grows."}],"score":3}`

// server answers each call with the next of its answers, and keeps the requests.
type server struct {
	t        *testing.T
	answers  [][]model.Part
	requests []model.Request
}

func (s *server) stream(_ context.Context, r model.Request) iter.Seq2[model.Part, error] {
	s.requests = append(s.requests, r)
	if len(s.requests) > len(s.answers) {
		s.t.Fatalf("call %d was not expected", len(s.requests))
	}
	return func(yield func(model.Part, error) bool) {
		for _, p := range s.answers[len(s.requests)-1] {
			var err error
			if end, ok := p.(model.End); ok {
				err = end.Verdict.Err()
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

func (s *server) last() model.Request { return s.requests[len(s.requests)-1] }

func (s *server) lastWords() string {
	m := s.last().Messages
	return m[len(m)-1].Content
}

func serve(t *testing.T, answers ...[]model.Part) *server { return &server{t: t, answers: answers} }

func judged(e model.Evidence) model.End {
	return model.End{Evidence: e, Verdict: model.Judge(model.Strict, e),
		Usage: &messages.Usage{PromptTokens: new(int64(10)), CompletionTokens: new(int64(2))}}
}

func done() model.End {
	return judged(model.Evidence{Status: 200, Done: true, Output: true, Finish: "stop"})
}

func finish(reason string) model.End {
	return judged(model.Evidence{Status: 200, Done: true, Output: true, Finish: reason})
}

func refusal(status int, words string) []model.Part {
	return []model.Part{judged(model.Evidence{Status: status, Framed: true, Failure: &model.Failure{Message: words}})}
}

// says answers in pieces of three bytes.
func says(text string) []model.Part {
	var parts []model.Part
	for piece := range slices.Chunk([]byte(text), 3) {
		parts = append(parts, model.Text{Text: string(piece)})
	}
	return append(parts, done())
}

func question() model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.System, Content: "Be brief."},
		{Role: model.User, Content: "What?"}}}
}

func ask(t *testing.T, s *server, o structured.Options) (analysis, structured.Report) {
	t.Helper()
	got, report, err := structured.Ask[analysis](t.Context(), s.stream, question(), o)
	if err != nil {
		t.Fatalf("%v: %+v", err, report)
	}
	if got.Purpose != "Grows things." || len(got.Concepts) != 1 || got.Score != 3 {
		t.Errorf("the answer is %+v", got)
	}
	return got, report
}

// fails wants the cause and gives the words.
func fails(t *testing.T, s *server, o structured.Options, cause messages.Code) (string, structured.Report) {
	t.Helper()
	got, report, err := structured.Ask[analysis](t.Context(), s.stream, question(), o)
	if messages.CodeOf(err).Cause() != cause {
		t.Fatalf("%v, want %s", err, cause)
	}
	if got.Purpose != "" {
		t.Errorf("a failure brings %+v", got)
	}
	return err.Error(), report
}

// Issue: "schema from Go types with fields in order".
func TestSchemaIsOfTheType(t *testing.T) {
	s := serve(t, says(good))
	ask(t, s, structured.Options{Name: "analysis"})
	const want = `{"type":"object","properties":{"purpose":{"type":"string","description":"one sentence"},` +
		`"concepts":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string","description":"a word or two"},` +
		`"meaning":{"type":"string"}},"required":["name","meaning"],"additionalProperties":false}},"score":{"type":"integer"}},` +
		`"required":["purpose","concepts","score"],"additionalProperties":false}`
	f := s.last().Format
	if f == nil || f.Name != "analysis" || !f.Strict || string(f.Schema) != want {
		t.Errorf("the format is %+v\nwith %s", f, f.Schema)
	}
	if m := s.last().Messages; len(m) != 2 || !strings.HasPrefix(m[0].Content, "Be brief.") ||
		!strings.Contains(m[0].Content, want) {
		t.Errorf("a server that passes over the format has no words for it: %+v", m)
	}
}

func TestTypesWithoutCommonSchema(t *testing.T) {
	ctx, s := t.Context(), serve(t)
	type deep struct {
		A struct {
			B struct {
				C struct{ D struct{ E string } }
			}
		}
	}
	errs := map[string]error{}
	_, _, errs["map"] = structured.Ask[struct{ M map[string]string }](ctx, s.stream, question(), structured.Options{})
	_, _, errs["any"] = structured.Ask[struct{ A any }](ctx, s.stream, question(), structured.Options{})
	_, _, errs["string"] = structured.Ask[string](ctx, s.stream, question(), structured.Options{})
	_, _, errs["empty"] = structured.Ask[struct{}](ctx, s.stream, question(), structured.Options{})
	_, _, errs["deep"] = structured.Ask[deep](ctx, s.stream, question(), structured.Options{})
	for what, err := range errs {
		if err == nil {
			t.Errorf("%s: has no form that every server understands", what)
		}
	}
}

func TestAnswersOfAllShapes(t *testing.T) {
	for what, c := range map[string]struct {
		parts   []model.Part
		thought bool
	}{
		"bare":            {parts: says(good)},
		"space around":    {parts: says("\n " + good + "\n")},
		"fence":           {parts: says("```json\n" + good + "\n```")},
		"words around":    {parts: says("Here {it} is:\n" + good + "\nAnything {else}?")},
		"thought in tags": {parts: says(`<think>{"purpose":"?"} maybe</think>` + good)},
		"draft before":    {parts: says(strings.Replace(good, "3", `"three"`, 1) + " or rather " + good)},
		"thought channel": {parts: []model.Part{model.Thought{Text: good[:20]}, model.Thought{Text: good[20:]}, done()},
			thought: true},
		"thought before": {parts: append([]model.Part{model.Thought{Text: `{"purpose":"?"}`}}, says(good)...)},
		"a call": {parts: []model.Part{model.CallDelta{Name: "answer", Arguments: good[:9]},
			model.CallDelta{Arguments: good[9:]},
			model.End{Verdict: done().Verdict, Evidence: done().Evidence,
				Calls: []model.ToolCall{{Name: "answer", Arguments: good}}}}},
	} {
		_, report := ask(t, serve(t, c.parts), structured.Options{})
		if report.Attempts != 1 || report.Repaired || report.Thought != c.thought {
			t.Errorf("%s: %+v", what, report)
		}
	}
}

// Issue: "validated with all errors, re-asked at most twice".
func TestRejectedTwiceThenTaken(t *testing.T) {
	bad := `{"purpose":7,"concepts":[{"name":"Bed"}],"score":3.5,"more":1}`
	s := serve(t, says(bad), says("I would rather not."), says(good))
	var attempts []structured.Attempt
	_, report := ask(t, s, structured.Options{Attempt: func(a structured.Attempt) { attempts = append(attempts, a) }})
	if report.Attempts != 3 || report.Problems != nil || report.Read != 30 || report.Written != 6 {
		t.Errorf("%+v", report)
	}
	if len(attempts) != 3 || attempts[0].Rejected != nil || len(attempts[1].Rejected) != 4 {
		t.Fatalf("attempts: %+v", attempts)
	}
	fatal.IfLacking(t, strings.Join(attempts[1].Rejected, "\n"), "purpose:", "concepts.0:", "score:", "more:")
	again := s.requests[1].Messages
	if len(again) != 4 || again[2].Role != model.Assistant || again[2].Content != bad ||
		!strings.Contains(again[3].Content, "score:") {
		t.Errorf("asked again with %+v", again)
	}
	first, second := s.requests[1].Temperature, s.requests[2].Temperature
	if first == nil || second == nil || *second >= *first || *second != 0 {
		t.Errorf("temperatures %v, %v", first, second)
	}
}

// What a model was told to write does not end its own turn.
func TestRejectedAnswersAreNeutral(t *testing.T) {
	s := serve(t, says(`{"purpose":"<|im_end|>","concepts":[],"score":"[INST]"}`), says(good))
	ask(t, s, structured.Options{})
	for _, m := range s.last().Messages[2:] {
		if m.Content != model.Neutral(m.Content) {
			t.Errorf("asked again with %q", m.Content)
		}
	}
}

func TestRejectedToTheEnd(t *testing.T) {
	s := serve(t, says("no"), says("no"), says(`{"purpose":"x"}`))
	why, report := fails(t, s, structured.Options{}, messages.CauseInvalidOutput)
	if !strings.Contains(why, "3 attempts") || !strings.Contains(why, "missing") || len(report.Problems) == 0 {
		t.Errorf("%s: %+v", why, report)
	}
	s = serve(t, says("no"))
	fails(t, s, structured.Options{Reasks: -1}, messages.CauseInvalidOutput)
}

func TestKeysTwice(t *testing.T) {
	for what, doc := range map[string]string{
		"at the top": strings.Replace(good, `"score":3`, `"score":4,"score":3`, 1),
		"inside":     strings.Replace(good, `{"name":"Bed"`, `{"name":"x","name":"Bed"`, 1),
		"escaped":    strings.Replace(good, `"score":3`, `"\u0073core":4,"score":3`, 1),
	} {
		s := serve(t, says(doc), says(good))
		ask(t, s, structured.Options{})
		if !strings.Contains(s.lastWords(), "twice") {
			t.Errorf("%s: %s", what, s.lastWords())
		}
	}
}

// An answer that was cut is invalid even where what came of it is not, and is not asked for again in the same words.
func TestCutAnswers(t *testing.T) {
	cut := append(says(good)[:len(says(good))-1], finish("length"))
	s := serve(t, cut, cut, says(good))
	ask(t, s, structured.Options{})
	for i, r := range s.requests[1:] {
		if len(r.Messages) != 3 || !strings.Contains(r.Messages[2].Content, "too long") ||
			i > 0 && r.Messages[2].Content == s.requests[i].Messages[2].Content {
			t.Errorf("asked again with %+v", r.Messages[2:])
		}
	}
	filtered := append(says(good)[:3], finish("content_filter"))
	if _, report := fails(t, serve(t, filtered), structured.Options{}, messages.CauseInvalidOutput); report.Attempts != 1 {
		t.Errorf("what the server will not say was asked for %d times", report.Attempts)
	}
}

func TestAnswerWithoutBound(t *testing.T) {
	var flood []model.Part
	for range 2 << 10 {
		flood = append(flood, model.Thought{Text: strings.Repeat("x", 1<<10)})
	}
	s := serve(t, append(flood, done()), says(good))
	ask(t, s, structured.Options{})
	if !strings.Contains(s.lastWords(), "too long") {
		t.Errorf("asked again with %q", s.lastWords())
	}
}

// Issue: "stepping down json_schema strict → loose → json_object → tool call → prompt, learned per server".
func TestLadder(t *testing.T) {
	s := serve(t,
		refusal(400, "response_format: strict is not supported"),
		refusal(400, `'response_format.type' must be 'text'`),
		refusal(422, "failed to parse grammar"),
		refusal(400, "this model does not take tools"),
		says(good),
		says(good))
	ladder := new(structured.Ladder)
	var levels []string
	o := structured.Options{Ladder: ladder, Attempt: func(a structured.Attempt) { levels = append(levels, a.Level.String()) }}
	_, report := ask(t, s, o)
	want := []string{"json_schema strict", "json_schema", "json_object", "tool call", "prompt"}
	if !slices.Equal(levels, want) || report.Level != structured.Prompt || ladder.Level() != structured.Prompt {
		t.Errorf("%q, %+v", levels, report)
	}
	for i, r := range s.requests {
		_, isJSON := formatOf(r)
		if isJSON != (i < 3) || (len(r.Tools) == 1 && r.Choice == "answer") != (i == 3) {
			t.Errorf("call %d: format %+v, tools %+v", i, r.Format, r.Tools)
		}
	}
	if f := s.requests[2].Format; f.Schema != nil {
		t.Errorf("json_object with a schema: %s", f.Schema)
	}
	if _, report = ask(t, s, o); report.Attempts != 1 {
		t.Errorf("the second question asks again for what was refused: %+v", report)
	}
}

func TestLevelsHaveNames(t *testing.T) {
	for l := structured.Strict; l <= structured.Prompt; l++ {
		if got := structured.NewLadder(l.String()).Level(); got != l {
			t.Errorf("%s is the name of level %s", l, got)
		}
	}
	if got := structured.NewLadder("by and by").Level(); got != structured.Strict {
		t.Errorf("a name that no level has stands for %s", got)
	}
}

func formatOf(r model.Request) (json.RawMessage, bool) {
	if r.Format == nil {
		return nil, false
	}
	return r.Format.Schema, true
}

// A step down costs no re-ask, and what is known of the server is a beginning.
func TestLadderAndReasks(t *testing.T) {
	s := serve(t, says("no"), refusal(400, "json_object is not known"), says("no"), says(good))
	_, report := ask(t, s, structured.Options{Ladder: structured.NewLadder(structured.Object.String())})
	if report.Attempts != 4 || report.Level != structured.Call {
		t.Errorf("%+v", report)
	}
}

// What is no refusal of a level is a failure, and the stream's own.
func TestFailuresAreTheStreams(t *testing.T) {
	for what, c := range map[string]struct {
		parts    []model.Part
		cause    messages.Code
		overflow bool
	}{
		"bad request":  {parts: refusal(400, "unknown model"), cause: messages.CauseProviderError},
		"server error": {parts: refusal(500, "grammar engine crashed"), cause: messages.CauseProviderError},
		"overflow": {parts: refusal(400, "the request exceeds the available context size: n_ctx 4096"),
			cause: messages.CauseContextExceeded, overflow: true},
		"overflow in band": {parts: []model.Part{judged(model.Evidence{Status: 200, Framed: true,
			Failure: &model.Failure{Message: "Cannot truncate prompt with n_keep (9) >= n_ctx (8)"}})},
			cause: messages.CauseContextExceeded, overflow: true},
		"nothing": {parts: []model.Part{judged(model.Evidence{Done: true})}, cause: messages.CauseEmptyCompletion},
		"closed": {parts: []model.Part{model.Text{Text: good},
			judged(model.Evidence{Output: true, Read: "reset"})}, cause: messages.CauseTransportClosed},
		"stalled": {parts: []model.Part{judged(model.Evidence{Stopped: messages.CauseStalled})}, cause: messages.CauseStalled},
		"canceled": {parts: []model.Part{judged(model.Evidence{Stopped: messages.CauseCanceledByUser})},
			cause: messages.CauseCanceledByUser},
		"no end": {parts: []model.Part{model.Text{Text: good}}, cause: messages.CauseTransportClosed},
		"error frame late": {parts: []model.Part{model.Text{Text: good[:9]},
			judged(model.Evidence{Status: 200, Output: true, Failure: &model.Failure{Code: "400", Message: "grammar"}})},
			cause: messages.CauseProviderError},
	} {
		_, report := fails(t, serve(t, c.parts), structured.Options{}, c.cause)
		if report.Attempts != 1 || report.Overflow != c.overflow {
			t.Errorf("%s: %+v", what, report)
		}
	}
}

// strictly knows more of its form than its schema says.
type strictly struct {
	Purpose string `json:"purpose"`
}

func (s *strictly) Problems() []string {
	if s.Purpose == "" {
		return []string{"the purpose is empty"}
	}
	return nil
}

func TestCheckedValues(t *testing.T) {
	s := serve(t, says(`{"purpose":""}`), says(`{"purpose":"Grows."}`))
	got, _, err := structured.Ask[strictly](t.Context(), s.stream, question(), structured.Options{})
	if err != nil || got.Purpose != "Grows." || !strings.Contains(s.lastWords(), "the purpose is empty") {
		t.Errorf("%+v, %v, asked again with %q", got, err, s.lastWords())
	}
}

func TestStreamWithItsOwnError(t *testing.T) {
	own := errors.New("no stream")
	stream := func(context.Context, model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) { yield(model.End{}, own) }
	}
	if _, _, err := structured.Ask[analysis](t.Context(), stream, question(), structured.Options{}); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
}

// An answer that came without Ask is judged as one of Ask.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{"Here:\n```json\n" + good + "\n```": "", "Grows things.": "it holds no JSON object",
		strings.Replace(good, `"score":3`, `"score":"3"`, 1): "score: this is a text; write a whole number"} {
		value, problems, err := structured.Read[analysis](text)
		if err != nil || strings.Join(problems, "; ") != want || want == "" && value.Score != 3 {
			t.Errorf("%s: %+v, %q, %v", text, value, problems, err)
		}
	}
}
