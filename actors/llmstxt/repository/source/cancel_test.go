package source_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// asked is a context that notes the longest time for which nobody asked whether it is done.
type asked struct {
	context.Context
	last, longest time.Duration
}

func (a *asked) Err() error {
	now := clock()
	a.last, a.longest = now, max(a.longest, now-a.last)
	return nil
}

// A scan of the longest text that is no longer wanted ends within 250 ms, whenever that becomes known and whatever
// the text is. A quarter of that text gets a quarter of the time. Go's parser does not heed a context, and half as
// much is given to it.
func TestScannersHeedTheirContext(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	grammars := grammars(t)
	for _, language := range source.Languages() {
		limit := 250 * time.Millisecond / 4 * slower
		if language == "Go" {
			limit *= 2
		}
		frame := grammars[language].frame
		for _, s := range []shape{
			{before: frame, again: "A "}, {before: frame, again: "A, "}, {before: frame, again: "("},
			{before: frame, again: "/** A */ export const a = 1\n"}, {before: frame, again: "def a(b)\n"},
			{before: "package p\n", again: "func F() { x := 1 \n"}, {before: "#", again: "if A\n#else\n#"},
		} {
			ctx := &asked{Context: t.Context()}
			text := s.text(surface.MaxBytes/4, 0)
			ctx.last = clock()
			source.Outline(ctx, language, text)
			if _ = ctx.Err(); ctx.longest > limit {
				t.Errorf("%s: %s: the context is not looked at for %v", language, s, ctx.longest)
			}
		}
	}
}
