package source_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
)

// shape is a text that grows: what stands before, what comes again and again, what that is followed by as often, and
// what stands behind.
type shape struct{ before, again, then, after string }

// text repeats as often as the size has room for, and some times more.
func (s shape) text(size, more int) []byte {
	times := size/max(1, len(s.again)+len(s.then)) + more
	return slices.Concat([]byte(s.before), bytes.Repeat([]byte(s.again), times), bytes.Repeat([]byte(s.then), times),
		[]byte(s.after))
}

func (s shape) String() string {
	return fmt.Sprintf("%q + n × %q + n × %q + %q", s.before, s.again, s.then, s.after)
}

// What a byte of the long text may cost, as a multiple of what one of the short text does; less than least is free.
const (
	short, long = 32 << 10, 128 << 10
	mostRatio   = 1.5
	least       = 10 // nanoseconds
)

// meter measures scanners. The collector runs between the measurements only.
type meter struct {
	language string
	used     int
}

func newMeter(t *testing.T, language string) *meter {
	percent := debug.SetGCPercent(-1)
	runtime.LockOSThread()
	t.Cleanup(func() { runtime.UnlockOSThread(); debug.SetGCPercent(percent) })
	return &meter{language: language}
}

// once is what a byte of the text costs, in nanoseconds.
func (m *meter) once(t *testing.T, text []byte) float64 {
	if m.used += len(text); m.used > 512<<10 {
		runtime.GC()
		m.used = 0
	}
	begun := clock()
	source.Outline(t.Context(), m.language, text)
	return float64(clock()-begun) / float64(len(text))
}

// linear fails where a byte costs more in a long text. What else the machine does only adds to the time, so the least
// of several measurements counts. An odd number of quotes makes another text than an even one, so the dearest of
// three short texts counts.
func (m *meter) linear(t *testing.T, s shape) {
	t.Helper()
	low, high := m.once(t, s.text(short, 0)), m.once(t, s.text(long, 0))
	if high <= mostRatio*max(low, least) {
		return
	}
	lows := []float64{low, 1e9, 1e9}
	for round := range 15 {
		runtime.GC()
		for more, before := range lows {
			lows[more] = min(before, m.once(t, s.text(short, more)))
		}
		high = min(high, m.once(t, s.text(long, 0)))
		switch low = max(slices.Max(lows), least); {
		case high <= mostRatio*low:
			return
		case round < 14 && (round < 3 || high < 2.5*low):
			continue
		}
		t.Errorf("%s: a byte of %d kB costs %.0f ns, one of %d kB %.0f ns", s, long>>10, high, short>>10, low)
		return
	}
}

// grammar is the tokens of a language, and what members stand in.
type grammar struct {
	frame  string
	tokens []string
}

func grammars(t *testing.T) map[string]grammar {
	archive, err := txtar.ParseFile("testdata/tokens.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]grammar{}
	for _, f := range archive.Files {
		first, rest, _ := strings.Cut(string(f.Data), "\n")
		frame, err := strconv.Unquote(first)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		all[f.Name] = grammar{frame, slices.Concat(strings.Fields(rest), all["all"].tokens, []string{"\n", "\t"})}
	}
	return all
}

// draw makes a shape of a few tokens.
func (g grammar) draw(r *rand.Rand) shape {
	tokens := func(least, most int) string {
		var b strings.Builder
		gap := []string{"", " ", "\n"}[r.IntN(3)]
		for range least + r.IntN(most-least+1) {
			b.WriteString(g.tokens[r.IntN(len(g.tokens))] + gap)
		}
		return b.String()
	}
	s := shape{before: []string{"", g.frame}[r.IntN(2)] + tokens(0, 2), again: tokens(1, 3), after: tokens(0, 3)}
	if r.IntN(3) == 0 {
		s.then = tokens(1, 2)
	}
	return s
}

// Shapes that took quadratic time.
var onceQuadratic = map[string][]string{
	"C#":         {"@", "@ ", "$", "$@", "@$ "},
	"JavaScript": {"/[", "/[/]", "module A ", "a = function\n", "namespace A\n", "a = (): A | "},
	"TypeScript": {"/[", "/\\[", "module A ", "declare \n", "declare module A\n", "a = <A>(b): C => "},
	"C":          {"class A ", "struct A ", "enum A\n", "AB AB ", "A, "},
	"C++":        {"class A ", "A, ", "class A::", "AB(", "template<A> class B "},
}

// Every scanner takes time linear in the text, for any prefix and repetition of its language's tokens. Here some are
// drawn; make linear tries all pairs of them, and more that are drawn.
func TestScannersAreLinear(t *testing.T) {
	draws, all := 15, os.Getenv("LASTWORD_LINEAR") != ""
	if all {
		draws = 2000
	}
	const seed = 11
	grammars := grammars(t)
	for i, language := range source.Languages() {
		t.Run(language, func(t *testing.T) {
			m, g, r := newMeter(t, language), grammars[language], rand.New(rand.NewPCG(seed, uint64(i)))
			for _, again := range onceQuadratic[language] {
				m.linear(t, shape{again: again})
				m.linear(t, shape{before: g.frame, again: again})
			}
			for i := range draws {
				if s := g.draw(r); !t.Failed() || all {
					t.Logf("seed %d, draw %d: %s", seed, i, s)
					m.linear(t, s)
				}
			}
			if all {
				m.pairs(t, g)
			}
		})
	}
}

// pairs tries all pairs of tokens, in the language's frame.
func (m *meter) pairs(t *testing.T, g grammar) {
	for _, a := range g.tokens {
		for _, b := range g.tokens {
			m.linear(t, shape{before: g.frame, again: a + " " + b + " "})
			m.linear(t, shape{before: g.frame, again: a + b})
			m.linear(t, shape{before: g.frame, again: a + " ", then: b + " "})
		}
	}
}
