package tally_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/transport/internal/tally"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestLimitAndClose(t *testing.T) {
	var c tally.Tally
	for range 2 {
		if !c.Enter(2) {
			t.Error("one of two is not let in")
		}
	}
	if c.Enter(2) {
		t.Error("a third of two is let in")
	}
	if !c.Enter(0) {
		t.Error("one is not let in where there is no limit")
	}
	c.Leave()
	c.Leave()
	if !c.Enter(2) {
		t.Error("nobody takes the place of who left")
	}
	c.Close()
	if c.Enter(0) {
		t.Error("it is closed, and lets one in")
	}
}

// More may begin while it is waited for; all who wait hear of the end, and who comes later hears of the next.
func TestNone(t *testing.T) {
	var c tally.Tally
	if !isClosed(c.None()) {
		t.Error("none runs, and it is waited for one")
	}
	c.Enter(0)
	first, second := c.None(), c.None()
	c.Enter(0)
	c.Leave()
	if isClosed(first) || isClosed(second) {
		t.Error("one still runs")
	}
	c.Leave()
	if !isClosed(first) || !isClosed(second) {
		t.Error("the end is not told")
	}
	c.Enter(0)
	if isClosed(c.None()) {
		t.Error("another runs")
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c tally.Tally
		c.Enter(0)
		ctx, stop := context.WithCancel(t.Context())
		waited := make(chan struct{})
		go func() {
			c.Wait(t.Context())
			close(waited)
		}()
		synctest.Wait()
		stop()
		c.Wait(ctx) // which returns although one runs
		if isClosed(waited) {
			t.Error("it does not wait")
		}
		c.Leave()
		<-waited
	})
}
