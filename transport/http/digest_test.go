package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// poem is the input of the job recite: how long the answer is. Parted sends half of it in small deltas, with a milestone
// among them. Takes has the whole text differ from the deltas after so many bytes.
type poem struct {
	Bytes  int  `json:"bytes"`
	Parted bool `json:"parted,omitempty"`
	Takes  int  `json:"takes,omitempty"`
	Short  bool `json:"short,omitempty"`
}

type recited struct {
	Text  string `json:"text"`
	Model string `json:"model,omitempty"`
}

func recite(_ context.Context, t *actors.TaskContext, in poem) (recited, error) {
	line := "The owl and the pussy-cat went to sea in a beautiful pea-green boat: \"they\" took ü.\n"
	text := strings.Repeat(line, in.Bytes/len(line)+1)
	rest := text
	for n := 0; in.Parted && n < 1000; n++ {
		if err := t.AppendText("answer", rest[:len(line)]); err != nil {
			return recited{}, err
		}
		if rest = rest[len(line):]; n == 500 {
			if err := t.Emit(messages.StepStarted{Step: "half"}, ""); err != nil {
				return recited{}, err
			}
		}
	}
	thought := messages.ThoughtDelta{Stream: "mind", Text: text[:len(text)/75]}
	if err := errors.Join(t.AppendText("answer", rest), t.Emit(thought, "")); err != nil {
		return recited{}, err
	}
	if in.Takes > 0 {
		text = text[:in.Takes] + strings.ToUpper(text[in.Takes:])
	}
	if in.Short {
		text = text[:len(text)/2]
	}
	thinks := messages.ThoughtDone{Stream: "mind", Text: thought.Text, SHA256: messages.Digest(thought.Text)}
	return recited{text, "bard"}, errors.Join(t.Emit(thinks, ""), t.FinishText("answer", text))
}

// reciting is a run of recite that has ended.
func reciting(t *testing.T, in string) (*world, messages.RunID) {
	w := newWorld(t, actors.Func("recite", recite))
	id, err := w.system.Submit(t.Context(), messages.Request{Job: "recite", Input: json.RawMessage(in)})
	must(t, err)
	w.until(id, messages.KindRunCompleted)
	return w, id
}

// digests are the doors for readers that ask for digests. Each gives the events after the cursor, and the cursor after
// each, if the door tells one.
var digests = map[string]func(w *world, path, after string, give func(event, cursor string) bool) (bytes int){
	"SSE": func(w *world, path, after string, give func(event, cursor string) bool) int {
		return lined(w, path, after, "text/event-stream", give)
	},
	"NDJSON": func(w *world, path, after string, give func(event, cursor string) bool) int {
		return lined(w, path, after, "application/x-ndjson", give)
	},
	"polling":   polled,
	"WebSocket": socketed,
}

func lined(w *world, path, after, accept string, give func(event, cursor string) bool) (bytes int) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	response := w.open(ctx, "GET", path+"&after="+after, "", "Accept", accept)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	at := ""
	for lines.Scan() {
		line := lines.Text()
		bytes += len(line) + 1
		if id, is := strings.CutPrefix(line, "id: "); is {
			at = id
		}
		if line = strings.TrimPrefix(line, "data: "); strings.HasPrefix(line, "{") && !give(line, at) {
			break
		}
	}
	return bytes
}

func polled(w *world, path, after string, give func(event, cursor string) bool) (bytes int) {
	for {
		var page struct {
			Events []json.RawMessage
			Next   json.RawMessage
			Ended  bool
		}
		got := w.call("GET", path+"&after="+after, "")
		must(w.t, json.Unmarshal([]byte(got.body), &page))
		bytes += len(got.body)
		after = strings.Trim(string(page.Next), `"`)
		for i, e := range page.Events {
			at := ""
			if i == len(page.Events)-1 {
				at = after
			}
			if !give(string(e), at) {
				return bytes
			}
		}
		if page.Ended {
			return bytes
		}
	}
}

func socketed(w *world, path, after string, give func(event, cursor string) bool) (bytes int) {
	c := w.dial()
	defer c.CloseNow()
	_, query, _ := strings.Cut(path, "?")
	done := ""
	if strings.Contains(query, "done=digest") {
		done = `,"done":"digest"`
	}
	id := strings.Split(path, "/")[3]
	w.send(c, fmt.Sprintf(`{"op":"subscribe","id":"a","run":%q,"after":%q%s}`, id, after, done))
	for {
		_, data, err := c.Read(w.t.Context())
		must(w.t, err)
		bytes += len(data)
		var m message
		must(w.t, json.Unmarshal(data, &m))
		for i, e := range m.Events {
			at := ""
			if i == len(m.Events)-1 {
				if len(data)-len(e) > messages.WireBytes+100 { // the rest of the message
					w.t.Errorf("a message has %d bytes, and its last event %d", len(data), len(e))
				}
				at = strings.Trim(string(m.Cursor), `"`)
			}
			if !give(string(e), at) {
				return bytes
			}
		}
		if m.Op == "end" {
			return bytes
		}
		w.send(c, fmt.Sprintf(`{"op":"ack","id":"a","events":%d}`, max(len(m.Events), 1)))
	}
}

// "A text goes over the wire once, in pieces": a reader that asks gets 3 MB in 3.2 MB, in events of at most 32 KiB, and
// holds what the log says. It may come back with any cursor that a door gave it.
func TestTextGoesOverTheWireOnce(t *testing.T) {
	size := 3_000_000
	if testing.Short() {
		size /= 10
	}
	for _, in := range []string{fmt.Sprintf(`{"bytes":%d,"parted":true}`, size), fmt.Sprintf(`{"bytes":%d,"takes":%d}`, size, size-10_000),
		`{"bytes":100000,"parted":true,"takes":40000,"short":true}`} {
		w, id := reciting(t, in)
		want, path := w.told(id).state, "/v1/runs/"+string(id)+"/events?done=digest"
		for name, door := range digests {
			t.Run(name+in, func(t *testing.T) {
				w.t = t
				var lines []string
				bytes := door(w, path, "0", func(event, _ string) bool { lines = append(lines, event); return true })
				for _, line := range lines {
					if len(line) > messages.WireBytes {
						t.Errorf("an event has %d bytes: %.200s", len(line), line)
					}
				}
				if got := fold(t, lines).state; got != want {
					t.Errorf("the State is %.300s\nwant %.300s", got, want)
				}
				if bytes > size/15*16+30_000 {
					t.Errorf("%d bytes for %d of text", bytes, size)
				}
				lines = nil
				cursor := "0"
				for ended, cuts := false, 0; !ended; cuts++ { // a connection is cut where it has a cursor, some events later each time
					more := 0
					door(w, path, cursor, func(event, at string) bool {
						lines = append(lines, event)
						ended = strings.Contains(event, `"type":"run.completed"`)
						if more++; at == "" || ended || more <= 10*cuts {
							return true
						}
						cursor = at
						return false
					})
				}
				if got := fold(t, lines).state; name != "NDJSON" && got != want {
					t.Errorf("after cuts the State is %.300s\nwant %.300s", got, want)
				}
			})
		}
	}
}

// "Everybody else gets text.done whole": who did not ask, who gets no deltas, and who comes with a plain number.
func TestOthersGetTextsWhole(t *testing.T) {
	w, id := reciting(t, `{"bytes":100000,"parted":true}`)
	for name, door := range digests {
		for _, c := range []struct{ query, after string }{
			{"", "0"}, {"done=digest&level=milestone", "0"}, {"done=digest", "700"}, {"done=digest", "20~answer~1~1000"},
		} {
			if name == "WebSocket" && c.query != "" && c.query != "done=digest" {
				continue
			}
			whole := 0
			door(w, "/v1/runs/"+string(id)+"/events?"+c.query, c.after, func(event, _ string) bool {
				var e messages.Event
				must(t, json.Unmarshal([]byte(event), &e))
				if d, _ := messages.DoneOf(e.Body); d.Stream == "answer" && len(d.Text) > 100_000 {
					whole++
				}
				return true
			})
			if whole != 1 {
				t.Errorf("%s, %s after %s: the text came whole %d times", name, c.query, c.after, whole)
			}
		}
	}
	if got := w.call("GET", "/v1/runs/"+string(id)+"/events?done=short", ""); got.StatusCode != 422 && got.StatusCode != 400 {
		t.Errorf("done=short is %s", got.Status)
	}
}

// Who has had a text, and comes back before the run's end with its cursor, gets no text in the result.
func TestResultAfterACut(t *testing.T) {
	w, id := reciting(t, `{"bytes":100000,"parted":true}`)
	path, cursor := "/v1/runs/"+string(id)+"/events?done=digest", ""
	lined(w, path, "0", "text/event-stream", func(event, at string) bool {
		cursor = at
		return !strings.Contains(event, `"type":"text.done"`)
	})
	for name, door := range digests {
		door(w, path, cursor, func(event, _ string) bool {
			if len(event) > 1000 || strings.Contains(event, `"type":"run.completed"`) != strings.Contains(event, `"omitted":true`) {
				t.Errorf("%s: after %s comes %.300s", name, cursor, event)
			}
			return true
		})
	}
}
