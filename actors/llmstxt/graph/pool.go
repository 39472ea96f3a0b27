package graph

import (
	"context"
	"io/fs"
	"runtime"
)

// readAll reads the packages, a few at a time where there is a way to.
func readAll(ctx context.Context, files fs.FS, list []*part, o Options) error {
	workers := min(runtime.GOMAXPROCS(0), 4, len(list))
	if o.Go == nil || workers < 2 {
		return readAlone(ctx, files, list, o)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the workers stop where the caller does
	done := make(chan struct{}, workers)
	for first := range workers {
		o.Go(func(context.Context) error {
			readEach(ctx, files, list, first, workers, done)
			return nil
		})
	}
	for n := range list {
		select {
		case <-done:
			o.tell(n+1, len(list))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return context.Cause(ctx)
}

// readEach reads every step-th package from first on: each is one worker's alone.
func readEach(ctx context.Context, files fs.FS, list []*part, first, step int, done chan<- struct{}) {
	r := newReading(ctx, files)
	defer r.reader.Close()
	for i := first; i < len(list); i += step {
		r.part(list[i])
		select {
		case done <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

func readAlone(ctx context.Context, files fs.FS, list []*part, o Options) error {
	r := newReading(ctx, files)
	defer r.reader.Close()
	for i, p := range list {
		r.part(p)
		o.tell(i+1, len(list))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (o Options) tell(done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}
