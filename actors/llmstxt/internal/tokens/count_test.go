package tokens_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/tokens"
)

// gpt-tokenizer 3 gives the same counts. The module testkit/oracle compares many more texts.
func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"":                     0,
		"Hello, world!":        4,
		"return  1ﬁ\n \n":      6,
		"\r\n\t\r\n":           1,
		"a\n  \nb":             3,
		"😀ʰ\n  \nthe's's":      7,
		"\n \n<\n  é>'Sé":      6,
		"func (c *counter) x(": 8,
		"<|endoftext|>":        7,
		"\xff\xfe":             2,
	} {
		if got := tokens.Count(text); got != want {
			t.Errorf("%q has %d tokens, not %d", text, got, want)
		}
	}
}

// One word of a megabyte takes no longer than its n log n: with a scan for each merge it would take hours.
func TestCountLongWord(t *testing.T) {
	if got := tokens.Count(strings.Repeat("xq", 1<<19)); got < 1<<18 {
		t.Error(got)
	}
}

// A text has as many tokens as its pieces, whether or not its lines were counted before.
func TestCountLines(t *testing.T) {
	parts := []string{"\n", "\n\t", "\r\n", " ", "\u00a0", "\v", "/", "}", "'s", "a", "É", "1", "\xff"}
	var check func(text string, more int)
	check = func(text string, more int) {
		want := tokens.CountPieces(text)
		for range 2 {
			if got := tokens.Count(text); got != want {
				t.Errorf("%q has %d tokens, not %d", text, got, want)
			}
		}
		for _, p := range parts[:min(more, 1)*len(parts)] {
			check(text+p, more-1)
		}
	}
	check("", 3)
}

// However a text is written, it has the same count.
func TestCounter(t *testing.T) {
	text := strings.Repeat("if x {\n\t// a\n}\n\n \nfunc ü() {;\n//\r\n1\n", 20)
	want := tokens.Count(text)
	for size := 1; size < 60; size++ {
		c := tokens.Counter{Context: t.Context(), Counts: new(tokens.Counts)}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := c.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got := c.Count(); got != want {
			t.Errorf("in parts of %d bytes it has %d tokens, not %d", size, got, want)
		}
	}
}

// What one run has counted, the next one knows, whatever it counts beside that.
func TestCountsAreKept(t *testing.T) {
	var kept []byte
	for run, texts := range []string{"one two", "two three four", "one"} {
		counts := tokens.Counts{Earlier: func() []byte { return kept }}
		for text := range strings.FieldsSeq(texts) {
			text = strings.Repeat(text+" ", 40)
			if got, want := counts.Of(t.Context(), []byte(text)), tokens.Count(text); got != want {
				t.Errorf("run %d: %q has %d tokens, not %d", run, text, got, want)
			}
		}
		fresh := counts.Bytes()
		if (fresh == nil) != (run == 2) {
			t.Errorf("run %d knows %d bytes more", run, len(fresh))
		}
		kept = append(kept[:0:0], fresh...)
		if run == 1 && len(kept) != 4*16 {
			t.Errorf("%d bytes are kept", len(kept))
		}
	}
}

// A damaged file of counts is one that knows less.
func TestDamagedCounts(t *testing.T) {
	for _, damaged := range []string{"", "x", strings.Repeat("\x00", 100), strings.Repeat("z\xff", 1000)} {
		counts := tokens.Counts{Earlier: func() []byte { return []byte(damaged) }}
		if got := counts.Of(t.Context(), []byte("Hello, world!")); got != 4 {
			t.Errorf("%d tokens with %.10q", got, damaged)
		}
	}
}

// polled is a context that ends when it has been looked at once, and counts what follows.
type polled struct {
	context.Context
	looks int
}

func (p *polled) Err() error {
	if p.looks++; p.looks == 1 {
		return nil
	}
	return context.Canceled
}

// Counting ends soon after its context, also inside a word without end.
func TestCountHeedsItsContext(t *testing.T) {
	for _, text := range []string{"[[", "a", "\n", "a ", "中", "x\n"} {
		ctx := &polled{Context: t.Context()}
		c := tokens.Counter{Context: ctx, Counts: new(tokens.Counts)}
		if _, err := c.Write([]byte(strings.Repeat(text, 1<<20))); err == nil {
			c.Count()
		}
		if ctx.looks < 3 || ctx.looks > 10 {
			t.Errorf("%q: %d looks at the context", text, ctx.looks)
		}
	}
}
