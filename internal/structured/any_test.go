package structured_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/structured"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// once answers with the pieces.
func once(pieces ...string) model.Stream {
	return func(context.Context, model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			for _, p := range pieces {
				if p != "" && !yield(model.Text{Text: p}, nil) {
					return
				}
			}
			yield(done(), nil)
		}
	}
}

// Whatever the value, however the answer is cut, and whatever stands around it: the value comes back, and what was
// told of its strings is what they are.
func TestAnyValueComesBack(t *testing.T) {
	words := rapid.OneOf(rapid.StringMatching(`[ -~]{0,12}`), rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		want := analysis{Purpose: words.Draw(rt, "purpose"), Score: rapid.Int().Draw(rt, "score"), Concepts: []concept{}}
		for range rapid.IntRange(0, 3).Draw(rt, "concepts") {
			want.Concepts = append(want.Concepts, concept{words.Draw(rt, "name"), words.Draw(rt, "meaning")})
		}
		doc, err := json.Marshal(want)
		fatal.IfError(rt, err)
		_ = json.Unmarshal(doc, &want) // invalid UTF-8 is replaced
		text := rapid.SampledFrom([]string{"", "```json\n", "Here:\n", "<think>so {so}</think>"}).Draw(rt, "before") +
			string(doc) + rapid.SampledFrom([]string{"", "\n```", "\nThat {is} it."}).Draw(rt, "after")
		var pieces []string
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		told := map[string]string{}
		o := structured.Options{Field: func(path, piece string) { told[path] += piece }}
		got, report, err := structured.Ask[analysis](t.Context(), once(pieces...), question(), o)
		if err != nil || report.Repaired || !reflect.DeepEqual(got, want) {
			rt.Fatalf("%v, %+v: %+v, want %+v", err, report, got, want)
		}
		for path, said := range stringsOf(want) {
			if told[path] != said {
				rt.Fatalf("%s is told as %q, want %q", path, told[path], said)
			}
		}
	})
}

func stringsOf(a analysis) map[string]string {
	all := map[string]string{"purpose": a.Purpose}
	for i, c := range a.Concepts {
		all[fmt.Sprintf("concepts.%d.name", i)], all[fmt.Sprintf("concepts.%d.meaning", i)] = c.Name, c.Meaning
	}
	return all
}

// Whatever a model answers, it is a value of the form or invalid_output.
func FuzzAsk(f *testing.F) {
	f.Add(good)
	f.Add("```json\n" + good + "\n```")
	f.Add(strings.Repeat(`{"a":`, 40))
	f.Add(`{"purpose":"x","concepts":[],"score":1,"score":2}`)
	f.Add(`{{"}{"purpose":1e999,"concepts":[[[[]]]],"score":99999999999999999999}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		got, report, err := structured.Ask[analysis](t.Context(), once(text), question(), structured.Options{})
		if err == nil && got.Concepts == nil {
			t.Errorf("%+v is not of the form", got)
		}
		if err != nil && (messages.CodeOf(err) != messages.CauseInvalidOutput || len(report.Problems) == 0) {
			t.Errorf("%v: %+v", err, report)
		}
	})
}
