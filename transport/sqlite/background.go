package sqlite

import "context"

// background is a goroutine that does its work once at the start, and again after each call of signal.
type background struct {
	wake   chan struct{}
	cancel context.CancelFunc
	over   chan struct{}
}

func startBackground(work func(context.Context)) *background {
	ctx, cancel := context.WithCancel(context.Background())
	a := &background{wake: make(chan struct{}, 1), cancel: cancel, over: make(chan struct{})}
	a.signal()
	go func() {
		defer close(a.over)
		for {
			select {
			case <-a.wake:
				work(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return a
}

// signal makes the work run again. It never blocks.
func (a *background) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// stop ends the goroutine, and waits for the current work.
func (a *background) stop() {
	a.cancel()
	<-a.over
}
