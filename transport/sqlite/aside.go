package sqlite

import "context"

// aside is a background goroutine that does its work once at the start, and again after each call of rouse.
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

// rouse makes the work run again. It never blocks.
func (a *aside) rouse() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// stop ends the goroutine, and waits for the current work.
func (a *aside) stop() {
	a.cancel()
	<-a.over
}
