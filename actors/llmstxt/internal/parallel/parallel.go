package parallel

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// ahead is how many things per worker may be in progress or wait for the consumer.
const ahead = 4

// Worker returns a function that makes the i-th item, and a function that frees its resources.
type Worker[T any] func(ctx context.Context) (makeThing func(i int) (T, error), done func())

// Each yields the things from 0 to n-1 in order, and ends with the first error, or with the cause of ctx. Each worker
// runs in a goroutine that the parameter run starts, and makes the next thing that nobody has begun. Without run, the caller's
// goroutine makes all things. When the consumer leaves the loop, the workers' context ends, and Each waits for them.
func Each[T any](ctx context.Context, run func(f func(ctx context.Context) error), workers, n int, worker Worker[T]) iter.Seq2[T, error] {
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
			things, errs := make([]T, workers*ahead), make([]error, workers*ahead)
			take := turns(ctx, &working, run, workers, n, func(ctx context.Context) (func(i int), func()) {
				makeThing, done := worker(ctx)
				return func(i int) { things[i%len(things)], errs[i%len(errs)] = makeThing(i) }, done
			})
			next = func(i int) (thing T, err error) {
				take(i, func() { thing, err = things[i%len(things)], errs[i%len(errs)] })
				return thing, err
			}
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

// turns starts the workers, and returns a function that waits for the i-th thing and calls taken, unless ctx ends first. It has
// no type parameter, because the compiler copies generic functions.
func turns(ctx context.Context, working *sync.WaitGroup, run func(f func(ctx context.Context) error), workers, n int,
	worker func(ctx context.Context) (makeThing func(i int), done func()),
) (take func(i int, taken func())) {
	var begun atomic.Int64
	open := make(chan struct{}, workers*ahead) // holds one value for each thing that was begun and not taken
	ready := make([]chan struct{}, cap(open))  // the i-th thing is told of on channel i modulo their number
	for i := range ready {
		ready[i] = make(chan struct{}, 1)
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
				makeThing(i)
				ready[i%len(ready)] <- struct{}{}
			}
		})
	}
	return func(i int, taken func()) {
		select {
		case <-ready[i%len(ready)]:
			taken()
			<-open
		case <-ctx.Done():
		}
	}
}
