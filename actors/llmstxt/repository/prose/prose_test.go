package prose_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

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
