package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	remoteapi "github.com/seed889630bf/lastword/transport/http/client"
)

const surfacesIntroduction = `# Surfaces

A run has one log, and every surface reads it. ` + "`go test ./cmd/lastword -run TestOneRunOnEverySurface -update`" + `
makes this page: every surface reads one run with texts, thoughts, tool calls, files, a question, a restart, a failure
and sub-runs, while it runs and after its end. *Identical* means byte for byte: each milestone, and after each
milestone the State and the texts that the events add up to. Deltas may come merged: then a reader gets fewer of them.

| surface | how to read | cursor | live deltas | milestones identical | State identical |
|---|---|---|---|---|---|
`

// surfaces are the ways to read a run. Each gives its events from the first to the terminal, one JSON each.
var surfaces = []struct {
	name, how, cursor string
	read              func(s *stage, give func(event string))
	afterwards        bool // it gives what there is, and does not wait
}{
	{"Go", "`System.Events`", "`after`", readGo, false},
	{"Go client", "`client.Follow`", "kept by the client", readClient, false},
	{"command line", "`lastword runs watch --jsonl`", "kept by the program", readCLI("watch", "--jsonl"), false},
	{"command line", "`lastword runs events`", "`--after`", readCLI("events"), false},
	{"SSE", "`GET /v1/runs/{id}/events`, `text/event-stream`", "`Last-Event-ID`", readSSE, false},
	{"NDJSON", "the same, `application/x-ndjson`", "`after`", readNDJSON, false},
	{"long poll", "the same, `application/json` and `wait`", "`after`, from `next`", readPolling, false},
	{"WebSocket", "`/v1/ws`, `subscribe`", "`after`, from `cursor`", readWebSocket, false},
	{"MCP progress", "`run_attach` with a `progressToken`: `_meta` has the event; the result's has the terminal",
		"`after`", readAttached, false},
	{"MCP `run_events`", "with `deltas`: the page has the run's id once, and the length of a closed text in place of " +
		"the text that the reader has", "`after`, from `next`", readEventsTool, false},
	{"MCP resource", "`run://{run_id}/events{?after}`", "`after`", readResource, true},
}

func readGo(s *stage, give func(string)) {
	for e, err := range s.system.Events(s.t.Context(), s.run, 0) {
		s.giveEvent(e, err, give)
	}
}

func readClient(s *stage, give func(string)) {
	c, err := remoteapi.New(s.url, "")
	if err != nil {
		s.t.Error(err)
		return
	}
	for e, err := range c.Follow(s.t.Context(), s.run, messages.FollowOptions{}) {
		s.giveEvent(e, err, give)
	}
}

func (s *stage) giveEvent(e messages.Event, err error, give func(string)) {
	line, bad := e.JSON()
	if err != nil || bad != nil {
		s.t.Error(err, bad)
		return
	}
	give(string(line))
}

func readCLI(command string, flags ...string) func(*stage, func(string)) {
	return func(s *stage, give func(string)) {
		out, in := io.Pipe()
		p := host.Program{Args: append([]string{"runs", command, string(s.run), "--server", s.url}, flags...),
			Env: []string{"HOME=" + s.t.TempDir()}, Stdin: strings.NewReader(""), Stdout: in, Stderr: io.Discard,
			Commands: rootCommand}
		go func() {
			p.Run(s.t.Context()) // it exits with the run's code, and the run fails
			in.Close()
		}()
		eachLine(out, give)
	}
}

func eachLine(from io.Reader, give func(string)) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() != "" {
			give(lines.Text())
		}
	}
}

func (s *stage) get(accept, query string) io.ReadCloser {
	url := s.url + "/v1/runs/" + string(s.run) + "/events" + query
	return testkit.OpenURL(s.t.Context(), s.t, http.MethodGet, url, "", "Accept", accept).Body
}

func readSSE(s *stage, give func(string)) {
	body := s.get("text/event-stream", "")
	defer body.Close()
	eachLine(body, func(line string) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			give(data)
		}
	})
}

func readNDJSON(s *stage, give func(string)) {
	body := s.get("application/x-ndjson", "")
	defer body.Close()
	eachLine(body, give)
}

func readPolling(s *stage, give func(string)) {
	var page struct {
		Events []json.RawMessage
		Next   json.RawMessage
		Ended  bool
	}
	for !page.Ended {
		body := s.get("application/json", "?wait=30s&after="+strings.Trim(string(page.Next), `"`))
		err := json.NewDecoder(body).Decode(&page)
		body.Close()
		if err != nil {
			s.t.Error(err)
			return
		}
		for _, e := range page.Events {
			give(string(e))
		}
	}
}

func readWebSocket(s *stage, give func(string)) {
	c, _, err := websocket.Dial(s.t.Context(), s.url+"/v1/ws", nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	say := `{"op":"subscribe","id":"a","run":"` + string(s.run) + `"}`
	for {
		if err := c.Write(s.t.Context(), websocket.MessageText, []byte(say)); err != nil {
			s.t.Error(err)
			return
		}
		_, data, err := c.Read(s.t.Context())
		var m struct {
			Op     string
			Events []json.RawMessage
		}
		if err != nil || json.Unmarshal(data, &m) != nil || m.Op != "events" {
			if m.Op != "end" {
				s.t.Errorf("%v: %s", err, data)
			}
			return
		}
		for _, e := range m.Events {
			give(string(e))
		}
		say = fmt.Sprintf(`{"op":"ack","id":"a","events":%d}`, max(1, len(m.Events)))
	}
}

// eventInMeta is where progress has the event.
type eventInMeta struct {
	Event json.RawMessage `json:"io.github.seed889630bf.lastword/event"`
}

// eachEvent gives the event of each notification and of the result, or "" for one that has none. It returns the
// result.
func (s *stage) eachEvent(response *http.Response, give func(event string)) (result json.RawMessage) {
	defer response.Body.Close()
	answered := false
	eachLine(response.Body, func(line string) {
		line = strings.TrimPrefix(line, "data: ")
		var m struct {
			ID     json.RawMessage
			Params struct {
				Meta eventInMeta `json:"_meta"`
			}
			Result json.RawMessage
			Error  json.RawMessage
		}
		if json.Unmarshal([]byte(line), &m) != nil { // of SSE
			return
		}
		event := m.Params.Meta.Event
		if m.ID != nil {
			answered = m.Error == nil
			var last struct {
				Meta eventInMeta `json:"_meta"`
			}
			_ = json.Unmarshal(m.Result, &last)
			result, event = m.Result, last.Meta.Event
		}
		give(string(event))
	})
	if !answered {
		s.t.Errorf("%s without a result", response.Status)
	}
	return result
}

// call calls a tool as clients since 2026-07-28 do.
func (s *stage) call(method, name, params string, give func(event string)) json.RawMessage {
	at := &served{t: s.t, url: s.url + host.MCPPath}
	return s.eachEvent(at.post("", method, name, params), give)
}

// readAttached comes back after the question: a call ends where its run waits for an answer.
func readAttached(s *stage, give func(string)) {
	var last messages.Event
	for !last.IsTerminal() && !s.t.Failed() {
		ask := fmt.Sprintf(`"name":"run_attach","arguments":{"run_id":%q,"after":%d}`, s.run, last.Seq)
		s.call("tools/call", "run_attach", ask, func(line string) {
			if line == "" { // a heartbeat, or a result without the terminal
				return
			}
			give(line)
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				s.t.Error(err)
			}
		})
		<-s.answered
	}
}

// readEventsTool puts back what a page leaves out because its reader has it: the run's id, and the text that a
// text.done or a thought.done repeats.
func readEventsTool(s *stage, give func(string)) {
	var fold messages.Fold
	var page struct {
		Structured struct {
			Events []map[string]json.RawMessage
			Next   json.RawMessage
			Done   bool
		} `json:"structuredContent"`
	}
	page.Structured.Next = json.RawMessage("0")
	for !page.Structured.Done && !s.t.Failed() {
		result := s.call("tools/call", "run_events", fmt.Sprintf(
			`"name":"run_events","arguments":{"run_id":%q,"after":%s,"deltas":true,"wait_ms":30000}`,
			s.run, page.Structured.Next), func(string) {})
		page.Structured.Events = nil
		if err := json.Unmarshal(result, &page); err != nil {
			s.t.Errorf("%v: %s", err, result)
			return
		}
		for _, fields := range page.Structured.Events {
			e := s.whole(fields, &fold)
			if err := fold.Apply(e); err != nil {
				s.t.Error(err)
			}
			s.giveEvent(e, nil, give)
		}
	}
}

func (s *stage) whole(fields map[string]json.RawMessage, fold *messages.Fold) messages.Event {
	fields["run_id"], _ = json.Marshal(s.run)
	var payload map[string]json.RawMessage
	_ = json.Unmarshal(fields["payload"], &payload) // what is wrong with it is seen below
	kind := strings.Trim(string(fields["type"]), `"`)
	if payload["bytes"] != nil && (kind == string(messages.KindTextDone) || kind == string(messages.KindThoughtDone)) {
		var name string
		_ = json.Unmarshal(payload["stream"], &name)
		stream, _ := fold.Stream(name)
		if fmt.Sprint(stream.Len()) != string(payload["bytes"]) {
			s.t.Errorf("the reader has %d bytes of %s, the page says %s", stream.Len(), name, payload["bytes"])
		}
		delete(payload, "bytes")
		payload["text"], _ = json.Marshal(stream.Text())
		fields["payload"], _ = json.Marshal(payload)
	}
	var e messages.Event
	data, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		s.t.Errorf("%v: %s", err, data)
	}
	return e
}

func readResource(s *stage, give func(string)) {
	var last messages.Event
	for !last.IsTerminal() && !s.t.Failed() {
		uri := fmt.Sprintf("run://%s/events?after=%d", s.run, last.Seq)
		result := s.call("resources/read", uri, fmt.Sprintf(`"uri":%q`, uri), func(string) {})
		var read struct{ Contents []struct{ Text string } }
		if err := json.Unmarshal(result, &read); err != nil || len(read.Contents) != 1 {
			s.t.Errorf("%v: %s", err, result)
			return
		}
		eachLine(strings.NewReader(read.Contents[0].Text), func(line string) {
			give(line)
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				s.t.Error(err)
			}
		})
	}
}
