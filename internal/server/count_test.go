package server_test

import (
	"testing"

	"github.com/seed889630bf/lastword/internal/server"
)

func closedNow(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestLimitAndClose(t *testing.T) {
	var c server.Count
	for range 2 {
		if !c.Begin(2) {
			t.Error("the second of two is refused")
		}
	}
	if c.Begin(2) {
		t.Error("the third of two is accepted")
	}
	if !c.Begin(0) {
		t.Error("it is refused without a limit")
	}
	c.End()
	c.End()
	if !c.Begin(2) {
		t.Error("the freed place is refused")
	}
	c.Close()
	if c.Begin(0) {
		t.Error("a closed count accepts")
	}
}

// More may begin while somebody waits. Idle is closed for all who wait; a later call waits for the next time.
func TestIdle(t *testing.T) {
	var c server.Count
	if !closedNow(c.Idle()) {
		t.Error("nothing is in flight, but Idle waits")
	}
	c.Begin(0)
	first, second := c.Idle(), c.Idle()
	c.Begin(0)
	c.End()
	if closedNow(first) || closedNow(second) {
		t.Error("Idle is closed while one is in flight")
	}
	c.End()
	if !closedNow(first) || !closedNow(second) {
		t.Error("Idle is still open at the end")
	}
	c.Begin(0)
	if closedNow(c.Idle()) {
		t.Error("Idle is closed while another is in flight")
	}
}
