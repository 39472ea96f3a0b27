package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

// read is one way to read a run: it gives the events after the cursor, one JSON each, until give wants no more or the run
// has ended.
type read func(w *world, id messages.RunID, after uint64, give func(event string) bool)

func readSSE(w *world, id messages.RunID, after uint64, give func(string) bool) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	response := w.open(ctx, "GET", "/v1/runs/"+string(id)+"/events", "", "Accept", "text/event-stream", "Last-Event-ID",
		strconv.FormatUint(after, 10))
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	fields := []string{}
	for lines.Scan() {
		if line := lines.Text(); line != "" {
			fields = append(fields, line)
			continue
		}
		if len(fields) == 3 {
			data := strings.TrimPrefix(fields[2], "data: ")
			var e messages.Event
			at, err := cursor.Parse(id, strings.TrimPrefix(fields[0], "id: "))
			if err := errors.Join(err, json.Unmarshal([]byte(data), &e)); err != nil || at[id].Seq != e.Seq ||
				fields[1] != "event: "+string(e.Kind()) {
				w.t.Errorf("a frame is %q", fields)
				return
			}
			if !give(data) {
				return
			}
		}
		fields = fields[:0]
	}
}

func readNDJSON(w *world, id messages.RunID, after uint64, give func(string) bool) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	response := w.open(ctx, "GET", fmt.Sprintf("/v1/runs/%s/events?after=%d", id, after), "", "Accept", "application/x-ndjson")
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if lines.Text() != "" && !give(lines.Text()) {
			return
		}
	}
}

func readPolling(w *world, id messages.RunID, after uint64, give func(string) bool) {
	for cursor := fmt.Sprint(after); ; {
		var page struct {
			Events []json.RawMessage
			Next   json.RawMessage
			Ended  bool
		}
		got := w.call("GET", fmt.Sprintf("/v1/runs/%s/events?after=%s&wait=5s", id, cursor), "")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.StatusCode != http.StatusOK {
			w.t.Errorf("%s %s", got.Status, got.body)
			return
		}
		for _, e := range page.Events {
			if !give(string(e)) {
				return
			}
		}
		if cursor = strings.Trim(string(page.Next), `"`); page.Ended {
			return
		}
	}
}

func readWebSocket(w *world, id messages.RunID, after uint64, give func(string) bool) {
	c := w.dial()
	defer c.CloseNow()
	w.send(c, `{"op":"subscribe","id":"a","credit":3,"run":"`+string(id)+`","after":`+strconv.FormatUint(after, 10)+`}`)
	for {
		m := w.receive(c)
		switch m.Op {
		case "end":
			return
		case "problem":
			w.t.Errorf("%s", m.Problem)
			return
		}
		for _, e := range m.Events {
			if !give(string(e)) {
				return
			}
		}
		w.send(c, fmt.Sprintf(`{"op":"ack","id":"a","events":%d}`, len(m.Events)))
	}
}

// message is what the server sends on a WebSocket.
type message struct {
	Op, ID  string
	Head    uint64
	Events  []json.RawMessage
	Cursor  json.RawMessage
	State   json.RawMessage
	Runs    json.RawMessage
	Problem json.RawMessage
}

func (w *world) dial(header ...string) *websocket.Conn {
	w.t.Helper()
	fields := http.Header{}
	for i := 0; i < len(header); i += 2 {
		fields.Set(header[i], header[i+1])
	}
	c, _, err := websocket.Dial(w.t.Context(), w.url+"/v1/ws", &websocket.DialOptions{HTTPHeader: fields})
	must(w.t, err)
	c.SetReadLimit(-1)
	return c
}

func (w *world) send(c *websocket.Conn, text string) {
	w.t.Helper()
	must(w.t, c.Write(w.t.Context(), websocket.MessageText, []byte(text)))
}

func (w *world) receive(c *websocket.Conn) message {
	w.t.Helper()
	_, data, err := c.Read(w.t.Context())
	must(w.t, err)
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		w.t.Fatalf("%v: %s", err, data)
	}
	return m
}

// seen is what a reader made of the events: the milestones as they came, and the State that they add up to.
type seen struct {
	milestones []string
	state      string
}

func fold(t *testing.T, lines []string) seen {
	t.Helper()
	var s seen
	var state messages.Fold
	for _, line := range lines {
		var e messages.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		must(t, state.Apply(e))
		if !e.IsDelta() {
			s.milestones = append(s.milestones, line)
		}
	}
	data, err := json.Marshal(state.State())
	must(t, err)
	s.state = string(data)
	return s
}

// all reads the whole run, and calls asked when it has a question, or has none.
func all(w *world, id messages.RunID, how read, asked func()) (lines []string) {
	asked = sync.OnceFunc(asked)
	defer asked()
	how(w, id, 0, func(line string) bool {
		lines = append(lines, line)
		if strings.Contains(line, `"type":"input.required"`) {
			asked()
		}
		return true
	})
	return lines
}

// told is what the run's log says.
func (w *world) told(id messages.RunID) seen {
	w.t.Helper()
	var lines []string
	for e, err := range w.system.Events(w.t.Context(), id, 0) {
		must(w.t, err)
		line, err := e.JSON()
		must(w.t, err)
		lines = append(lines, string(line))
	}
	s := fold(w.t, lines)
	state, err := w.system.State(w.t.Context(), id)
	must(w.t, err)
	data, err := json.Marshal(state)
	must(w.t, err)
	s.state = string(data)
	return s
}

// A WebSocket gets no more events than it has credit for, and what it did not take is merged.
func TestCredit(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":500,"ask":true}`)
	w.until(id, messages.KindInputRequired)
	c := w.dial()
	defer c.CloseNow()
	w.send(c, `{"op":"subscribe","id":"a","credit":2,"run":"`+string(id)+`"}`)
	asked, err := w.system.State(t.Context(), id)
	must(t, err)
	var lines []string
	for len(lines) < 2 {
		m := w.receive(c)
		for _, e := range m.Events {
			lines = append(lines, string(e))
		}
		if m.Head != asked.Seq {
			t.Errorf("the head is %d, want %d: the reader must know how far it is behind", m.Head, asked.Seq)
		}
	}
	w.send(c, `{"op":"odd","id":"x"}`)
	if m := w.receive(c); len(lines) != 2 || m.Op != "problem" || m.ID != "x" {
		t.Fatalf("%d events with a credit of 2, then %+v", len(lines), m)
	}
	w.send(c, `{"op":"answer","id":"y","run":"`+string(id)+`","request":"loud","value":"very"}`)
	for ended := false; !ended; {
		w.send(c, `{"op":"ack","id":"a","events":2}`)
		m := w.receive(c)
		for _, e := range m.Events {
			lines = append(lines, string(e))
		}
		ended = m.Op == "end"
	}
	state, err := w.system.State(t.Context(), id)
	must(t, err)
	want, _ := json.Marshal(state)
	if got := fold(t, lines); got.state != string(want) {
		t.Errorf("the State is\n%s\nwant\n%s", got.state, want)
	}
	if len(lines) > 50 {
		t.Errorf("a slow reader got %d events; want them merged", len(lines))
	}
}

// A tree's cursor goes on in every run of it.
func TestTree(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":3,"child":true}`)
	w.until(id, messages.KindRunCompleted)
	whole := w.call("GET", "/v1/runs/"+string(id)+"/events?tree=true", "")
	var page struct {
		Events []messages.Event
		Next   json.RawMessage
		Ended  bool
	}
	if err := json.Unmarshal([]byte(whole.body), &page); err != nil || !page.Ended {
		t.Fatal(err, whole.body)
	}
	stream := w.call("GET", "/v1/runs/"+string(id)+"/events?tree=true", "", "Accept", "text/event-stream")
	var ids []string
	for line := range strings.Lines(stream.body) {
		if at, ok := strings.CutPrefix(line, "id: "); ok {
			ids = append(ids, strings.TrimSpace(at))
		}
	}
	last := map[messages.RunID]uint64{}
	for _, e := range page.Events {
		last[e.RunID] = e.Seq
	}
	if len(last) != 2 || len(ids) == 0 {
		t.Fatalf("%d runs, %d ids", len(last), len(ids))
	}
	for _, at := range ids[:len(ids)-1] {
		cursors, err := cursor.Parse(id, at)
		must(t, err)
		after := map[messages.RunID]uint64{}
		for run, c := range cursors {
			after[run] = c.Seq
		}
		rest := w.call("GET", "/v1/runs/"+string(id)+"/events?tree=true&after="+at, "", "Accept", "application/x-ndjson")
		for line := range strings.Lines(rest.body) {
			var e messages.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if e.Seq <= after[e.RunID] || e.From > after[e.RunID]+1 {
				t.Errorf("after %q: event %d of %s follows %d", at, e.Seq, e.RunID, after[e.RunID])
			}
			after[e.RunID] = e.Seq
		}
		if !maps.Equal(after, last) {
			t.Errorf("after %q the rest ends at %v, want %v", at, after, last)
		}
	}
}

// stuck are readers that never read, and their server. Buffers are small, so that the server's writes block at once.
type stuck struct {
	api     *api.Server
	client  *http.Client
	serving sync.WaitGroup // handlers that have not returned
	leave   []func() error
}

func newStuck(t *testing.T, system *actors.System, writeTimeout time.Duration) *stuck {
	t.Helper()
	s := &stuck{api: api.New(door.New(door.Config{Runs: system, WriteTimeout: writeTimeout, Heartbeat: time.Hour}))}
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	must(t, err)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err == nil {
			err = c.(*net.UnixConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}
	s.client = &http.Client{Transport: &http.Transport{DisableCompression: true, DialContext: dial}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		s.api.ServeHTTP(w, r)
	}))
	server.Listener.Close()
	server.Listener = listener
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.UnixConn).SetWriteBuffer(4 << 10); err != nil {
			t.Error(err)
		}
		return ctx
	}
	server.Start()
	t.Cleanup(func() {
		for _, leave := range s.leave {
			_ = leave() // the server may have cut it
		}
		server.Close()
	})
	return s
}

// watch asks for the run's events in each way, and reads none.
func (s *stuck) watch(t *testing.T, id messages.RunID) {
	t.Helper()
	for _, accept := range []string{"text/event-stream", "application/x-ndjson", "application/json"} {
		url := "http://stuck/v1/runs/" + string(id) + "/events"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		must(t, err)
		r.Header.Set("Accept", accept)
		response, err := s.client.Do(r)
		must(t, err)
		s.leave = append(s.leave, response.Body.Close)
	}
	c, _, err := websocket.Dial(t.Context(), "http://stuck/v1/ws", &websocket.DialOptions{HTTPClient: s.client})
	must(t, err)
	s.leave = append(s.leave, c.CloseNow)
	subscribe := `{"op":"subscribe","id":"a","run":"` + string(id) + `"}`
	must(t, c.Write(t.Context(), websocket.MessageText, []byte(subscribe)))
}

// Readers that never read beside 999 that do: those get every milestone and the same State, and the run ends, while
// the others are still stuck. The stuck ones are cut after the write timeout.
func TestReadersThatNeverRead(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":12,"word":"` + strings.Repeat("word ", 500) + `","ask":true,"encore":10}`)
	w.until(id, messages.KindInputRequired)
	patient, strict := newStuck(t, w.system, time.Hour), newStuck(t, w.system, 100*time.Millisecond)
	for range 3 {
		patient.watch(t, id)
		strict.watch(t, id)
	}
	got := make([]string, 999) // the events of each reader
	var asked, reading sync.WaitGroup
	asked.Add(len(got))
	for i := range got {
		how := readNDJSON
		switch {
		case i < 20:
			how = readPolling
		case i < 60:
			how = readSSE
		case i < 100:
			how = readWebSocket
		}
		reading.Go(func() { got[i] = strings.Join(all(w, id, how, asked.Done), "\n") })
	}
	asked.Wait()
	w.answer(id)
	reading.Wait()
	want, different := w.told(id), map[string]bool{} // texts may be merged in several ways
	for _, events := range got {
		different[events] = true
	}
	for events := range different {
		s := fold(t, strings.Split(events, "\n"))
		if s.state != want.state || !slices.Equal(s.milestones, want.milestones) {
			t.Errorf("a reader has\n%s\n%s\nwant\n%s\n%s", s.state, s.milestones, want.state, want.milestones)
		}
	}
	if n := patient.api.Readers(); n != 9 { // long polls do not count
		t.Errorf("%d readers are stuck, want 9", n)
	}
	cut := make(chan struct{})
	go func() { strict.serving.Wait(); close(cut) }()
	select {
	case <-cut:
	case <-time.After(30 * time.Second):
		t.Errorf("after the write timeout %d readers are not cut", strict.api.Readers())
	}
}
