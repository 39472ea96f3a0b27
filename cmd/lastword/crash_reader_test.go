package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/messages"
)

// seen is what the reader of a run saw, over as many connections as it took.
type seen struct {
	id         messages.RunID
	job, key   string
	input      json.RawMessage
	state      messages.Fold
	milestones map[uint64]string
	ended      atomic.Bool
	answered   bool
}

// follow reads the run over SSE until its terminal. It comes back with its cursor whenever the connection breaks.
func (c *crash) follow(s *seen) {
	for !s.ended.Load() {
		if err := c.connect(s); err != nil {
			c.t.Errorf("the reader of run %s of %s: %v", s.id, s.key, err)
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-c.t.Context().Done():
			return
		}
	}
}

// connect reads from one connection. Its error is one that the reader must not meet.
func (c *crash) connect(s *seen) error {
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://localhost/v1/runs/"+string(s.id)+"/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+c.token)
	cursor := s.state.Peek().Seq
	req.Header.Set("Last-Event-ID", strconv.FormatUint(cursor, 10))
	resp, err := c.web.Do(req)
	if err != nil {
		return nil // nobody listens now
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		return nil
	default:
		return fmt.Errorf("at cursor %d the server answers %s", cursor, resp.Status)
	}
	lines, kind, data := bufio.NewScanner(resp.Body), "", ""
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case name == "event":
			kind = value
		case name == "data":
			data = value
		case line != "" || data == "" || kind == "draining": // an event counts from its empty line on: it may be cut
		case kind == "problem":
			return fmt.Errorf("at cursor %d: %s", s.state.Peek().Seq, data)
		default:
			if err := s.take(data); err != nil {
				return err
			}
			if s.job == agent.Name && !s.ended.Load() {
				c.answer(s)
				if rand.N(8) == 0 { // the reader is killed, too
					c.cuts.Add(1)
					return nil
				}
			}
		}
		if line == "" {
			kind, data = "", ""
		}
	}
	return nil // it was cut
}

// answer answers the run's question, as two people do at the same time. One of them comes too late.
func (c *crash) answer(s *seen) {
	asked, open := messages.Input{}, false
	for _, in := range s.state.Peek().Inputs {
		asked, open = in, !in.Closed
	}
	if open && !s.answered {
		s.answered = true
		for range 2 {
			c.readers.Go(func() {
				_ = c.client.Answer(c.t.Context(), s.id, asked.Request, json.RawMessage(`"once"`)) // the server may be gone
			})
		}
	}
}

func (s *seen) take(line string) error {
	var e messages.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	if err := s.state.Apply(e); err != nil {
		return err
	}
	if !e.IsDelta() {
		s.milestones[e.Seq] = line
	}
	s.ended.Store(e.IsTerminal())
	return nil
}

// keeps takes a milestone of the journal off those seen, if it is the same.
func (s *seen) keeps(t *testing.T, e messages.Event) {
	if s.milestones[e.Seq] == asJSON(t, e) {
		delete(s.milestones, e.Seq)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}
