package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/parallel"
)

var errMake = errors.New("cannot be made")

// worker makes squares until it fails, and counts among the open workers.
func worker(fails int, open *atomic.Int32) parallel.Worker[int] {
	return func(context.Context) (makeThing func(i int) (int, error), done func()) {
		open.Add(1)
		return func(i int) (int, error) {
			if i == fails {
				return 0, errMake
			}
			return i * i, nil
		}, func() { open.Add(-1) }
	}
}

// Things come in their order, whichever goroutine makes them, up to the first error, and nobody is left at work.
func TestEach(t *testing.T) {
	started := func(f func(ctx context.Context) error) { go func() { _ = f(t.Context()) }() }
	for _, run := range []func(func(ctx context.Context) error){nil, started} {
		for workers := range 5 {
			for _, fails := range []int{-1, 0, 17} {
				t.Run(fmt.Sprintf("%v %d %d", run != nil, workers, fails), func(t *testing.T) {
					var open atomic.Int32
					var got []int
					var failed error
					for thing, err := range parallel.Each(t.Context(), run, workers, 30, worker(fails, &open)) {
						if failed = err; err == nil {
							got = append(got, thing)
						}
					}
					var want []int
					for i := range 30 {
						if i == fails {
							break
						}
						want = append(want, i*i)
					}
					if !slices.Equal(got, want) || (failed == errMake) != (fails >= 0) || open.Load() != 0 {
						t.Errorf("%v, %v, %d open", got, failed, open.Load())
					}
				})
			}
		}
	}
}

// A context that is done ends the loop with its cause, also between two things.
func TestEachHeedsItsContext(t *testing.T) {
	started := func(f func(ctx context.Context) error) { go func() { _ = f(t.Context()) }() }
	for _, run := range []func(func(ctx context.Context) error){nil, started} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		var open atomic.Int32
		defer cancel(nil)
		n, last := 0, error(nil)
		for _, err := range parallel.Each(ctx, run, 3, 1000, worker(-1, &open)) {
			if n++; n == 5 {
				cancel(cause)
			}
			last = err
		}
		if n != 6 || last != cause || open.Load() != 0 {
			t.Errorf("%d things, %v, %d open", n, last, open.Load())
		}
	}
}
