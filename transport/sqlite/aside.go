package sqlite

import "context"

// aside works in a goroutine of its own whenever it was roused, at least once.
type aside struct {
	wake   chan struct{}
	cancel context.CancelFunc
	over   chan struct{}
}

func startAside(work func(context.Context)) *aside {
	ctx, cancel := context.WithCancel(context.Background())
	a := &aside{wake: make(chan struct{}, 1), cancel: cancel, over: make(chan struct{})}
	a.rouse()
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

func (a *aside) rouse() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// stop waits until the work has ended.
func (a *aside) stop() {
	a.cancel()
	<-a.over
}
