package model_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// finishes returns words that servers are known to send.
func finishes(t testing.TB) map[model.Finish][]string {
	all := fatal.Table[map[string][]string](t, "testdata/finishes.json")
	return map[model.Finish][]string{model.Unfinished: all["unfinished"], model.Stopped: all["stopped"], model.Truncated: all["truncated"],
		model.Filtered: all["filtered"], model.Broken: all["broken"], model.Unknown: all["unknown"]}
}

// Contract, section 7: "in any spelling".
func TestFinishes(t *testing.T) {
	for want, words := range finishes(t) {
		for _, word := range words {
			for _, spelled := range []string{word, strings.ToUpper(word), strings.ToLower(word), " " + word + " "} {
				if got := model.FinishOf(spelled); got != want {
					t.Errorf("%q means %d, want %d", spelled, got, want)
				}
			}
			e := model.Evidence{Done: true, Output: true, Finish: word}
			for _, e.Done = range []bool{true, false} {
				e.Framed, e.FinishLast = !e.Done, !e.Done
				v := model.Judge(model.Generic, e)
				completed := want != model.Broken && (e.Done || want != model.Unfinished)
				if (v.Outcome == model.Completed) != completed || v.Truncated != (want == model.Truncated) ||
					v.Filtered != (want == model.Filtered) {
					t.Errorf("%q, [DONE] %t: %+v", word, e.Done, v)
				}
				if want == model.Broken && (v.Cause != messages.CauseProviderError || !strings.Contains(v.Message, word)) {
					t.Errorf("%q: %+v", word, v)
				}
				if told := strings.Contains(e.String(), "unknown finish_reason "+word); told != (want == model.Unknown) {
					t.Errorf("%q, [DONE] %t: the evidence is %q", word, e.Done, e)
				}
			}
		}
	}
}

// FuzzFinish: no spelling of a word that is known to be no stop completes an answer without a flag; a word in any
// case and with any marks between its letters means the same.
func FuzzFinish(f *testing.F) {
	for _, words := range finishes(f) {
		for _, word := range words {
			f.Add(word, "_", true)
		}
	}
	f.Fuzz(func(t *testing.T, word, mark string, upper bool) {
		want := model.FinishOf(word)
		if strings.ContainsFunc(mark, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			mark = "-"
		}
		var spelled strings.Builder
		for _, r := range word {
			if upper && r < unicode.MaxASCII {
				r = unicode.ToUpper(r)
			}
			spelled.WriteString(string(r) + mark)
		}
		if got := model.FinishOf(spelled.String()); got != want {
			t.Fatalf("%q means %d, and %q %d", word, want, spelled.String(), got)
		}
		e := model.Evidence{Done: true, Output: true, Finish: word}
		v := model.Judge(model.Strict, e)
		plain := v.Outcome == model.Completed && !v.Truncated && !v.Filtered && e.String() == "done"
		if plain != (want <= model.Stopped) {
			t.Fatalf("%q means %d: %+v, %s", word, want, v, e)
		}
		for _, grave := range []string{"error", "max_tokens", "content_filter"} {
			if got := model.FinishOf(word + "_" + grave); got < model.Truncated {
				t.Fatalf("%s_%s means %d", word, grave, got)
			}
		}
	})
}

func TestNamesOfOneModel(t *testing.T) {
	for kind, pairs := range fatal.Table[map[string][][2]string](t, "testdata/names.json") {
		for _, pair := range pairs {
			want := kind == "same"
			if model.SameModel(pair[0], pair[1]) != want || model.SameModel(pair[1], pair[0]) != want {
				t.Errorf("%q: want %v", pair, want)
			}
		}
	}
}
