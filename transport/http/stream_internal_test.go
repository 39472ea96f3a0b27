package http

import (
	"net/http/httptest"
	"testing"
)

// net/http panics where a handler that has returned is still written to.
func TestNoHeartbeatAfterTheStream(t *testing.T) {
	answer := httptest.NewRecorder()
	out := New(Config{}).newWriter(answer, "r_a", formSSE, func(error) {})
	out.open()
	before := answer.Body.String()
	out.stop()
	out.heartbeat() // its timer had fired, and it waited for the lock
	if after := answer.Body.String(); after != before {
		t.Errorf("after the stream ended it says %q", after)
	}
}
