package decode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/decode"
	"pgregory.net/rapid"
)

var dialects = []decode.Dialect{decode.Auto, decode.Implicit, decode.None}

// agree holds that an answer in pieces is the answer in one piece.
func agree(t testing.TB, d decode.Dialect, in string, lengths []byte) {
	want := split(t, d, in)
	for _, pieces := range [][]string{bytes1(in), cuts(in, lengths)} {
		if got := split(t, d, pieces...); got.String() != want.String() {
			t.Fatalf("%q %q:\n  got %v\nwhole %v", d, pieces, got, want)
		}
	}
	if d == decode.None && want.text != in {
		t.Fatalf("%q became %v", in, want)
	}
}

// Contract, section 7: thoughts in every form, "equal under any chunking".
func TestThoughtsAgree(t *testing.T) {
	atoms := []string{
		"<think>", "</think>", "<thinking>", "</thinking>", "<Thought >", "</thought >", "<thi", "</", "<", ">", "[", "a", "b c", " ", "\n",
		"\n\n", "`", "``", "```", "~~~", "~", "\"", "'", "(\"", "<thinking thought=\"x > y\" confidence=0.5>", "<thinking thought='x'/>", "<think/>",
		"[THINK]", "[/THINK]", "<|channel>thought\n", "<channel|>", "<|think|>", "<|/think|>", "<|channel|>analysis<|message|>", "<|end|>",
		"<|start|>assistant", "<|channel|>final<|message|>", "<|return|>", "<|mess", "<thinking a=\"<think>", "=", "\\", "é", "<thinking b>",
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 0, 16).Draw(rt, "in"), "")
		d := rapid.SampledFrom(dialects).Draw(rt, "dialect")
		agree(rapidTB{t, rt}, d, in, rapid.SliceOf(rapid.Byte()).Draw(rt, "lengths"))
	})
}

// rapidTB lets rapid shrink what fails.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (r rapidTB) Errorf(format string, args ...any) { r.rt.Fatalf(format, args...) }
func (r rapidTB) Fatalf(format string, args ...any) { r.rt.Fatalf(format, args...) }

func FuzzThoughts(f *testing.F) {
	for _, form := range forms(f) {
		f.Add(form.in, uint8(slices.Index(dialects, form.dialect)), []byte{2})
	}
	f.Fuzz(func(t *testing.T, in string, d uint8, lengths []byte) {
		if len(in) < decode.Held {
			agree(t, dialects[int(d)%len(dialects)], in, lengths)
		}
	})
}
