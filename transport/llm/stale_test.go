package llm_test

import (
	"net/http/httptrace"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// makeReusable leaves the client with an idle connection. One request is not always enough: net/http drops a
// connection whose write it has not seen complete 50 ms after the answer, as on a busy machine.
func makeReusable(t *testing.T, c *llm.Client) {
	t.Helper()
	idle := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{PutIdleConn: func(err error) { idle = err == nil }})
	for !idle {
		if _, err := c.Get(ctx, "/models", false); err != nil {
			t.Fatal(err)
		}
	}
}

// A server may close a connection just when the next request comes on it. That request is sent again on a new one,
// everywhere; one that had a new connection, or a byte of an answer, is not.
func TestStaleConnection(t *testing.T) {
	for name, ask := range map[string]func(*llm.Client) error{
		"completion": func(c *llm.Client) error { return listen(t.Context(), c, hello()).err },
		"models":     func(c *llm.Client) error { _, _, err := c.Models(t.Context()); return err },
		"page":       func(c *llm.Client) error { _, err := c.Get(t.Context(), "/models", false); return err },
	} {
		m := testkit.NewModel(t)
		c := client(t, llm.Config{BaseURL: m.URL(), Retries: -1})
		makeReusable(t, c)
		m.Answer(testkit.Cut())
		m.AnswerTo("/v1/models", testkit.Cut())
		before := len(m.Requests())
		err := ask(c)
		if sent := m.Requests()[before:]; err != nil || len(sent) < 2 || sent[0].Path != sent[1].Path || len(sent) > 2 && name != "models" {
			t.Errorf("%s: %v after %d requests", name, err, len(sent))
		}
	}
	for name, pieces := range map[string][]testkit.Piece{"new": {testkit.Cut()}, "reused": {testkit.Wire("HTT"), testkit.Cut()}} {
		m := testkit.NewModel(t)
		c := client(t, llm.Config{BaseURL: m.URL(), Retries: -1})
		if name == "reused" {
			makeReusable(t, c)
		}
		before := len(m.Requests())
		m.Answer(pieces...)
		if h := listen(t.Context(), c, hello()); h.end.Verdict.Cause != messages.CauseTransportClosed || len(m.Requests()) != before+1 {
			t.Errorf("%s: %s after %d requests", name, h, len(m.Requests())-before)
		}
	}
}
