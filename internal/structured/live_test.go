package structured_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/structured"
	"github.com/seed889630bf/lastword/messages/model"
)

// heard asks and joins what is told of each path.
func heard(t *testing.T, s *server) map[string]string {
	t.Helper()
	told := map[string]string{}
	ask(t, s, structured.Options{Field: func(path, piece string) { told[path] += piece }})
	return told
}

// What has come is told before the rest is there.
func TestFieldsAreToldWhileTheyCome(t *testing.T) {
	told := ""
	stream := func(_ context.Context, _ model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			yield(model.Text{Text: good[:20]}, nil)
			if told != "Grows th" {
				t.Errorf("of %s is told %q", good[:20], told)
			}
			yield(model.Text{Text: good[20:]}, nil)
			yield(done(), nil)
		}
	}
	o := structured.Options{Field: func(path, piece string) {
		if path == "purpose" {
			told += piece
		}
	}}
	if _, _, err := structured.Ask[analysis](t.Context(), stream, question(), o); err != nil || told != "Grows things." {
		t.Errorf("%v, told %q", err, told)
	}
}

func TestFieldsOfEveryDepth(t *testing.T) {
	want := map[string]string{"purpose": "Grows things.", "concepts.0.name": "Bed", "concepts.0.meaning": "Where it grows."}
	for what, parts := range map[string][]model.Part{
		"text":  says(good),
		"fence": says("```json\n" + good + "\n```"),
		"call": {model.CallDelta{Name: "answer", Arguments: good[:30]}, model.CallDelta{Arguments: good[30:]},
			model.End{Verdict: done().Verdict, Calls: []model.ToolCall{{Name: "answer", Arguments: good}}}},
	} {
		got := heard(t, serve(t, parts))
		for path, text := range want {
			if got[path] != text {
				t.Errorf("%s: %s is told as %q", what, path, got[path])
			}
		}
	}
}

// What a later attempt says otherwise must not follow what was said, and what it says alike is not said again.
func TestFieldsOnlyGrow(t *testing.T) {
	for what, c := range map[string]struct{ first, purpose, name string }{
		"cut inside":      {`{"purpose":"Grows th`, "Grows things.", "Bed"},
		"the same":        {strings.Replace(good, "3", `"x"`, 1), "Grows things.", "Bed"},
		"another purpose": {`{"purpose":"Sells things.","concepts":[]`, "Sells things.", "Bed"},
		"another concept": {strings.Replace(strings.Replace(good, "3", `"x"`, 1), "Bed", "Row", 1), "Grows things.", "Row"},
		"nothing":         {"I would rather not.", "Grows things.", "Bed"},
	} {
		got := heard(t, serve(t, says(c.first), says(good)))
		if got["purpose"] != c.purpose || got["concepts.0.name"] != c.name {
			t.Errorf("%s: told %q", what, got)
		}
	}
}

func TestCommasAndControlsArePutRight(t *testing.T) {
	broken := strings.Replace(strings.Replace(good, "}]", "},]", 1), "Where it", "Where\nit", 1)
	_, report := ask(t, serve(t, says(broken)), structured.Options{})
	if !report.Repaired || report.Attempts != 1 {
		t.Errorf("%+v", report)
	}
}
