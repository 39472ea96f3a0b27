package inorder

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// ahead is how many things there may be for each worker that are being made or wait to be taken.
const ahead = 4

// Worker makes the i-th thing by the context that it was made with. done frees what it holds.
type Worker[T any] func(ctx context.Context) (makeThing func(i int) (T, error), done func())

// Each gives the things from 0 to n-1 in their order, and ends with the first error, or with ctx's cause. Each of
// several workers is in a goroutine that run starts, and makes the next thing that none has begun; without run, the
// caller's goroutine makes them all. When the loop is left the workers' context ends, and the loop waits for them.
func Each[T any](
	ctx context.Context, run func(f func(ctx context.Context) error), workers, n int, worker Worker[T],
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var working sync.WaitGroup
		defer working.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var next func(i int) (T, error)
		if workers = min(workers, n); run == nil || workers < 2 {
			makeThing, done := worker(ctx)
			defer done()
			next = makeThing
		} else {
			next = turns(ctx, &working, run, workers, n, worker)
		}
		for i := range n {
			thing, err := next(i)
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if !yield(thing, err) || err != nil {
				return
			}
		}
	}
}

// turns starts the workers and gives what waits for the i-th thing.
func turns[T any](
	ctx context.Context, working *sync.WaitGroup, run func(f func(ctx context.Context) error), workers, n int,
	worker Worker[T],
) func(i int) (T, error) {
	type made struct {
		thing T
		err   error
	}
	var begun atomic.Int64
	open := make(chan struct{}, workers*ahead) // holds one for each thing that is begun and not taken
	ready := make([]chan made, cap(open))      // the i-th thing comes from i modulo their number
	for i := range ready {
		ready[i] = make(chan made, 1)
	}
	for range workers {
		working.Add(1)
		run(func(context.Context) error {
			defer working.Done()
			makeThing, done := worker(ctx)
			defer done()
			for {
				select {
				case open <- struct{}{}:
				case <-ctx.Done():
					return nil
				}
				i := int(begun.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return nil
				}
				thing, err := makeThing(i)
				ready[i%len(ready)] <- made{thing, err}
			}
		})
	}
	return func(i int) (T, error) {
		var m made
		select {
		case m = <-ready[i%len(ready)]:
			<-open
		case <-ctx.Done():
		}
		return m.thing, m.err
	}
}
