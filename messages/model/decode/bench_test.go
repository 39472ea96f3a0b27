package decode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// lengths of an answer, in tokens. The cost of a token must not depend on it.
var lengths = []int{500, 2000, 8000}

var prose = []string{
	"The", " run", "time", " keeps", " a", " journal", ",", " and", " `", "Append", "`", " returns", " when", " the", " bytes",
	" are", " on", " the", " disk", ".", "\n\n", "-", " a", " <", " b", " is", " café", "\n",
}

// answer is n tokens of prose between others.
func answer(before []string, n int, after ...string) []string {
	tokens := append([]string{}, before...)
	for i := range n {
		tokens = append(tokens, prose[i%len(prose)])
	}
	return append(tokens, after...)
}

// measure runs decode over an answer's tokens; it reports the cost of one.
func measure(b *testing.B, tokens []string, run func()) {
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(tokens)), "ns/token")
}

func each(b *testing.B, run func(b *testing.B, n int)) {
	for _, n := range lengths {
		b.Run(fmt.Sprintf("tokens=%d", n), func(b *testing.B) { run(b, n) })
	}
}

func BenchmarkThoughtsText(b *testing.B) {
	each(b, func(b *testing.B, n int) { benchmarkThoughts(b, answer(nil, n)) })
}

func BenchmarkThoughtsThought(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		benchmarkThoughts(b, answer([]string{"<think>", "\n"}, n, "\n", "</think>", "ok"))
	})
}

func benchmarkThoughts(b *testing.B, tokens []string) {
	hear := func(model.Part) {}
	measure(b, tokens, func() {
		thoughts := decode.NewThoughts(decode.Auto)
		for _, token := range tokens {
			thoughts.Push(token, hear)
		}
		thoughts.Close(hear)
	})
}

func BenchmarkField(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		tokens := escaped(answer(nil, n))
		tokens = append([]string{"```", "json", "\n", "{\"", "response", "\":", " \""}, append(tokens, `"`, `,"a":`, "1}", "\n```")...)
		measure(b, tokens, func() {
			field := decode.NewFields("response")
			for _, token := range tokens {
				field.Push(token, func(_, _ string) {})
			}
			if _, err := field.Close(); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// escaped are tokens as they stand inside a JSON string.
func escaped(tokens []string) []string {
	var out []string
	for _, token := range tokens {
		literal, _ := json.Marshal(token)
		out = append(out, string(literal[1:len(literal)-1]))
	}
	return out
}

func BenchmarkUnescape(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		var literals [][]byte
		for _, token := range escaped(answer(nil, n)) {
			literals = append(literals, []byte(`"`+token+`"`))
		}
		measure(b, answer(nil, n), func() {
			var u decode.Unescape
			for _, literal := range literals {
				u.Push(literal)
			}
		})
	})
}

func BenchmarkCalls(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		deltas := []decode.CallDelta{{ID: raw(`"a"`), Index: raw("0"), Name: raw(`"f"`)}}
		tokens := answer([]string{`{"text":"`}, n, `"}`)
		for _, token := range escaped(tokens) {
			deltas = append(deltas, decode.CallDelta{Index: raw("0"), Arguments: raw(`"` + token + `"`)})
		}
		measure(b, tokens, func() {
			var calls decode.Calls
			for _, d := range deltas {
				calls.Push(d)
			}
			if done := calls.Done(); !strings.HasSuffix(done[0].Arguments, "}") {
				b.Fatal(done)
			}
		})
	})
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }
