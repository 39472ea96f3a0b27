package http_test

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// DESIGN 8: "any unknown run id 404, an unknown input field 422 that names it, a key used with other input 409".
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	ended := w.start(`{"words":1}`)
	w.until(ended, messages.KindRunCompleted)
	hangs := w.start(`{"hang":true}`)
	w.until(hangs, messages.KindTaskStarted)
	if got := w.call("POST", "/v1/runs", `{"job":"tell","input":{"words":1}}`, "Idempotency-Key", "k"); got.StatusCode != 202 {
		t.Fatal(got.Status, got.body)
	}
	run := "/v1/runs/" + string(ended)
	data, err := os.ReadFile("testdata/refusals.txt") // method, path, header, body; status, code, words of the answer
	must(t, err)
	for line := range strings.Lines(strings.NewReplacer("RUN", run, "HANGS", "/v1/runs/"+string(hangs)).Replace(string(data))) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		name, value, _ := strings.Cut(cmp.Or(c[2], "Accept: */*"), ": ")
		got := w.call(c[0], c[1], c[3], name, value)
		code, detail := got.problem()
		if fmt.Sprint(got.StatusCode) != c[4] || code != c[5] || !strings.Contains(detail, c[6]) {
			t.Errorf("%s: %s %s", line, got.Status, got.body)
		}
	}
	if got := w.call("OPTIONS", run, ""); got.StatusCode != 204 || got.Header.Get("Allow") != "DELETE, GET, HEAD, OPTIONS" {
		t.Errorf("OPTIONS answers %s, Allow %q", got.Status, got.Header.Get("Allow"))
	}
}

func TestLifeOfARun(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":2,"ask":true}`)
	run := "/v1/runs/" + string(id)
	w.answer(id)
	w.until(id, messages.KindRunCompleted)
	if got := w.call("POST", run+"/input/loud", `{"value":"low"}`); got.StatusCode != http.StatusConflict {
		t.Errorf("a second answer: %s %s", got.Status, got.body)
	}
	for range 2 {
		if got := w.call("POST", run+"/cancel", ""); got.StatusCode != http.StatusAccepted {
			t.Errorf("cancel of an ended run: %s %s", got.Status, got.body)
		}
	}
	got := w.call("GET", run, "")
	if again := w.call("GET", run, "", "If-None-Match", got.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("the same State again: %s", again.Status)
	}
	for _, path := range []string{run, run + "/events"} {
		if head := w.call("HEAD", path, ""); head.StatusCode != http.StatusOK || head.body != "" {
			t.Errorf("HEAD %s: %s %q", path, head.Status, head.body)
		}
	}
	if last := w.call("GET", run+"/events", "", "Accept", "text/event-stream", "Last-Event-ID",
		strings.Trim(got.Header.Get("ETag"), `"`)); last.StatusCode != http.StatusNoContent {
		t.Errorf("EventSource comes back after the terminal: %s", last.Status)
	}
	if gone := w.call("DELETE", run, ""); gone.StatusCode != http.StatusNoContent {
		t.Errorf("forget: %s %s", gone.Status, gone.body)
	}
	if gone := w.call("GET", run, ""); gone.StatusCode != http.StatusNotFound {
		t.Errorf("a forgotten run: %s %s", gone.Status, gone.body)
	}
}

// A message is accepted once it is in the log, once for each name, and taken back until it is delivered. A run that has
// ended answers with its end.
func TestMessages(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"hang":true}`)
	w.until(id, messages.KindTaskStarted)
	run := "/v1/runs/" + string(id)
	says := func(method, path, body string, status int, code, words string) string {
		t.Helper()
		got := w.call(method, run+path, body)
		if is, _ := got.problem(); got.StatusCode != status || is != code || !strings.Contains(got.body, words) {
			t.Errorf("%s %s %.60s: %s %.200s, want %d %s with %s", method, path, body, got.Status, got.body, status, code, words)
		}
		return got.body
	}
	first := says("POST", "/messages", `{"id":"a","content":"x"}`, 202, "", `"position":1`)
	if again := says("POST", "/messages", `{"id":"a","content":"x"}`, 202, "", `"message":"a"`); again != first {
		t.Errorf("the same message is %s, then %s", first, again)
	}
	says("POST", "/messages", `{"id":"a","content":"y"}`, 409, "conflict", "another id")
	says("POST", "/messages", `{"content":" "}`, 422, "invalid_input", "empty")
	says("POST", "/messages", `{"content":"x","mode":"next"}`, 422, "invalid_input", "mode")
	says("POST", "/messages", `{"content":"`+strings.Repeat("x", messages.MessageBytes+1)+`"}`, 413, "too_large", "shorten")
	for range messages.MostMessages - 1 {
		says("POST", "/messages", `{"content":"x"}`, 202, "", "")
	}
	says("POST", "/messages", `{"content":"x"}`, 429, "limit_exceeded", "wait")
	says("DELETE", "/messages/a", "", 204, "", "")
	says("DELETE", "/messages/b", "", 404, "not_found", `\"b\"`)
	says("POST", "/release", "", 409, "conflict", "was not held")
	says("POST", "/cancel", "", 202, "", "")
	w.until(id, messages.KindRunCanceled)
	says("POST", "/messages", `{"content":"x"}`, 409, "conflict", `"end":{"by":"run","cause":"canceled_by_user"`)
}

func TestCancel(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"hang":true}`)
	w.until(id, messages.KindTaskStarted)
	if got := w.call("POST", "/v1/runs/"+string(id)+"/cancel", `{"reason":"enough"}`); got.StatusCode != http.StatusAccepted ||
		!strings.Contains(got.body, `"canceling":true`) && !strings.Contains(got.body, `"canceled"`) {
		t.Errorf("%s %s", got.Status, got.body)
	}
	w.until(id, messages.KindRunCanceled)
	if got := w.call("GET", "/v1/runs/"+string(id)+"/explanation", ""); !strings.Contains(got.body, `"Somebody canceled it after `) ||
		!strings.Contains(got.body, ": enough.") {
		t.Errorf("the explanation: %s %s", got.Status, got.body)
	}
}

// DESIGN 4.7: "attached runs are cancelled when their caller leaves, detached ones go on".
func TestAttached(t *testing.T) {
	w := newWorld(t)
	if got := w.call("POST", "/v1/runs", `{"job":"tell","input":{"words":3},"detached":false}`, "Prefer", "wait=60"); got.StatusCode != 200 ||
		!strings.Contains(got.body, `"completed"`) {
		t.Errorf("%s %s", got.Status, got.body)
	}
	for _, detached := range []string{"true", "false"} {
		response := w.open(t.Context(), "POST", "/v1/runs", `{"job":"tell","input":{"hang":true},"detached":`+detached+`}`,
			"Accept", "text/event-stream")
		id := messages.RunID(strings.TrimPrefix(response.Header.Get("Location"), "/v1/runs/"))
		w.until(id, messages.KindTaskStarted)
		response.Body.Close()
		if detached == "false" {
			w.until(id, messages.KindRunCanceled)
			continue
		}
		if err := w.system.Cancel(t.Context(), id, "", "the test ends"); err != nil {
			t.Error(err)
		}
	}
}

func TestLists(t *testing.T) {
	w := newWorld(t)
	if got := w.call("GET", "/v1/runs", ""); got.body != "{\"runs\":[]}\n" {
		t.Errorf("the list of no runs is %q", got.body)
	}
	var want []messages.RunID
	for _, color := range []string{"red", "blue", "red", "red", "blue"} {
		got := w.call("POST", "/v1/runs", `{"job":"tell","labels":{"color":"`+color+`","shape":"round"}}`)
		var state messages.State
		if err := json.Unmarshal([]byte(got.body), &state); err != nil {
			t.Fatal(got.body)
		}
		w.until(state.RunID, messages.KindRunCompleted)
		if color == "red" {
			want = append([]messages.RunID{state.RunID}, want...)
		}
	}
	path, n := "/v1/runs?status=completed,failed&job=tell&label=color:red&label=shape:round&limit=2", 0
	for cursor := ""; ; {
		var page struct {
			Runs []messages.Summary
			Next string
		}
		if got := w.call("GET", path+cursor, ""); json.Unmarshal([]byte(got.body), &page) != nil {
			t.Fatal(got.body)
		}
		for _, run := range page.Runs {
			if n >= len(want) || run.RunID != want[n] {
				t.Fatalf("run %d of the list is %s, want %v", n, run.RunID, want)
			}
			n++
		}
		if page.Next == "" {
			break
		}
		cursor = "&cursor=" + page.Next
	}
	if n != len(want) {
		t.Errorf("%d runs, want %d", n, len(want))
	}
}

// A run belongs to the trace of the request that starts it, unless its labels name another.
func TestTraceOfAStart(t *testing.T) {
	const ours, theirs = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-1-2-01"
	w := newWorld(t)
	entrance, err := auth.New(auth.Config{Rate: -1})
	must(t, err)
	w.server.Config.Handler = entrance.Wrap(w.server.Config.Handler)
	socket := w.dial("Traceparent", ours)
	defer socket.CloseNow()
	for labels, want := range map[string]string{`{"a":"b"}`: ours, `{"traceparent":"` + theirs + `"}`: theirs} {
		body := `{"job":"tell","labels":` + labels + `}`
		var posted, sent messages.State
		got := w.call("POST", "/v1/runs", body, "Traceparent", ours)
		w.send(socket, `{"op":"start","start":`+body+`}`)
		reply := w.receive(socket)
		if json.Unmarshal([]byte(got.body), &posted) != nil || json.Unmarshal(reply.State, &sent) != nil {
			t.Fatalf("%s; %s", got.body, reply.Problem)
		}
		runs, err := w.system.List(t.Context(), messages.Query{Labels: map[string]string{messages.TraceLabel: want}})
		ids := map[messages.RunID]bool{}
		for _, run := range runs {
			ids[run.RunID] = true
		}
		if err != nil || len(ids) != 2 || !ids[posted.RunID] || !ids[sent.RunID] {
			t.Errorf("with the labels %s: %v, %v", labels, runs, err)
		}
	}
}

// The OpenAPI document names operations as generated clients call them. What it says of the events is the published
// schema.
func TestDocument(t *testing.T) {
	w := newWorld(t)
	var document struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if got := w.call("GET", "/openapi.json", ""); json.Unmarshal([]byte(got.body), &document) != nil || document.OpenAPI != "3.1.0" {
		t.Fatal(got.body)
	}
	names := []string{}
	for _, methods := range document.Paths {
		for _, operation := range methods {
			names = append(names, operation.OperationID)
		}
	}
	slices.Sort(names)
	if want := []string{"answerRun", "attachRun", "cancelRun", "closeSession", "explainRun", "forgetRun", "getArtifact", "getBudget", "getEvents", "getJob",
		"getKey", "getProof", "getRun", "listArtifacts", "listJobs", "listRuns", "moveRun", "openSession", "openWebSocket", "releaseRun", "revokeMessage", "sayRun", "startRun", "startTool"}; !slices.Equal(names, want) {
		t.Errorf("the operations are %q, want %q", names, want)
	}
	var published struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	must(t, json.Unmarshal(messages.Schema(), &published))
	if len(published.Defs) < len(messages.Kinds()) || document.Components.Schemas["Event"] == nil {
		t.Errorf("%d definitions of %d kinds", len(published.Defs), len(messages.Kinds()))
	}
	for name, schema := range document.Components.Schemas {
		if loose := booleans(name, schema); loose != nil {
			t.Errorf("generators of clients refuse the schemas %q: describe them", loose)
		}
	}
	for name, want := range published.Defs {
		var a, b any
		got := strings.ReplaceAll(string(document.Components.Schemas["Event."+name]), "#/components/schemas/Event.", "#/$defs/")
		if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal(want, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("the schema of %s is %s, want %s", name, got, want)
		}
	}
}

// booleans returns the places of properties and elements whose schema is true or false.
func booleans(at string, schema json.RawMessage) (found []string) {
	var s struct {
		Properties map[string]json.RawMessage
		Items      json.RawMessage
	}
	if json.Unmarshal(schema, &s) != nil {
		return []string{at}
	}
	for name, property := range s.Properties {
		found = append(found, booleans(at+"."+name, property)...)
	}
	if s.Items != nil {
		found = append(found, booleans(at+"[]", s.Items)...)
	}
	return found
}

// "Streams are compressed when asked", and JSON and texts over 1 KiB; never a range.
func TestCompression(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":100,"file":true}`)
	w.until(id, messages.KindRunCompleted)
	run, tag := "/v1/runs/"+string(id), `"`+file.SHA256+`"`
	for name, c := range map[string]struct {
		method, path string
		header       []string
		coding, etag string
		status       int
	}{
		"JSON of the framework":  {"GET", "/openapi.json", nil, "gzip", "", 200},
		"a page of events":       {"GET", run + "/events", nil, "gzip", `W/"`, 200},
		"a file":                 {"GET", run + "/artifacts/told.txt", nil, "gzip", "W/" + tag, 200},
		"a file that is known":   {"GET", run + "/artifacts/told.txt", []string{"If-None-Match", "W/" + tag}, "", tag, 304},
		"a range":                {"GET", run + "/artifacts/told.txt", []string{"Range", "bytes=5-2000"}, "", tag, 206},
		"the header alone":       {"HEAD", run + "/artifacts/told.txt", nil, "", tag, 200},
		"a small answer":         {"GET", "/v1/jobs", nil, "", "", 200},
		"no answer":              {"DELETE", "/v1/session", nil, "", "", 204},
		"a failure":              {"GET", "/v1/runs/r_unknown", nil, "", "", 404},
		"server-sent events":     {"GET", run + "/events", []string{"Accept", "text/event-stream"}, "gzip", "", 200},
		"JSON lines":             {"GET", run + "/events", []string{"Accept", "application/x-ndjson"}, "gzip", "", 200},
		"gzip is refused":        {"GET", "/openapi.json", []string{"Accept-Encoding", "br, gzip;q=0"}, "", "", 200},
		"gzip is taken too":      {"GET", "/openapi.json", []string{"Accept-Encoding", "br, GZIP; q=0.5"}, "gzip", "", 200},
		"only identity is taken": {"GET", "/openapi.json", []string{"Accept-Encoding", "identity"}, "", "", 200},
	} {
		response := w.open(t.Context(), c.method, c.path, "", append([]string{"Accept-Encoding", "gzip"}, c.header...)...)
		h := response.Header
		if response.StatusCode != c.status || h.Get("Content-Encoding") != c.coding || !strings.HasPrefix(h.Get("ETag"), c.etag) ||
			!strings.Contains(strings.Join(h.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: %s %v; want %d %q %s", name, response.Status, h, c.status, c.coding, c.etag)
		}
		var body io.Reader = response.Body
		if c.coding != "" {
			opened, err := gzip.NewReader(body)
			if err != nil {
				t.Fatal(name, err)
			}
			body = opened
		}
		text, err := io.ReadAll(body)
		if err != nil || name == "a file" && string(text) != told || name == "a range" && string(text) != told[5:2001] {
			t.Errorf("%s: %v, %d bytes", name, err, len(text))
		}
		response.Body.Close()
	}
	if got := w.call("GET", run, "", "If-None-Match", w.call("GET", run, "").Header.Get("ETag")); got.StatusCode != http.StatusNotModified {
		t.Errorf("a State that is known: %s", got.Status)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	entrance, err := auth.New(auth.Config{MaxBody: 3 << 20})
	must(t, err)
	system := newSystem(t)
	server := httptest.NewServer(entrance.Wrap(newAPI(system)))
	t.Cleanup(server.Close)
	w := &world{t: t, url: server.URL, system: system, server: server}
	body := func(size int) string { return `{"job":"tell"` + strings.Repeat(" ", size) + `}` }
	if got := w.call("POST", "/v1/runs", body(2<<20)); got.StatusCode != http.StatusAccepted {
		t.Errorf("2 MiB: %s %s", got.Status, got.body)
	}
	for name, content := range map[string]io.Reader{"of known length": strings.NewReader(body(4 << 20)),
		"of unknown length": io.MultiReader(strings.NewReader(body(4 << 20)))} {
		response, err := http.Post(w.url+"/v1/runs", "application/json", content)
		must(t, err)
		text, _ := io.ReadAll(response.Body) // the server may close early
		response.Body.Close()
		if code, _ := (answer{response, string(text)}).problem(); response.StatusCode != 413 || code != "too_large" {
			t.Errorf("4 MiB %s: %s %s", name, response.Status, text)
		}
	}
}

func TestWebSocketLimits(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		kind    websocket.MessageType
		message string
		packed  websocket.CompressionMode
		want    websocket.StatusCode
	}{
		"a huge frame":             {websocket.MessageText, strings.Repeat("x", 2<<20), websocket.CompressionDisabled, websocket.StatusMessageTooBig},
		"a packed frame":           {websocket.MessageText, strings.Repeat("x", 2<<20), websocket.CompressionContextTakeover, websocket.StatusMessageTooBig},
		"a frame packed by itself": {websocket.MessageText, strings.Repeat("x", 2<<20), websocket.CompressionNoContextTakeover, websocket.StatusMessageTooBig},
		"a binary frame":           {websocket.MessageBinary, `{"op":"ack"}`, websocket.CompressionDisabled, websocket.StatusUnsupportedData},
	} {
		socket, response, err := websocket.Dial(t.Context(), w.url+"/v1/ws", &websocket.DialOptions{CompressionMode: c.packed})
		must(t, err)
		if packed := response.Header.Get("Sec-WebSocket-Extensions") != ""; packed != (c.packed != websocket.CompressionDisabled) {
			t.Errorf("%s: %v", name, response.Header)
		}
		_ = socket.Write(t.Context(), c.kind, []byte(c.message)) // the server may close before it has read all
		if _, _, err := socket.Read(t.Context()); websocket.CloseStatus(err) != c.want {
			t.Errorf("%s: %v, want %d", name, err, c.want)
		}
		_ = socket.CloseNow()
	}
	guarded, tokens, _ := guarded(t)
	for origin, want := range map[string]int{"https://evil.example": 403, "null": 403, guarded.url: 101} {
		socket, response, err := websocket.Dial(t.Context(), guarded.url+"/v1/ws", &websocket.DialOptions{
			HTTPHeader: http.Header{"Origin": {origin}, "Authorization": {"Bearer " + tokens["ann"]}}})
		if response == nil || response.StatusCode != want {
			t.Errorf("a page of %s: %v, %v", origin, response, err)
		}
		if err == nil {
			_ = socket.CloseNow()
		}
	}
}
