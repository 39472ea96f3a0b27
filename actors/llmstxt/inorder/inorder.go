package inorder

import (
	"context"
	"iter"
	"sync"
)

// ahead is how many things a worker may have made that nobody has taken.
const ahead = 4

// Worker makes things, one after the other.
type Worker[T any] interface {
	// Make makes the i-th thing, by the context that the worker was made with.
	Make(i int) (T, error)
	Close()
}

type made[T any] struct {
	thing T
	err   error
}

// Each gives the things from 0 to n-1 in their order, and ends with the first error, or with ctx's cause. Of several
// workers the i-th thing is that of worker i modulo workers, each in a goroutine that run starts; without run, the
// caller's goroutine makes them all. When the loop is left the workers' context ends, and the loop waits for them.
func Each[T any](
	ctx context.Context, run func(f func(ctx context.Context) error), workers, n int,
	worker func(ctx context.Context) Worker[T],
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var working sync.WaitGroup
		defer working.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var next func(i int) made[T]
		if workers = min(workers, n); run == nil || workers < 2 {
			w := worker(ctx)
			defer w.Close()
			next = func(i int) (m made[T]) {
				m.thing, m.err = w.Make(i)
				return m
			}
		} else {
			next = turns(ctx, &working, run, workers, n, worker)
		}
		for i := range n {
			m := next(i)
			if m.err == nil && ctx.Err() != nil {
				m.err = context.Cause(ctx)
			}
			if !yield(m.thing, m.err) || m.err != nil {
				return
			}
		}
	}
}

// turns starts the workers and gives what waits for the i-th thing.
func turns[T any](
	ctx context.Context, working *sync.WaitGroup, run func(f func(ctx context.Context) error), workers, n int,
	worker func(ctx context.Context) Worker[T],
) func(i int) made[T] {
	ready := make([]chan made[T], workers)
	for first := range ready {
		ready[first] = make(chan made[T], ahead)
		working.Add(1)
		run(func(context.Context) error {
			defer working.Done()
			w := worker(ctx)
			defer w.Close()
			for i := first; i < n && ctx.Err() == nil; i += workers {
				var m made[T]
				m.thing, m.err = w.Make(i)
				select {
				case ready[first] <- m:
				case <-ctx.Done():
				}
			}
			return nil
		})
	}
	return func(i int) (m made[T]) {
		select {
		case m = <-ready[i%workers]:
		case <-ctx.Done():
		}
		return m
	}
}
