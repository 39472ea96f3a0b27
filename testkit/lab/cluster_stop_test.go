//go:build unix

package lab_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// stopTimeout is how long a node may take to end: its drain, and the last answers.
const stopTimeout = 30 * time.Second

// handedOver stops a node with SIGTERM. It finishes what ends within its drain, and another node goes on with the rest.
func (c *cluster) handedOver() {
	victim, reader := 0, 1
	before := len(c.questions())
	c.model.Always(testkit.Tokens(20, 100*time.Millisecond), testkit.Finish("stop"), testkit.Done())
	short := c.begin(victim, 5, askModel)
	c.asked(before, len(short))
	open := c.hold()
	long := c.begin(victim, 5, c.generate(true))
	c.asked(before, len(short)+len(long))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.ends(reader, short, undisturbed)
	}()
	began := time.Now()
	c.nodes[victim].terminate(stopTimeout)
	c.Logf("the node has ended after %.1f s", time.Since(began).Seconds())
	c.asked(before, len(short)+2*len(long)) // again, by another
	c.Logf("another node goes on with the long runs %.1f s after SIGTERM", time.Since(began).Seconds())
	open()
	c.ends(reader, long, continued)
	<-done
	c.nodes[victim].start()
	c.nodes[victim].waitReady(c)
}

// rolling restarts the nodes one after the other while clients start runs at all of them.
func (c *cluster) rolling() {
	c.speak(time.Second)
	stop := make(chan struct{})
	var mu sync.Mutex
	var runs []messages.RunID
	var refused atomic.Int64
	var load sync.WaitGroup
	for i := range c.nodes {
		for _, q := range []messages.Request{askModel, c.generate(false), c.generate(true)} {
			load.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					case <-time.After(100 * time.Millisecond):
					}
					q.Key = fmt.Sprint(time.Now().UnixNano(), q.Job, i, n)
					run, err := c.startAnywhere(i, q, &refused)
					if err != nil {
						c.Errorf("no node starts a run: %v", err)
						return
					}
					mu.Lock()
					runs = append(runs, run)
					mu.Unlock()
				}
			})
		}
	}
	for _, n := range c.nodes {
		time.Sleep(time.Second)
		n.terminate(stopTimeout)
		n.start()
		n.waitReady(c)
	}
	time.Sleep(time.Second)
	close(stop)
	load.Wait()
	c.ends(0, runs, completed)
	c.Logf("%d runs completed; a node that was stopping refused %d starts, which another took", len(runs), refused.Load())
}

// startAnywhere starts a run as a client behind a load balancer does: at the next node if one is stopping.
func (c *cluster) startAnywhere(first int, q messages.Request, refused *atomic.Int64) (run messages.RunID, err error) {
	for began := time.Now(); time.Since(began) < time.Minute; first++ {
		ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
		run, err = c.at(first%len(c.nodes)).Submit(ctx, q)
		cancel()
		if err == nil {
			return run, nil
		}
		refused.Add(1)
	}
	return "", err
}
