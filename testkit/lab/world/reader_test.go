package world

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// reader follows one run through any door and node, is cut, and comes back with the cursor that the door gave it.
type reader struct {
	w      *world
	run    messages.RunID
	dice   *rand.Rand
	cursor string
	fold   messages.Fold
	texts  map[string]string // as an appending client holds them
	ended  bool
	began  time.Time
	at     time.Time // when it had the terminal
}

// patience is how long a reader waits for a run's end. Runs that ask, and nodes that sleep, take minutes.
const patience = 30 * time.Minute

func (r *reader) follow() {
	r.texts, r.began = map[string]string{}, time.Now()
	for !r.ended {
		if time.Since(r.began) > patience {
			r.w.complain("a reader of %s has no terminal after %s, with the cursor %s", r.run, patience, r.cursor)
			return
		}
		ctx, leave := context.WithTimeout(context.Background(), time.Minute)
		err := r.read(ctx, r.w.nodes[r.dice.IntN(2)], []string{"text/event-stream", "application/x-ndjson", "application/json"}[r.dice.IntN(3)])
		leave()
		if err != nil {
			time.Sleep(time.Second)
		}
	}
	r.at = time.Now()
}

// read reads from one node until the terminal, its own cut, or a cut of the server's.
func (r *reader) read(ctx context.Context, n *node, form string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://node/v1/runs/%s/events?wait=30s&after=%s", r.run, r.cursor), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", form)
	response, err := n.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		r.w.complain("a reader of %s that lacks its terminal is told that it has all", r.run)
		r.ended = true
		return nil
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	if form == "application/json" {
		return r.page(response)
	}
	lines, most := bufio.NewScanner(response.Body), 1+r.dice.IntN(60)
	lines.Buffer(nil, 1<<20)
	id, kind := "", ""
	for n := 0; n < most && !r.ended && lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case form != "text/event-stream" && line != "":
			var e struct {
				Seq    uint64
				Cursor string
				Type   messages.Kind
			}
			if json.Unmarshal([]byte(line), &e) != nil || e.Type == "" {
				return fmt.Errorf("told %s", line)
			}
			if e.Cursor == "" {
				e.Cursor = fmt.Sprint(e.Seq)
			}
			r.take(e.Cursor, line)
		case strings.HasPrefix(line, "id: "):
			id = line[len("id: "):]
		case strings.HasPrefix(line, "event: "):
			kind = line[len("event: "):]
		case strings.HasPrefix(line, "data: ") && (kind == "problem" || kind == "draining"):
			return fmt.Errorf("told %s", line)
		case strings.HasPrefix(line, "data: "):
			r.take(id, line[len("data: "):])
		}
	}
	return lines.Err()
}

func (r *reader) page(response *http.Response) error {
	var page struct {
		Events []json.RawMessage
		Next   json.RawMessage
	}
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		return err
	}
	next := strings.Trim(string(page.Next), `"`)
	for _, line := range page.Events {
		r.take(next, string(line))
	}
	return nil
}

// take appends what an event says, and holds it to the law.
func (r *reader) take(cursor, line string) {
	var e messages.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		r.w.complain("a reader of %s gets %s: %v", r.run, line, err)
		return
	}
	if err := r.fold.Apply(e); err != nil {
		r.w.complain("a reader of %s with the cursor %s: %v", r.run, r.cursor, err)
	}
	r.cursor, r.ended = cursor, e.IsTerminal()
	r.append(e.Body)
	if e.IsDelta() {
		return
	}
	for _, stream := range r.fold.Peek().Streams { // a milestone may take text back, and close it with more
		if had := r.texts[stream.Name]; had != stream.Text() {
			if len(stream.Text()) > len(had) && !stream.Closed {
				r.w.complain("a reader of %s has %q of %s, which has %q", r.run, had, stream.Name, stream.Text())
			}
			r.texts[stream.Name] = stream.Text()
		}
	}
}

func (r *reader) append(body messages.Body) {
	switch b := body.(type) {
	case messages.TextDelta:
		if had := r.texts[b.Stream]; len(had) != b.Offset {
			r.w.complain("a reader of %s has %d bytes of %s, and gets those from %d", r.run, len(had), b.Stream, b.Offset)
		}
		r.texts[b.Stream] += b.Text
	case messages.Merged:
		for _, part := range b.Parts {
			r.append(part)
		}
	}
}
