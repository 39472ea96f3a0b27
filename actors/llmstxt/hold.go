package llmstxt

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockPause is how long a run waits before it looks again whether it may write.
const lockPause = 10 * time.Millisecond

// hold waits until no other run writes into the folder, of this process or another, so that what is there in the end is
// all of one run. waits is called once if there is one. It holds until the file is closed, or the process ends. On a
// file system without locks it waits for nobody.
func hold(ctx context.Context, dir *os.Root, waits func()) (*os.File, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	for first := true; errors.Is(tryLock(f), syscall.EWOULDBLOCK); first = false {
		if first {
			waits()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(lockPause):
		}
	}
	return f, nil
}
