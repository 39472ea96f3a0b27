package http_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// appender is a reader that appends payload.text and knows of no offsets. It comes back with the cursor that it was
// handed.
type appender struct {
	w            *world
	id           messages.RunID
	text, cursor string
	ended        bool
}

// wire is an event as such a reader sees it.
type wire struct {
	Seq     json.Number `json:"seq"`
	Type    string      `json:"type"`
	Cursor  string      `json:"cursor"`
	Payload struct {
		Text  string `json:"text"`
		Parts []wire `json:"parts"`
	} `json:"payload"`
}

func (a *appender) event(data []byte) wire {
	var e wire
	if err := json.Unmarshal(data, &e); err != nil {
		a.w.t.Fatalf("%v: %s", err, data)
	}
	for _, part := range append(e.Payload.Parts, e) {
		if part.Type == string(messages.KindTextDelta) {
			a.text += part.Payload.Text
		}
	}
	a.ended = a.ended || strings.HasPrefix(e.Type, "run.c") && e.Type != "run.canceling"
	return e
}

func (a *appender) path(more string) string {
	return "/v1/runs/" + string(a.id) + "/events?after=" + a.cursor + more // as it was handed out, with no escapes
}

// Each reads some events over one connection, or fewer if nothing comes.
var appenders = map[string]func(a *appender, ctx context.Context, events int){
	"server-sent events": func(a *appender, ctx context.Context, events int) {
		body := a.w.open(ctx, "GET", a.path(""), "", "Accept", "text/event-stream").Body
		defer body.Close()
		next, data := "", ""
		for lines := bufio.NewScanner(body); events > 0 && !a.ended && lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				next = value
			case "data":
				data = value
			case "": // the event is whole
				a.cursor = cmp.Or(next, a.cursor)
				if data != "" {
					a.event([]byte(data))
					data = ""
					events--
				}
			}
		}
	},
	"JSON lines": func(a *appender, ctx context.Context, events int) {
		body := a.w.open(ctx, "GET", a.path(""), "", "Accept", "application/x-ndjson").Body
		defer body.Close()
		for lines := bufio.NewScanner(body); events > 0 && !a.ended && lines.Scan(); events-- {
			if len(lines.Bytes()) > 0 {
				e := a.event(lines.Bytes())
				a.cursor = cmp.Or(e.Cursor, e.Seq.String())
			}
		}
	},
	"long poll": func(a *appender, ctx context.Context, events int) {
		var page struct {
			Events []json.RawMessage
			Next   json.RawMessage
		}
		got := a.w.call("GET", a.path("&wait=1s&rate=100"), "", "Accept", "application/json")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			a.w.t.Fatalf("%v: %s", err, got.body)
		}
		for _, e := range page.Events {
			a.event(e)
		}
		a.cursor = strings.Trim(string(page.Next), `"`)
	},
	"WebSocket": func(a *appender, ctx context.Context, events int) {
		c, _, err := websocket.Dial(ctx, a.w.url+"/v1/ws", nil)
		if err != nil {
			a.w.t.Fatal(err)
		}
		defer c.CloseNow()
		ask, _ := json.Marshal(map[string]any{"op": "subscribe", "id": "s", "run": a.id, "after": a.cursor, "credit": events})
		if err := c.Write(ctx, websocket.MessageText, ask); err != nil {
			a.w.t.Fatal(err)
		}
		for events > 0 && !a.ended {
			_, data, err := c.Read(ctx)
			if err != nil {
				return
			}
			var said struct {
				Events []json.RawMessage
				Cursor json.RawMessage
			}
			if err := json.Unmarshal(data, &said); err != nil {
				a.w.t.Fatalf("%v: %s", err, data)
			}
			for _, e := range said.Events {
				a.event(e)
			}
			if events -= len(said.Events); len(said.Cursor) > 0 {
				a.cursor = strings.Trim(string(said.Cursor), `"`)
			}
		}
	},
}

// "A reader who appends holds the text exactly, on every door, live, replayed, merged and after a restart." These cut
// their connection after every event, while the run says more, and go on when its log was merged.
func TestAppendingReaders(t *testing.T) {
	more := make(chan struct{})
	w := newWorld(t, actors.Func("pieces", func(_ context.Context, t *actors.TaskContext, _ any) (any, error) {
		for range 3 {
			for range 300 {
				if err := errors.Join(t.Say("an answer", "word "), t.Progress(1, 2, "words")); err != nil {
					return nil, err
				}
			}
			if err := t.Commit(context.Background()); err != nil {
				return nil, err
			}
			more <- struct{}{}
		}
		return nil, nil
	}))
	id, err := w.system.Submit(t.Context(), messages.Request{Job: "pieces"})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*appender{}
	for how := range appenders {
		all[how] = &appender{w: w, id: id, cursor: "0"}
	}
	for round := range 3 {
		for how, read := range appenders {
			a := all[how]
			for len(a.text) < round*1500+5 {
				read(a, t.Context(), 1)
			}
			if round > 0 && a.cursor != url.QueryEscape(a.cursor) {
				t.Errorf("%s: the cursor %q needs escapes", how, a.cursor)
			}
		}
		<-more
	}
	w.until(id, messages.KindRunCompleted)
	for how, read := range appenders {
		a := all[how]
		for !a.ended {
			read(a, t.Context(), 1)
		}
		if want := strings.Repeat("word ", 900); a.text != want {
			t.Errorf("%s: the reader holds %d bytes of %d", how, len(a.text), len(want))
		}
	}
}
