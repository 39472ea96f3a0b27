package probe_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/transport/llm"
)

// slow is a server that thinks, with or without signs of life, and then says its words, one every so often.
type slow struct{ think, alive, every time.Duration }

func (s slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then does the server look out for the client's leaving
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for passed := time.Duration(0); passed < s.think; passed += s.alive {
		time.Sleep(s.alive)
		if passed+s.alive < s.think {
			tell(w, ": still here\n\n")
		}
	}
	for i := range 20 {
		tell(w, fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":"%d "}}]}`+"\n\n", i))
		time.Sleep(s.every)
	}
	tell(w, "data: [DONE]\n\n")
}

func tell(w http.ResponseWriter, words string) {
	_, _ = io.WriteString(w, words)
	_ = http.NewResponseController(w).Flush()
}

// Time is of the bubble: what is told of it is exact.
func TestTime(t *testing.T) {
	for _, c := range []struct {
		server slow
		id     string
		status probe.Status
		seen   string
	}{
		{slow{think: 0, alive: 1, every: 100 * time.Millisecond}, "streams", probe.Pass, "20 pieces over 1900 ms"},
		{slow{10 * time.Second, 10 * time.Second, time.Millisecond}, "streams", probe.Warn, "20 pieces came within 19 ms after 10000 ms of silence"},
		{slow{500 * time.Millisecond, 500 * time.Millisecond, 0}, "streams", probe.Warn, "20 pieces came within 0 ms after 500 ms"},
		{slow{2 * time.Minute, 2 * time.Minute, time.Second}, "answers", probe.Pass, "the first token after 120000 ms"},
		{slow{6 * time.Minute, 6 * time.Minute, time.Second}, "answers", probe.Fail, "5m0s"},
		{slow{6 * time.Minute, time.Minute, time.Second}, "answers", probe.Pass, "360000 ms"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := standin.NewNetwork()
			s := &http.Server{Handler: c.server}
			go s.Serve(p)
			defer s.Close()
			transport := &http.Transport{DialContext: p.Dial, DisableCompression: true}
			defer transport.CloseIdleConnections()
			learned, err := probe.Run(t.Context(), probe.Options{Only: []string{c.id},
				Config: llm.Config{BaseURL: "http://model.test/v1", Transport: transport}})
			must(t, err)
			if r := learned.Results[0]; r.Status != c.status || !strings.Contains(r.Seen, c.seen) {
				t.Errorf("%+v: %+v, want %s and %q", c.server, r, c.status, c.seen)
			}
			time.Sleep(10 * time.Minute) // for handlers that sleep
		})
	}
}
