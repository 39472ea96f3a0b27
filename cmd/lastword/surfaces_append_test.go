package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	remoteapi "github.com/seed889630bf/lastword/transport/http/client"
)

// appender is a client that appends what it is sent to the texts of the run, and knows of no offsets. Its connection is
// cut after every event, and it comes back with the cursor that it was handed.
type appender struct {
	*stage
	cursor string
	at     remoteapi.Cursors // the Go client's
	texts  map[string]string
	tasks  map[string]string
	ended  bool
	has    chan int // how long answer.3 is, after each event
}

// sent is an event, or a part of a merged one, as such a client sees it.
type sent struct {
	Seq     json.Number    `json:"seq"`
	RunID   messages.RunID `json:"run_id"`
	Type    messages.Kind  `json:"type"`
	Cursor  string         `json:"cursor"`
	Payload struct {
		Stream string `json:"stream"`
		Task   string `json:"task"`
		Text   string `json:"text"`
		Parts  []sent `json:"parts"`
	} `json:"payload"`
}

func (a *appender) event(line []byte) sent {
	var e sent
	if err := json.Unmarshal(line, &e); err != nil {
		a.t.Errorf("%v: %s", err, line)
	}
	a.add(e)
	return e
}

func (a *appender) add(e sent) {
	switch e.Type {
	case messages.KindMerged:
		for _, part := range e.Payload.Parts {
			a.add(part)
		}
	case messages.KindTextDelta, messages.KindThoughtDelta:
		a.texts[e.Payload.Stream] += e.Payload.Text
		a.tasks[e.Payload.Stream] = e.Payload.Task
	case messages.KindTaskRestarted: // it takes back what its attempt before has said
		maps.DeleteFunc(a.texts, func(stream, _ string) bool { return a.tasks[stream] == e.Payload.Task })
	case messages.KindRunFailed:
		a.ended = true
	}
}

// appenders read one event, or one page, over their own connection.
var appenders = map[string]func(a *appender){
	"SSE": func(a *appender) {
		body := a.get("text/event-stream", "?last_event_id="+a.cursor)
		defer body.Close()
		id, data := a.cursor, ""
		for lines := bufio.NewScanner(body); lines.Scan(); {
			switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
			case "id":
				id = value
			case "data":
				data = value
			case "":
				a.cursor = id
				if data != "" {
					a.event([]byte(data))
					return
				}
			}
		}
	},
	"NDJSON": func(a *appender) {
		body := a.get("application/x-ndjson", "?after="+a.cursor)
		defer body.Close()
		for lines := bufio.NewScanner(body); lines.Scan(); {
			if len(lines.Bytes()) > 0 {
				e := a.event(lines.Bytes())
				a.cursor = cmp.Or(e.Cursor, e.Seq.String())
				return
			}
		}
	},
	"long poll": func(a *appender) {
		body := a.get("application/json", "?wait=30s&after="+a.cursor)
		defer body.Close()
		var page struct{ Events, Next json.RawMessage }
		a.decode(body, &page)
		a.page(page.Events, page.Next)
	},
	"WebSocket": func(a *appender) {
		c, _, err := websocket.Dial(a.t.Context(), a.url+"/v1/ws", nil)
		if err != nil {
			a.t.Error(err)
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(-1)
		say := fmt.Sprintf(`{"op":"subscribe","id":"a","run":%q,"after":%q,"credit":1}`, a.run, a.cursor)
		if err := c.Write(a.t.Context(), websocket.MessageText, []byte(say)); err != nil {
			a.t.Error(err)
		}
		var m struct{ Events, Cursor json.RawMessage }
		for string(m.Events) == "" || string(m.Events) == "[]" {
			_, data, err := c.Read(a.t.Context())
			if err != nil || json.Unmarshal(data, &m) != nil {
				a.t.Errorf("%v: %s", err, data)
				return
			}
		}
		a.page(m.Events, m.Cursor)
	},
	"Go client": func(a *appender) {
		c, err := remoteapi.New(a.url, "")
		if err != nil {
			a.t.Error(err)
			return
		}
		ctx, cancel := context.WithCancel(a.t.Context())
		defer cancel()
		if a.at == nil {
			a.at = remoteapi.Cursors{a.run: {}}
		}
		for e, err := range c.Resume(ctx, a.run, a.at, messages.FollowOptions{}) {
			a.giveEvent(e, err, func(line string) { a.event([]byte(line)) })
			return
		}
	},
	"MCP run_events": func(a *appender) {
		result := a.call("tools/call", "run_events", fmt.Sprintf(
			`"name":"run_events","arguments":{"run_id":%q,"after":%s,"deltas":true,"wait_ms":30000}`, a.run, cmp.Or(a.cursor, "0")),
			func(string) {})
		var page struct {
			StructuredContent struct{ Events, Next json.RawMessage }
		}
		a.decode(strings.NewReader(string(result)), &page)
		a.page(page.StructuredContent.Events, nil)
		a.cursor = string(page.StructuredContent.Next)
	},
}

func (a *appender) decode(from io.Reader, into any) {
	must(a.t, json.NewDecoder(from).Decode(into))
}

func (a *appender) page(events, next json.RawMessage) {
	var all []json.RawMessage
	if err := json.Unmarshal(events, &all); err != nil {
		a.t.Errorf("%v: %s", err, events)
	}
	for _, e := range all {
		a.event(e)
	}
	a.cursor = strings.Trim(string(next), `"`)
}

// toTheEnd reads until the run has ended, and returns the client as it was after each event.
func (a *appender) toTheEnd(read func(*appender)) (moments []appender) {
	for !a.ended && !a.t.Failed() {
		moments = append(moments, *a.copied())
		read(a)
		select {
		case a.has <- len(a.texts["answer.3"]):
		default: // nobody waits for it
		}
	}
	return moments
}

func (a *appender) copied() *appender {
	c := *a
	c.texts, c.tasks = maps.Clone(a.texts), maps.Clone(a.tasks)
	if a.at != nil {
		c.at, _ = remoteapi.ParseCursors(a.run, a.at.Text(a.run)) // which is a copy
	}
	return &c
}

// reading is what the clients hold at the end of the run, and their moments on the way there.
type reading struct {
	done    sync.WaitGroup
	all     map[string]*appender
	mu      sync.Mutex
	moments map[string][]appender
}

func (s *stage) appendAll() *reading {
	r := &reading{all: map[string]*appender{}, moments: map[string][]appender{}}
	for how, read := range appenders {
		a := &appender{stage: s, texts: map[string]string{}, tasks: map[string]string{}, has: make(chan int, 1000)}
		r.all[how] = a
		r.done.Go(func() {
			moments := a.toTheEnd(read)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.moments[how] = moments
		})
	}
	return r
}

// Clients that append hold the same bytes at the end of one run, on every door, although their connections are cut at
// every event: live, replayed, and when they were away while the run ended and its log was merged.
func TestAppendersOnEverySurface(t *testing.T) {
	s := newStage(t)
	live := s.appendAll()
	for e, err := range s.system.Events(t.Context(), s.run, 0) {
		must(t, err)
		if e.Kind() == messages.KindInputRequired {
			break
		}
	}
	must(t, s.system.Answer(t.Context(), s.run, "loud", json.RawMessage(`"<very>"`), ""))
	<-s.late
	for n := 21; n < 26; n++ { // words that come one by one, so that clients are cut between them
		for how, a := range live.all {
			for got := 0; got < n*len(odd); got = <-a.has {
				if t.Failed() {
					t.Fatal(how)
				}
			}
		}
		s.more <- struct{}{}
	}
	close(s.end)
	live.done.Wait()
	replayed := s.appendAll()
	replayed.done.Wait()
	every := 24
	if testing.Short() {
		every = 96
	}
	held := map[string]map[string]*appender{"live": live.all, "replayed": replayed.all, "away": {}}
	for how, moments := range live.moments {
		for i := range moments {
			if i%every != 0 && i < len(moments)-8 {
				continue // all of the words that came one by one, and some of the others
			}
			a := moments[i].copied()
			a.toTheEnd(appenders[how])
			held["away"][fmt.Sprintf("%s from moment %d", how, i)] = a
		}
	}
	state, err := s.system.State(t.Context(), s.run)
	must(t, err)
	want := map[string]string{}
	var answers []string
	for _, stream := range state.Streams {
		if want[stream.Name] = stream.Text(); strings.HasPrefix(stream.Name, "answer.") {
			answers = append(answers, stream.Text())
		}
	}
	for way, all := range held {
		for how, a := range all {
			if !maps.Equal(a.texts, want) {
				t.Errorf("%s, %s: the client holds %q, want %q", how, way, a.texts, want)
			}
		}
	}
	if got := s.looopyDeltas(); got != strings.Join(answers, "") {
		t.Errorf("a client of Looopy holds %q, want %q", got, answers)
	}
	if got := s.erlmcpChunks(); got != strings.Join(answers, "\n\n") {
		t.Errorf("a client of erlmcp holds %q, want %q", got, answers)
	}
	for how, got := range map[string]map[string]string{"responses": s.responseItems(), "AI SDK": s.aiParts()} {
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got[name] != want[name] {
				t.Errorf("a client of %s holds %q of %s, want %q", how, got[name], name, want[name])
			}
		}
	}
}

// frame is a server-sent event of a dialect.
type frame struct {
	id, data string
	json     struct {
		Kind, Type, TaskID, Delta, ID string
		SequenceNumber                uint64 `json:"sequence_number"`
		ItemID                        string `json:"item_id"`
		Params                        struct{ Data string }
	}
}

// frames reads the frames of an answer, at most n; 0 is all.
func (s *stage) frames(n int, method, path, body string, header ...string) []frame {
	return s.framesUntil(n, "", method, path, body, header...)
}

// framesUntil is frames that also reads no further than the first event with the words: none may follow it.
func (s *stage) framesUntil(n int, words, method, path, body string, header ...string) (all []frame) {
	header = append(header, "Accept", "text/event-stream", "Content-Type", "application/json")
	answer := testkit.OpenURL(s.t.Context(), s.t, method, s.url+path, body, header...)
	defer answer.Body.Close()
	var one frame
	for lines := bufio.NewScanner(answer.Body); (n == 0 || len(all) < n) && lines.Scan(); {
		switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
		case "id":
			one.id = value
		case "data":
			one.data = value
			_ = json.Unmarshal([]byte(value), &one.json) // [DONE] is none
		case "":
			if one.data != "" {
				all = append(all, one)
			}
			if words != "" && strings.Contains(one.data, words) {
				return all
			}
			one = frame{}
		}
	}
	return all
}

// looopyDeltas are the deltas of a client that is cut at every event.
func (s *stage) looopyDeltas() (text string) {
	for last := ""; !s.t.Failed(); {
		got := s.frames(1, http.MethodGet, "/api/sse/message?contextId=c", "", "Last-Event-ID", last)
		if len(got) == 0 {
			return text
		}
		if last = got[0].id; got[0].json.Kind == "content-delta" && got[0].json.TaskID == string(s.run) {
			text += got[0].json.Delta
		}
	}
	return text
}

// responseItems are the texts of the items, by stream, of a client that is cut at every event.
func (s *stage) responseItems() map[string]string {
	texts := map[string]string{}
	for segment := 1; segment <= 2; segment++ {
		for after := uint64(0); !s.t.Failed(); {
			got := s.frames(1, http.MethodGet, fmt.Sprintf("/v1/responses/resp_%s_%d?stream=true&starting_after=%d", s.run, segment, after), "")
			if len(got) == 0 {
				break
			}
			e := got[0].json
			if after = e.SequenceNumber; strings.HasSuffix(e.Type, "_text.delta") {
				_, item, _ := strings.Cut(e.ItemID, "_")
				texts[item] += e.Delta
			}
		}
	}
	return newest(texts)
}

// aiParts are the texts and thoughts of a client of the AI SDK.
func (s *stage) aiParts() map[string]string {
	texts := map[string]string{}
	for _, one := range s.frames(0, http.MethodGet, "/api/chat/c/stream", "") {
		if one.json.Type == "text-delta" || one.json.Type == "reasoning-delta" {
			texts[one.json.ID] += one.json.Delta
		}
	}
	return newest(texts)
}

// newest leaves out items that others have superseded.
func newest(texts map[string]string) map[string]string {
	left := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(texts)) { // x before x#2
		name, _, _ := strings.Cut(id, "#")
		left[name] = texts[id]
	}
	return left
}

// erlmcpChunks are the chunks of a client that subscribes.
func (s *stage) erlmcpChunks() (text string) {
	for _, one := range s.frames(0, http.MethodPost, "/erlmcp",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"stream/subscribe","params":{"streamId":%q}}`, s.run)) {
		text += one.json.Params.Data
	}
	return text
}
