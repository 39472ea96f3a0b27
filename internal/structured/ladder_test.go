package structured_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/structured"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Issue: "response_format refused in whatever words or with 501 steps the ladder down".
func TestRefusalsInAnyWords(t *testing.T) {
	for _, c := range fatal.Table[[]struct {
		Status  int
		Failure model.Failure
	}](t, "testdata/refusals.json") {
		refused := []model.Part{judged(model.Evidence{Status: c.Status, Framed: true, Failure: &c.Failure})}
		ladder := new(structured.Ladder)
		s := serve(t, refused, says(good))
		_, report := ask(t, s, structured.Options{Ladder: ladder})
		if report.Attempts != 2 || report.Level != structured.Loose || ladder.Level() != structured.Loose {
			t.Errorf("%d %+v: %+v", c.Status, c.Failure, report)
		}
	}
}

// What a server says of something else is asked for once, and says nothing of its levels.
func TestRefusalsOfOtherThings(t *testing.T) {
	for _, c := range []struct {
		status int
		words  string
	}{
		{400, "max_tokens is too large: 4096"}, {400, "Unsupported value: 'temperature' does not support 0.2"},
		{400, "the model does not exist: invalid model m"}, {401, "this key has no json mode"}, {400, "Incorrect API key provided"},
		{429, "too many json_schema requests"}, {500, "failed to parse grammar"}, {503, "response_format worker is down"},
		{400, "prompt is too long: 9000 tokens"}, {400, "The response was filtered due to Azure's content management policy"},
		{400, "insufficient balance"}, {404, "not found"},
	} {
		ladder, cause := new(structured.Ladder), messages.CauseProviderError
		if strings.Contains(c.words, "too long") {
			cause = messages.CauseContextExceeded
		}
		_, report := fails(t, serve(t, refusal(c.status, c.words)), structured.Options{Ladder: ladder}, cause)
		if report.Attempts != 1 || ladder.Level() != structured.Strict {
			t.Errorf("%d %s: %+v, level %s", c.status, c.words, report, ladder.Level())
		}
	}
}

// A request that is refused at every level was not refused for the level.
func TestRefusedToTheFoot(t *testing.T) {
	no := refusal(400, "no")
	ladder := new(structured.Ladder)
	_, report := fails(t, serve(t, no, no, no, no, no), structured.Options{Ladder: ladder}, messages.CauseProviderError)
	if report.Level != structured.Prompt || ladder.Level() != structured.Strict {
		t.Errorf("%+v, learned %s", report, ladder.Level())
	}
}

// Issue: "A JSON answer cut by length is asked again as truncated", whatever the server calls it.
func TestCutInAnyWords(t *testing.T) {
	open := good[:len(good)-9]
	ending := func(text, finish string, output bool, tokens int64) []model.Part {
		end := judged(model.Evidence{Status: 200, Done: true, Output: output, Finish: finish})
		end.Usage = &messages.Usage{CompletionTokens: &tokens}
		if text == "" {
			return []model.Part{end}
		}
		return []model.Part{model.Text{Text: text}, end}
	}
	for what, parts := range map[string][]model.Part{
		"max_tokens":           ending(open, "MAX_TOKENS", true, 1),
		"model_length":         ending(good, "model_length", true, 1),
		"in a thought":         {model.Thought{Text: "hm"}, finish("length")},
		"before a word":        ending("", "length", false, 9),
		"no end of the object": ending(open, "stop", true, 1),
		"no reason":            ending(open, "", true, 1),
		"all tokens":           ending("Well, let me see", "stop", true, 50),
	} {
		s := serve(t, parts, says(good))
		r := question()
		r.MaxTokens = 50
		_, report, err := structured.Ask[analysis](t.Context(), s.stream, r, structured.Options{})
		if err != nil || report.Attempts != 2 || len(s.last().Messages) != 3 || !strings.Contains(s.lastWords(), "too long") {
			t.Errorf("%s: %v, %+v, asked again with %q", what, err, report, s.lastWords())
		}
	}
	s := serve(t, ending(good, "stop", true, 50))
	if _, report := ask(t, s, structured.Options{}); report.Attempts != 1 {
		t.Errorf("a whole answer of all tokens: %+v", report)
	}
}
