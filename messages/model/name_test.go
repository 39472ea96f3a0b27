package model_test

import (
	"testing"

	"github.com/seed889630bf/lastword/messages/model"
)

func TestNamesOfOneModel(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"m", "m"}:                                   true,
		{"llama3", "llama3:latest"}:                  true,
		{"Qwen3-8B", "qwen3-8b"}:                     true,
		{"qwen3-8b", "qwen/qwen3-8b"}:                true,
		{"qwen3-8b", "/home/x/models/Qwen3-8B.gguf"}: true,
		{"qwen3-8b", `C:\models\qwen3-8b.gguf`}:      true,
		{"gpt-4o", "gpt-4o-2024-08-06"}:              true,
		{"gpt-4", "gpt-4-0613"}:                      true,
		{"sonnet-latest", "vendor/sonnet-20241022"}:  true,
		{"big-70b", "tiny-1b"}:                       false,
		{"a/m", "b/m"}:                               false,
		{"qwen3-8b", "qwen3-80b"}:                    false,
		{"qwen3", "my-qwen3"}:                        false,
		{"llama3:8b", "llama3:70b"}:                  false,
		{"qwen3-4b", "qwen3-4b-2507"}:                false, // no day of a year
		{"m-2024-08-06", "m-2024-11-20"}:             false,
		{"m", "m-mini"}:                              false,
	} {
		if model.SameModel(pair[0], pair[1]) != want || model.SameModel(pair[1], pair[0]) != want {
			t.Errorf("%q: want %v", pair, want)
		}
	}
}
