package expression_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
)

// polled is a context that ends when it has been looked at a number of times.
type polled struct {
	context.Context
	left, after int
}

func (p *polled) Err() error {
	if p.left--; p.left >= 0 {
		return nil
	}
	p.after++
	return context.Canceled
}

// However an evaluation spends its time, it looks at its context, and ends when that does.
func TestEvaluationHeedsItsContext(t *testing.T) {
	for text, polls := range map[string]int{
		`${len([x for x in range(100000)])}`:                40, // steps
		`${str([[1, 2, 3] for x in range(10000)])}`:         5,  // payments of one call
		strings.Repeat(`${len([1])}`, 1000):                 999,
		`${[y for x in range(900) for y in range(900)][0]}`: 60,
	} {
		for _, left := range []int{polls, 0} {
			tmpl := expression.NewTemplate([]any{text, text}, names, "", func(_ string, err error) { t.Error(err) })
			ctx := &polled{Context: t.Context(), left: left}
			if _, err := tmpl.Eval(ctx, nil, environment); err == nil || !strings.Contains(err.Error(), "canceled") || ctx.after == 0 || ctx.after > 3 {
				t.Errorf("%.60s: after %d looks it is %v, %d looks later", text, left, err, ctx.after)
			}
		}
	}
}

// Evaluations with one budget end when it is spent, whether they take many steps or read much.
func TestBudgetIsShared(t *testing.T) {
	for _, text := range []string{`${len([x for x in range(100000)])}`, `${item.count("x") if item else 1}`} {
		var b expression.Budget
		value, ok := []any{}, 0
		for range 1000 {
			value = append(value, text)
		}
		tmpl := expression.NewTemplate(value, names, "", func(_ string, err error) { t.Error(err) })
		var err error
		for ; err == nil && ok < 1000; ok++ {
			_, err = tmpl.Eval(t.Context(), &b, expression.Environment{"item": expression.Of(strings.Repeat("x", 1<<20))})
		}
		if !errors.Is(err, expression.ErrSpent) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
