package prose_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
)

func TestTellingGoesOnToWhatSaysSomething(t *testing.T) {
	for text, want := range map[string]string{
		"Frobs widgets. It is fast.":                                 "Frobs widgets.",
		"Hello! Thank you for coming! This guide begins with frobs.": "This guide begins with frobs.",
		"Do you prefer widgets? Widgets are round and heavy.":        "Widgets are round and heavy.",
		"Wait a minute? It depends.":                                 "",
		"See the complete list below. Frobs are listed by size.":     "Frobs are listed by size.",
		"Note that this is old. This means that it will go.":         "",
		"Please refer to the manual.":                                "",
		"Same as the other one but faster":                           "",
		"(c) Jane Doe <jane@example.com>":                            "",
		"Copyright 2020 Jane Doe. Frobs widgets of all sorts.":       "",
		"License: http://a.example/licenses. Frobs widgets.":         "",
		"Written by jane@example.com in a night":                     "",
		"We are shutting down, but what about workers? They stop.":   "",
		"Frobbing is incredibly easy. An example follows.":           "Frobbing is incredibly easy.",
		"All is in frob.h, so it is enough to":                       "",
		"To build it all, invoke":                                    "",
		"":                                                           "",
	} {
		if got := prose.Informative(text); got != want {
			t.Errorf("%q tells %q, want %q", text, got, want)
		}
	}
}

func TestHollowLeavesWhatIsAboutSomething(t *testing.T) {
	for _, s := range []string{"Reads files of a folder.", "Follows links to their ends.", "Yesterday's logs are kept.",
		"Sends mail to a user@host of yours.", "Wellformed documents only."} {
		if prose.IsBoilerplate(s) {
			t.Errorf("%q is told as hollow", s)
		}
	}
}

func TestSentencesEnd(t *testing.T) {
	for text, want := range map[string]string{
		`It is called the "context." It governs all.`:     `It is called the "context."`,
		"A duplex channel. uv_stream_t is abstract.":      "A duplex channel.",
		"Detects the syntax by, in order: 1. the name.":   "Detects the syntax by, in order: 1. the name.",
		"Runs frobs TODO(jane): bound their time.":        "Runs frobs",
		"Runs frobs e.g. Widgets and others. More of it.": "Runs frobs e.g. Widgets and others.",
	} {
		if got := prose.Sentence(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := strings.Join(prose.Sentences("One. Two. Three. Four.", 3), "|"); got != "One.|Two.|Three." {
		t.Errorf("got %s", got)
	}
}

func TestBanners(t *testing.T) {
	for text, want := range map[string]bool{
		"$ZodString //////////": true, "=== base type ===": true, "-----": true, "Handle": true,
		"Frobs widgets.": false, "/// Frobs any number of widgets at once. ///": false,
	} {
		if got := prose.IsBanner(text); got != want {
			t.Errorf("%q is a banner: %v", text, got)
		}
	}
	if text, framed := prose.TrimFrame("#### Frobs ####"); text != "Frobs" || !framed {
		t.Errorf("%q, %v", text, framed)
	}
	if text, framed := prose.TrimFrame("a -- b"); text != "a -- b" || framed {
		t.Errorf("%q, %v", text, framed)
	}
}

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"One thing. Another.":                    "One thing.",
		"Uses e.g. Redis. Then more.":            "Uses e.g. Redis.",
		"Supports v1.2.3 of it. Yes.":            "Supports v1.2.3 of it.",
		"See a.b.c for more":                     "See a.b.c for more",
		"Is it fast? Yes.":                       "Is it fast?",
		"Written by J. Doe. Enjoy.":              "Written by J. Doe.",
		"Gives the roots of value v. It panics.": "Gives the roots of value v.",
		"速いです。とても。":                              "速いです。",
		"":                                       "",
		strings.Repeat("word ", 100) + ".":       strings.TrimSpace(strings.Repeat("word ", 39)) + "…",
	} {
		if got := prose.Sentence(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestIsHeedsTheScript(t *testing.T) {
	for text, want := range map[string]bool{
		"Grows things in rows and beds.": true,
		"Grows things.":                  false,
		"庭で植物を育てるためのツールです。":              true,
		"一个用来种植花园的小工具库。":                 true,
		"安装": false,
	} {
		if prose.Is(text) != want {
			t.Errorf("%q is prose: %v", text, !want)
		}
	}
}
